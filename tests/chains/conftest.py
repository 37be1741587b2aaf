"""A real Ethereum node for tests: anvil, two tokens and a payer who signs with a key of his own.

Fixtures: `anvil` (a node of its own for each test, mining only when told), `other_anvil` (another chain), `token` (a
contract that behaves like USDT), `lookalike` (a contract anyone can deploy under the same name), `payer` (a funded
wallet) and `ethereum` (our adapter on that node). Test modules cannot import this one: classes come out of fixtures.
"""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from chains.solana_fixtures import other_solana, sol_payer, solana, solana_chain, solana_peer, spl_token  # noqa: F401
from eth_abi.abi import encode
from eth_account import Account
from eth_utils.crypto import keccak

from payments.networks.ethereum import Ethereum
from payments.networks.ethereum_node import EthereumNode

HERE = Path(__file__).parent
CHAIN_ID = 31337
# The account m/44'/60'/0' of the phrase "abandon … about".
XPUB = json.loads((HERE.parent / "data" / "derivation_vectors.json").read_text())["ETH BIP44 abandon"]["xpub"]


def anvil_path() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    tools = Path(os.environ.get("GRIDLOT_TOOLS") or Path(cache) / "gridlot")
    return Path(os.environ.get("ANVIL") or tools / "npm/node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil")


