"""Real Bitcoin and Litecoin nodes for tests, each test with chains, wallets and clocks of its own.

Fixtures: `start_utxo` (a function that starts one more node), `bitcoind`, `litecoind` (regtest nodes with money in a
wallet that signs for real). Blocks are made by `mine` alone.
"""

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any

import base58
import httpx
import pytest

from payments.networks.utxo import Utxo, bitcoin, litecoin
from payments.networks.utxo_node import UtxoNode

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "derivation_vectors.json").read_text())
VPUB = VECTORS["BTC testnet BIP84 abandon"]["xpub"]
COIN = 10**8
PROGRAMS = {"bitcoin": ("BITCOIND", "bitcoind/bitcoind"), "litecoin": ("LITECOIND", "litecoind/litecoind")}
# Litecoin's private part would stop a test chain at block 431 unless somebody uses it: it is switched off by default.
WITHOUT_MWEB = "-vbparams=mweb:9223372036854775000:9223372036854775807"
# Litecoin's node refuses replacements unless told otherwise, and waits so long for idle connections when it stops.
OPTIONS = {"bitcoin": (), "litecoin": ("-mempoolreplacement=1", "-rpcservertimeout=1")}
FEE = 20_000  # base units for each transaction


def tools_folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(os.environ.get("GRIDLOT_TOOLS") or Path(cache) / "gridlot")


def program(network: str) -> Path:
    variable, place = PROGRAMS[network]
    return Path(os.environ.get(variable) or tools_folder() / place)


