"""An Esplora server for tests: the paths and shapes of the real one, answered from a node with an index.

The node does all the work, so reorgs, replacements and the pool are real; only the HTTP front is ours.
"""

import json
import re
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from payments.networks.utxo_node import UtxoNode

PAGE = 25
NOWHERE = {"txid": "00" * 32, "vout": 0xFFFFFFFF}  # what a coinbase spends


class EsploraPeer:
    """A front on `peer`, which must have an index of transactions. `url` is the base of the API."""

    def __init__(self, peer: Any) -> None:
        self.peer = peer
        self.paths: list[tuple[re.Pattern[str], Callable[..., Any]]] = [
            (re.compile(pattern), answer)
            for pattern, answer in (
                (r"/blocks/tip/height", self.tip_height),
                (r"/blocks/tip/hash", self.tip_hash),
                (r"/block-height/(\d+)", self.block_hash),
                (r"/block/(\w{64})", self.block),
                (r"/block/(\w{64})/txs/(\d+)", self.block_transactions),
                (r"/tx/(\w{64})", self.transaction),
                (r"/tx/(\w{64})/outspend/(\d+)", self.outspend),
                (r"/mempool/txids", self.pool),
                (r"/address/(\w+)", self.address),
                (r"/fee-estimates", self.fee_estimates),
            )
        ]
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    def adapter(self, key: str, **options: Any) -> UtxoNode:
        """Return our adapter on this server."""
        return UtxoNode(self.peer.family, f"esplora+{self.url}", key, **options)

    def start(self) -> None:
        """Listen, on the same port as before."""
        handler = type("Handler", (Handler,), {"answer": staticmethod(self.answer)})
        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path: str) -> tuple[int, str]:
        """Return status and body; 404 with a sentence for what is not known."""
        for pattern, find in self.paths:
            if found := pattern.fullmatch(path.removeprefix("/api")):
                try:
                    said = find(*found.groups())
                except AssertionError:  # what the node says no to
                    return 404, "not found"
                return 200, said if isinstance(said, str) else json.dumps(said)
        return 404, "no such path"

    # --- blocks ---------------------------------------------------------------------------------------------------
    def tip_height(self) -> str:
        return str(self.peer.rpc("getblockcount"))

    def tip_hash(self) -> str:
        return str(self.peer.rpc("getbestblockhash"))

    def block_hash(self, height: str) -> str:
        return str(self.peer.rpc("getblockhash", int(height)))

    def block(self, block_hash: str) -> Any:
        raw = self.peer.rpc("getblock", block_hash, 1)
        same = ("height", "version", "size", "weight", "nonce", "mediantime", "difficulty")
        return {
            "id": raw["hash"],
            "timestamp": raw["time"],
            "tx_count": raw["nTx"],
            "merkle_root": raw["merkleroot"],
            "previousblockhash": raw.get("previousblockhash"),
            "bits": int(raw["bits"], 16),
            **{name: raw[name] for name in same},
        }

    def block_transactions(self, block_hash: str, start: str) -> Any:
        raw = self.peer.rpc("getblock", block_hash, 2)
        first = int(start)
        assert first % PAGE == 0 and first < len(raw["tx"])
        status = self.status(raw)
        return [shaped(tx, status) for tx in raw["tx"][first : first + PAGE]]

    # --- transactions ---------------------------------------------------------------------------------------------
    def transaction(self, txid: str) -> Any:
        raw = self.peer.rpc("getrawtransaction", txid, True)
        if "blockhash" not in raw:
            entry = self.peer.rpc("getmempoolentry", txid)
            return shaped(raw, {"confirmed": False}, round(entry["fees"]["base"] * 10**8))
        assert raw.get("confirmations", 0) > 0  # the node's index also knows blocks that left the chain
        return shaped(raw, self.status(self.peer.rpc("getblock", raw["blockhash"], 1)))

    def outspend(self, txid: str, n: str) -> Any:
        (found,) = self.peer.rpc("gettxspendingprevout", [{"txid": txid, "vout": int(n)}])
        if "spendingtxid" in found:
            return {"spent": True, "txid": found["spendingtxid"], "vin": 0, "status": {"confirmed": False}}
        for block in self.newest(30):
            for tx in block["tx"]:
                if any((one.get("txid"), one.get("vout")) == (txid, int(n)) for one in tx["vin"]):
                    return {"spent": True, "txid": tx["txid"], "vin": 0, "status": self.status(block)}
        return {"spent": False}

    def pool(self) -> Any:
        return self.peer.rpc("getrawmempool")

    def address(self, address: str) -> Any:
        count = sum(
            any(out["scriptPubKey"].get("address") == address for out in tx["vout"])
            for block in self.newest(30)
            for tx in block["tx"]
        )
        stats = {"funded_txo_count": count, "funded_txo_sum": 0, "spent_txo_count": 0, "spent_txo_sum": 0}
        return {
            "address": address,
            "chain_stats": {**stats, "tx_count": count},
            "mempool_stats": {**dict.fromkeys(stats, 0), "tx_count": 0},
        }

    def fee_estimates(self) -> Any:
        return {"1": 87.882, "2": 87.882, "3": 87.882, "6": 68.285, "144": 1.027}

    # --- what they share ------------------------------------------------------------------------------------------
    def newest(self, blocks: int) -> Iterator[Any]:
        height = int(self.tip_height())
        for at in range(height, max(height - blocks, -1), -1):
            yield self.peer.rpc("getblock", self.block_hash(str(at)), 2)

    def status(self, block: Any) -> Any:
        return {
            "confirmed": True,
            "block_height": block["height"],
            "block_hash": block["hash"],
            "block_time": block["time"],
        }


def shaped(raw: Any, status: Any, fee: int = 0) -> Any:
    """Return a node's transaction in Esplora's shape."""
    return {
        "txid": raw["txid"],
        "version": raw["version"],
        "locktime": raw["locktime"],
        "vin": [
            {
                **({"txid": one["txid"], "vout": one["vout"]} if "txid" in one else NOWHERE),
                "prevout": None,
                "scriptsig": "",
                "scriptsig_asm": "",
                "is_coinbase": "coinbase" in one,
                "sequence": one["sequence"],
            }
            for one in raw["vin"]
        ],
        "vout": [
            {
                "scriptpubkey": out["scriptPubKey"]["hex"],
                "scriptpubkey_asm": out["scriptPubKey"]["asm"],
                "scriptpubkey_type": out["scriptPubKey"]["type"],
                "value": round(out["value"] * 10**8),
            }
            for out in raw["vout"]
        ],
        "size": raw["size"],
        "weight": raw["weight"],
        "fee": fee,
        "status": status,
    }


class Handler(BaseHTTPRequestHandler):
    answer: Callable[[str], tuple[int, str]]

    def do_GET(self) -> None:
        status, body = type(self).answer(self.path)
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def start_esplora() -> Iterator[Callable[[Any], EsploraPeer]]:
    """Return a function that puts an Esplora server before a node."""
    started: list[EsploraPeer] = []

    def start(peer: Any) -> EsploraPeer:
        started.append(EsploraPeer(peer))
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def esplora(start_utxo: Callable[..., Any], start_esplora: Callable[[Any], EsploraPeer]) -> EsploraPeer:
    """An Esplora server on a Bitcoin node of its own."""
    return start_esplora(start_utxo("bitcoin", "-txindex=1"))


__all__ = ["esplora", "start_esplora"]