class Anvil:
    """One node with its state in a file, so that it can stop and come back. Blocks are made by `mine` alone."""

    def __init__(self, folder: Path, *options: str, slots: int = 1) -> None:
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.folder = folder
        self.options = options
        self.slots = slots  # of an epoch: finality is two epochs behind the head
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start the node and wait until it answers."""
        command = [str(anvil_path()), "--host", "127.0.0.1", "--port", str(self.port), "--chain-id", str(CHAIN_ID)]
        command += [
            "--slots-in-an-epoch",
            str(self.slots),
            "--no-mining",
            "--order",
            "fifo",
            "--state",
            str(self.folder / "state.json"),
        ]
        with (self.folder / "anvil.log").open("ab") as log:
            self.process = subprocess.Popen([*command, *self.options], stdout=log, stderr=log)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self.process.poll() is None:
            with suppress(httpx.TransportError):
                self.rpc("eth_blockNumber")
                return
            time.sleep(0.02)
        raise RuntimeError((self.folder / "anvil.log").read_text()[-2000:])

    def stop(self) -> None:
        """Stop the node; it writes its state before it ends."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(20)
            self.process = None

    def rpc(self, method: str, *params: Any) -> Any:
        """Return the result of a call; AssertionError if the node says no."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = httpx.post(self.url, json=request, timeout=20).json()
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def height(self) -> int:
        return int(self.rpc("eth_blockNumber"), 16)

    def mine(self, n: int = 1, at: datetime | None = None) -> None:
        """Make blocks, the first with everything in the pool, at a time that may be given."""
        if at is not None:
            self.rpc("evm_setNextBlockTimestamp", int(at.timestamp()))
        for _ in range(n):
            self.rpc("evm_mine")

    def reorg(self, depth: int, transactions: Sequence[tuple[str, int]] = ()) -> None:
        """Replace the last blocks; signed transactions may be put into the new ones: (raw, 0 = the first of them)."""
        self.rpc("anvil_reorg", depth, [list(one) for one in transactions])

    def give(self, address: str, wei: int = 10**24) -> None:
        """Let an address have this much ETH."""
        self.rpc("anvil_setBalance", address, hex(wei))

    def receipt(self, txid: str) -> Any:
        return self.rpc("eth_getTransactionReceipt", txid)


class Payer:
    """A wallet that signs with a key of its own. What it sends waits in the pool until `anvil.mine()`."""

    def __init__(self, anvil: Anvil) -> None:
        self.anvil = anvil
        self.account = Account.create()
        self.address: str = self.account.address
        self.nonce = 0
        anvil.give(self.address)

    def sign(self, to: str | None, value: int = 0, data: str = "0x", gas: int = 300_000, tip: int = 10**9) -> str:
        """Return a signed transaction, for `submit` or for a reorg."""
        transaction = {
            "chainId": CHAIN_ID,
            "nonce": self.nonce,
            "value": value,
            "data": data,
            "gas": gas,
            "maxFeePerGas": 20 * tip,
            "maxPriorityFeePerGas": tip,
        }
        if to is not None:
            transaction["to"] = bytes.fromhex(to[2:])
        self.nonce += 1
        signed: bytes = self.account.sign_transaction(transaction).raw_transaction
        return "0x" + bytes(signed).hex()

    def sign_call(self, contract: str, signature: str, *arguments: Any, value: int = 0) -> str:
        """Return a signed call of a contract: `sign_call(token, "transfer(address,uint256)", address, 5)`."""
        types = [one for one in signature[signature.index("(") + 1 : -1].split(",") if one]
        data = keccak(text=signature)[:4] + encode(types, arguments)
        return self.sign(contract, value, "0x" + data.hex())

    def submit(self, raw: str) -> str:
        """Send a signed transaction and return its id."""
        return str(self.anvil.rpc("eth_sendRawTransaction", raw))

    def pay(self, address: str, wei: int) -> str:
        """Send ETH."""
        return self.submit(self.sign(address, wei))

    def pay_token(self, token: str, address: str, amount: int) -> str:
        """Send a token."""
        return self.call(token, "transfer(address,uint256)", address, amount)

    def call(self, contract: str, signature: str, *arguments: Any, value: int = 0) -> str:
        """Call a contract."""
        return self.submit(self.sign_call(contract, signature, *arguments, value=value))

    def deploy(self, name: str, types: Sequence[str] = (), arguments: Sequence[Any] = ()) -> str:
        """Put a compiled contract on the chain, in a block of its own, and return its address."""
        code = json.loads((HERE / "contracts" / f"{name}.json").read_text())["bytecode"]
        txid = self.submit(self.sign(None, data=code + encode(types, arguments).hex(), gas=3_000_000))
        self.anvil.mine()
        return str(self.anvil.receipt(txid)["contractAddress"])


@pytest.fixture
def start_anvil(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[..., Anvil]]:
    """Return a function that starts a node; all are stopped at the end.

    Without the binary these tests are skipped, unless they were asked for with `-m chains`.
    """
    if not anvil_path().exists():
        asked_for = "chains" in request.config.getoption("markexpr")
        said = f"{anvil_path()} is missing. Set ANVIL, or install @foundry-rs/anvil-linux-amd64 there with npm."
        (pytest.fail if asked_for else pytest.skip)(said)
    started: list[Anvil] = []

    def start(*options: str, slots: int = 1) -> Anvil:
        folder = tmp_path / f"anvil{len(started)}"
        folder.mkdir()
        started.append(Anvil(folder, *options, slots=slots))
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def anvil(start_anvil: Callable[..., Anvil]) -> Anvil:
    return start_anvil()


@pytest.fixture
def other_anvil(start_anvil: Callable[..., Anvil]) -> Anvil:
    """The same chain id, another genesis."""
    return start_anvil("--timestamp", "1700000000")


@pytest.fixture
def payer(anvil: Anvil) -> Payer:
    return Payer(anvil)


@pytest.fixture
def token(payer: Payer) -> str:
    """The contract that counts as USDT; the payer has a billion of it."""
    return payer.deploy("UsdtLike", ["uint256"], [10**15])


@pytest.fixture
def lookalike(payer: Payer) -> str:
    """A token that calls itself USDT as well and is not pinned."""
    return payer.deploy("TestToken", ["string", "string", "uint8", "uint256"], ["Tether USD", "USDT", 6, 10**15])


@pytest.fixture
def ethereum(anvil: Anvil, token: str) -> EthereumNode:
    """Our adapter, watching `token` on `anvil`."""
    return EthereumNode(Ethereum(chain_id=CHAIN_ID, usdt_contract=token), anvil.url, XPUB)