class Daemon:
    """One node in a folder of its own, so that it can stop and come back."""

    def __init__(self, network: str, folder: Path, *options: str, chain: str = "regtest") -> None:
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.network, self.folder, self.chain = network, folder, chain
        self.url = f"http://test:test@127.0.0.1:{self.port}"
        self.options = [*OPTIONS[network], *options]
        self.process: subprocess.Popen[bytes] | None = None
        self.client = httpx.Client(timeout=60)
        self.start()

    def start(self) -> None:
        """Start the node and wait until it answers."""
        command = [str(program(self.network)), f"-datadir={self.folder}", "-server", "-printtoconsole=0"]
        command += [
            f"-chain={self.chain}",
            "-listen=0",
            "-listenonion=0",
            "-discover=0",
            "-dnsseed=0",
            "-connect=0",
            "-dbcache=4",
        ]
        command += [f"-rpcport={self.port}", "-rpcbind=127.0.0.1", "-rpcallowip=127.0.0.1"]
        command += ["-rpcuser=test", "-rpcpassword=test", "-keypool=1", "-walletbroadcast=0", *self.options]
        with (self.folder / "out.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and self.process.poll() is None:
            with suppress(httpx.TransportError, AssertionError):
                self.rpc("getblockcount")
                return
            time.sleep(0.02)
        raise RuntimeError((self.folder / "out.log").read_text()[-2000:])

    def stop(self) -> None:
        """Stop the node and wait for its end."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(30)
            self.process = None

    def rpc(self, method: str, *params: Any, wallet: str = "") -> Any:
        """Return the result of a call; AssertionError if the node says no."""
        request = {"jsonrpc": "1.0", "id": 1, "method": method, "params": params}
        url = self.url + (f"/wallet/{wallet}" if wallet else "")
        answer = self.client.post(url, json=request).json()
        assert answer["error"] is None, (method, answer["error"])
        return answer["result"]


class UtxoPeer(Daemon):
    """A regtest node with a miner and a payer in one wallet. The wallet signs with keys of its own."""

    FUNDS = 110  # blocks at the beginning: the first ten rewards can be spent

    def fund(self) -> None:
        """Make a wallet and the first blocks, in the past, as on a real chain: blocks made in one moment would push the
        chain's clock ahead of ours."""
        self.rpc("setmocktime", int(time.time()) - 6 * 3600)
        self.rpc("createwallet", "payer")
        self.mine(self.FUNDS)
        self.rpc("setmocktime", 0)

    def start(self) -> None:
        super().start()
        if (self.folder / self.chain / "wallets" / "payer").exists():
            self.rpc("loadwallet", "payer")

    @property
    def family(self) -> Utxo:
        return {"bitcoin": bitcoin, "litecoin": litecoin}[self.network](self.chain)

    def adapter(self, key: str = VPUB, **options: Any) -> UtxoNode:
        """Return our adapter on this node."""
        return UtxoNode(self.family, self.url, key, **options)

    def wallet(self, method: str, *params: Any) -> Any:
        return self.rpc(method, *params, wallet="payer")

    def own_address(self) -> str:
        return str(self.wallet("getnewaddress", "", "bech32"))

    def height(self) -> int:
        return int(self.rpc("getblockcount"))

    def mine(self, n: int = 1) -> list[str]:
        """Make blocks, the first with everything in the pool; return their hashes."""
        return list(self.rpc("generatetoaddress", n, self.own_address()))

    def mine_only(self, *transactions: str) -> str:
        """Make a block with these raw transactions and nothing of the pool; return its hash."""
        return str(self.rpc("generateblock", self.own_address(), list(transactions))["hash"])

    def pay(self, address: str, amount: int, method: str = "") -> str:
        """Sign and send a payment of so many base units, as the first output; return its id."""
        return self.submit(self.sign({address: amount}))

    def submit(self, raw: str) -> str:
        """Send a signed transaction; any fee is taken."""
        return str(self.rpc("sendrawtransaction", raw, 0))

    def sign(self, payments: dict[str, int], spends: Sequence[dict[str, Any]] = (), fee: int = FEE) -> str:
        """Return a signed transaction that pays these base units from these outputs, or from any of the wallet. What is
        left goes back to the wallet in the last output."""
        coins = list(spends) or [self.coin(sum(payments.values()) + fee)]
        change = sum(round(coin["amount"] * COIN) for coin in coins) - sum(payments.values()) - fee
        inputs = [{"txid": coin["txid"], "vout": coin["vout"], "sequence": 0xFFFFFFFD} for coin in coins]
        outputs = [{address: f"{units / COIN:.8f}"} for address, units in payments.items()]
        raw = self.rpc("createrawtransaction", inputs, [*outputs, {self.own_address(): f"{change / COIN:.8f}"}])
        return str(self.wallet("signrawtransactionwithwallet", raw)["hex"])

    def coin(self, at_least: int) -> dict[str, Any]:
        """Return an unspent output of the wallet, confirmed, that holds so many base units."""
        pool = set(self.rpc("getrawmempool"))
        spent = {(i["txid"], i["vout"]) for txid in pool for i in self.rpc("getrawtransaction", txid, True)["vin"]}
        for coin in self.wallet("listunspent", 1):
            if round(coin["amount"] * COIN) >= at_least and (coin["txid"], coin["vout"]) not in spent:
                return dict(coin)
        raise AssertionError("the payer has no money left")

    def undo(self, depth: int) -> str:
        """Throw the last blocks away; what they held goes back to the pool. Return the hash of the oldest."""
        oldest = str(self.rpc("getblockhash", self.height() - depth + 1))
        self.rpc("invalidateblock", oldest)
        return oldest

    def empty_pool(self) -> None:
        """Let the node forget its pool, as nodes do after two weeks, or when it is full."""
        self.stop()
        (self.folder / self.chain / "mempool.dat").unlink(missing_ok=True)
        self.start()


def with_version(key: str, version: bytes) -> str:
    """Return an extended public key under other version bytes: the same key, said to be of another kind."""
    return base58.b58encode_check(version + base58.b58decode_check(key)[4:]).decode()


@pytest.fixture(scope="session")
def funded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that gives a folder with the first blocks of a network, made once and copied for each test."""

    @cache
    def make(network: str) -> Path:
        folder = tmp_path_factory.mktemp(network)
        peer = UtxoPeer(network, folder)
        peer.fund()
        peer.stop()
        return folder

    return make


@pytest.fixture
def start_utxo(
    tmp_path: Path, request: pytest.FixtureRequest, funded: Callable[[str], Path]
) -> Iterator[Callable[..., Any]]:
    """Return a function that starts a node; all are stopped at the end.

    Without the binary these tests are skipped, unless they were asked for with `-m chains`.
    """
    started: list[Daemon] = []

    def start(network: str, *options: str, chain: str = "regtest") -> Daemon:
        if not program(network).exists():
            # The suite names what is missing by itself, once.
            asked_for = "chains" in request.config.getoption("markexpr") and "GRIDLOT_COUNTS" not in os.environ
            said = f"{program(network)} is missing: ./run tools installs it, {PROGRAMS[network][0]} names another."
            (pytest.fail if asked_for else pytest.skip)(said)
        folder = tmp_path / f"{network}{len(started)}"
        if chain == "regtest":
            shutil.copytree(funded(network), folder)
            started.append(UtxoPeer(network, folder, *options))
        else:
            folder.mkdir()
            started.append(Daemon(network, folder, *options, chain=chain))
        return started[-1]

    yield start
    for one in started:
        one.stop()
        shutil.rmtree(one.folder, ignore_errors=True)


@pytest.fixture
def bitcoind(start_utxo: Callable[..., Any]) -> Any:
    return start_utxo("bitcoin")


@pytest.fixture
def litecoind(start_utxo: Callable[..., Any]) -> Any:
    return start_utxo("litecoin", WITHOUT_MWEB)


__all__ = ["bitcoind", "funded", "litecoind", "start_utxo"]
