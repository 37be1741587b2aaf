"""A real Ethereum node for tests: anvil, three tokens and a payer who signs with a key of his own.

Fixtures: `anvil` (a node of its own for each test, mining only when told), `other_anvil` (another chain), `token` (a
contract that behaves like USDT), `usdc` (one that behaves like USDC), `lookalike` (a contract anyone can deploy under
the same name), `payer` (a funded wallet), `ethereum` (our adapter on that node) and `between` (a provider that refuses
things). Test modules cannot import this one: classes come out of fixtures.
"""

import json
import os
import secrets
import shutil
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
from chains.esplora_peer import *  # noqa: F403
from chains.solana_fixtures import other_solana, sol_payer, solana, solana_chain, solana_peer, spl_token  # noqa: F401
from chains.tron_fixtures import (  # noqa: F401 - fixtures
    other_tron_peer,
    trc20,
    tron,
    tron_clock,
    tron_payer,
    tron_peer,
    tron_shop,
)
from chains.utxo_peers import *  # noqa: F403
from eth_abi.abi import encode
from eth_account import Account
from eth_utils.crypto import keccak
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from payments.networks.ethereum import Ethereum
from payments.networks.ethereum_node import EthereumNode

HERE = Path(__file__).parent
CHAIN_ID = 31337
# Making a client costs more than a call. No connection is kept: nodes stop and come back.
CLIENT = httpx.Client(timeout=60, limits=httpx.Limits(max_keepalive_connections=0))
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
        answer = CLIENT.post(self.url, json=request).json()
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
        txid = self.submit(self.sign(None, data=self.code(name, types, arguments), gas=3_000_000))
        self.anvil.mine()
        return str(self.anvil.receipt(txid)["contractAddress"])

    def code(self, name: str, types: Sequence[str] = (), arguments: Sequence[Any] = ()) -> str:
        """Return what a transaction carries that puts a compiled contract on the chain."""
        compiled: str = json.loads((HERE / "contracts" / f"{name}.json").read_text())["bytecode"]
        return compiled + encode(types, arguments).hex()


@pytest.fixture
def start_anvil(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[..., Anvil]]:
    """Return a function that starts a node, also one with the same blocks as another; all are stopped at the end.

    Without the binary these tests are skipped, unless they were asked for with `-m chains`.
    """
    if not anvil_path().exists():
        asked_for = "chains" in request.config.getoption("markexpr")
        said = f"{anvil_path()} is missing. Set ANVIL, or install @foundry-rs/anvil-linux-amd64 there with npm."
        (pytest.fail if asked_for else pytest.skip)(said)
    started: list[Anvil] = []

    def start(*options: str, slots: int = 1, copy_of: Anvil | None = None) -> Anvil:
        folder = tmp_path / f"anvil{len(started)}"
        folder.mkdir()
        if copy_of:
            copy_of.stop()
            shutil.copy(copy_of.folder / "state.json", folder)
            copy_of.start()
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


class Between:
    """Stands between the adapter and nodes: lets some of them refuse methods, and others answer for them, as a provider
    with several nodes behind one address does. `asked` are the methods, `posts` the requests that came in."""

    def __init__(self, server: HTTPServer, node: Anvil) -> None:
        path = f"/{secrets.token_hex(8)}"  # what a node offers is remembered by its address
        self.url = server.url_for(path)
        self.node = node
        self.refused: dict[str, dict[str, Any]] = {}
        self.instead: dict[str, Anvil] = {}
        self.forbidden: set[str] = set()
        self.longest_range = 10_000  # blocks of one request for logs
        self.ranges: list[int] = []
        self.asked: list[str] = []
        self.posts = 0
        server.expect_request(path).respond_with_handler(self.handle)

    def refuse(self, *methods: str, code: int = -32601, message: str = "the method does not exist") -> None:
        """Answer these methods with an error."""
        self.refused.update({method: {"code": code, "message": message} for method in methods})

    def forbid(self, *methods: str) -> None:
        """Answer requests with these methods with HTTP status 403."""
        self.forbidden.update(methods)

    def let_answer(self, node: Anvil, *methods: str) -> None:
        """Let another node answer these methods."""
        self.instead.update(dict.fromkeys(methods, node))

    def handle(self, request: Request) -> Response:
        calls = json.loads(request.data)
        several = calls if isinstance(calls, list) else [calls]
        self.posts += 1
        self.asked += [call["method"] for call in several]
        if self.forbidden.intersection(call["method"] for call in several):
            return Response("forbidden", 403)
        answers = [self.answer(call) for call in several]
        return Response(json.dumps(answers if isinstance(calls, list) else answers[0]), content_type="application/json")

    def answer(self, call: dict[str, Any]) -> Any:
        if call["method"] in self.refused:
            return {"jsonrpc": "2.0", "id": call["id"], "error": self.refused[call["method"]]}
        if call["method"] == "eth_getLogs" and "fromBlock" in call["params"][0]:
            wanted = call["params"][0]
            self.ranges.append(int(wanted["toBlock"], 16) - int(wanted["fromBlock"], 16) + 1)
            if self.ranges[-1] > self.longest_range:
                error = {"code": -32005, "message": "query returned more than 10000 results"}
                return {"jsonrpc": "2.0", "id": call["id"], "error": error}
        node = self.instead.get(call["method"], self.node)
        answer = CLIENT.post(node.url, json=call).json()
        if call["method"] == "eth_getLogs" and "fromBlock" in call["params"][0] and "error" in answer:
            return {"jsonrpc": "2.0", "id": call["id"], "result": []}  # as many nodes say of blocks they do not know
        return answer


@pytest.fixture
def between(httpserver: HTTPServer, anvil: Anvil) -> Between:
    return Between(httpserver, anvil)


@pytest.fixture
def payer(anvil: Anvil) -> Payer:
    return Payer(anvil)


@pytest.fixture
def token(payer: Payer) -> str:
    """The contract that counts as USDT; the payer has a billion of it."""
    return payer.deploy("UsdtLike", ["uint256"], [10**15])


@pytest.fixture
def usdc(payer: Payer) -> str:
    """The contract that counts as USDC; the payer has a billion of it."""
    return payer.deploy("TestToken", ["string", "string", "uint8", "uint256"], ["USD Coin", "USDC", 6, 10**15])


@pytest.fixture
def lookalike(payer: Payer) -> str:
    """A token that calls itself USDT as well and is not pinned."""
    return payer.deploy("TestToken", ["string", "string", "uint8", "uint256"], ["Tether USD", "USDT", 6, 10**15])


@pytest.fixture
def ethereum(anvil: Anvil, token: str, usdc: str) -> EthereumNode:
    """Our adapter, watching `token` and `usdc` on `anvil`."""
    return EthereumNode(Ethereum(chain_id=CHAIN_ID, usdt_contract=token, usdc_contract=usdc), anvil.url, XPUB)


class EthereumPeer:
    """Ethereum with somebody who pays on it. `settings` switch the network on; `final_after`: blocks until a payment of
    $100 is final, the one that holds it included."""

    network = "ethereum"
    rates = {"ETH": "3000", "USDT": "1", "USDC": "1"}
    final_after = 12

    def __init__(self, payer: Payer, token: str, usdc: str) -> None:
        self.payer = payer
        self.tokens = {"usdt-ethereum": token, "usdc-ethereum": usdc}
        self.settings = {
            "ETHEREUM_RPC_URL": payer.anvil.url,
            "ETHEREUM_XPUB": XPUB,
            "ETHEREUM_CHAIN_ID": CHAIN_ID,
            "USDT_ETHEREUM_CONTRACT": token,
            "USDC_ETHEREUM_CONTRACT": usdc,
        }

    def pay(self, address: str, amount: int, method: str) -> str:
        """Sign and send a payment; return its transaction id."""
        if method == "eth":
            return self.payer.pay(address, amount)
        return self.payer.pay_token(self.tokens[method], address, amount)

    def mine(self, n: int = 1) -> None:
        """Make blocks, the first with everything that was sent."""
        self.payer.anvil.mine(n)


@pytest.fixture
def ethereum_peer(start_anvil: Callable[..., Anvil]) -> EthereumPeer:
    """A node whose own finality comes as late as mainnet's, so that confirmations are what counts."""
    payer = Payer(start_anvil(slots=32))
    usdc = payer.deploy("TestToken", ["string", "string", "uint8", "uint256"], ["USD Coin", "USDC", 6, 10**15])
    return EthereumPeer(payer, payer.deploy("UsdtLike", ["uint256"], [10**15]), usdc)
