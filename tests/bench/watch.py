"""Time one busy Ethereum block from raw answers to matched transfers, against the least code that does it.

Run it with `./run bench watch`. The ratio counts, not the milliseconds: both sides run in turns in one process. The
bound is 2 × the floor, at 1,000 and at 100,000 watched addresses alike.
"""

import json
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from payments.networks.base import Block, Recent
from payments.networks.chain_walk import Start
from payments.networks.ethereum import Ethereum
from payments.networks.ethereum_node import TRANSFER, EthereumNode

USDT = "0xdac17f958d2ee523a2206206994597c13d831ec7"
HASH = "0x" + "ab" * 32
VECTORS = Path(__file__).parents[1] / "data" / "derivation_vectors.json"
LOGS, TRANSACTIONS, ROUNDS = 3000, 300, 25
BOUND = 2.0


def address() -> str:
    return "0x" + secrets.token_hex(20)


def log(place: int) -> dict[str, Any]:
    return {
        "address": USDT,
        "topics": [TRANSFER, "0x" + address()[2:].rjust(64, "0"), "0x" + address()[2:].rjust(64, "0")],
        "data": f"0x{place + 1:064x}",
        "blockHash": HASH,
        "blockNumber": "0x13",
        "transactionHash": "0x" + secrets.token_hex(32),
        "transactionIndex": hex(place),
        "logIndex": hex(place),
        "removed": False,
    }


def transaction() -> dict[str, Any]:
    return {
        "hash": "0x" + secrets.token_hex(32),
        "from": address(),
        "to": address(),
        "value": "0x1",
        "input": "0x" + secrets.token_hex(200),
        "blockHash": HASH,
        "blockNumber": "0x13",
    }


def answers() -> tuple[bytes, bytes]:
    """Return the raw answers to a block and to its token logs."""
    transactions = [transaction() for _ in range(TRANSACTIONS)]
    block = {
        "number": "0x13",
        "hash": HASH,
        "parentHash": HASH,
        "timestamp": "0x6b0ce1b7",
        "transactions": transactions,
    }
    return (
        orjson.dumps({"jsonrpc": "2.0", "id": 0, "result": block}),
        orjson.dumps({"jsonrpc": "2.0", "id": 1, "result": [log(place) for place in range(LOGS)]}),
    )


def best(works: list[Callable[[], object]]) -> list[float]:
    """Return the shortest CPU time of each work in seconds; they take turns, so noise meets all alike."""
    times = [[float("inf")] for _ in works]
    for _ in range(ROUNDS):
        for work, seen in zip(works, times, strict=True):
            start = time.process_time()
            work()
            seen.append(time.process_time() - start)
    return [min(seen) for seen in times]


def measure(watched: set[str], raw_block: bytes, raw_logs: bytes) -> dict[str, float]:
    xpub = json.loads(VECTORS.read_text())["ETH BIP44 abandon"]["xpub"]
    node = EthereumNode(Ethereum(chain_id=1, usdt_contract=USDT), "http://127.0.0.1:1", xpub)
    node.rpc._endpoint.fetch = lambda data, headers: (200, raw_block if b"getBlock" in data else raw_logs)  # type: ignore
    head = Block(19, HASH, datetime.now(UTC))

    def match(addresses: Iterable[str]) -> set[str]:
        return watched & set(addresses)

    def ours() -> object:
        return node._read_blocks(Start(Block(18, HASH, head.time), Recent(), None), head, match)

    def floor() -> object:
        found = {t["to"] for t in orjson.loads(raw_block)["result"]["transactions"] if t["value"] != "0x0"}
        for entry in orjson.loads(raw_logs)["result"]:
            found.add("0x" + entry["topics"][2][26:])
            int(entry["data"], 16)
        return watched & found

    mine, least = best([ours, floor])
    return {"ours_ms": round(mine * 1e3, 2), "floor_ms": round(least * 1e3, 2), "ratio": round(mine / least, 2)}


def main() -> int:
    raw = answers()
    rows = {n: measure({address() for _ in range(n)}, *raw) for n in (1_000, 100_000)}
    print(f"{'addresses':>10} {'ours ms':>9} {'floor ms':>9} {'ratio':>6}   ({os.cpu_count()} cores, bound {BOUND})")
    for n, row in rows.items():
        print(f"{n:>10,} {row['ours_ms']:>9} {row['floor_ms']:>9} {row['ratio']:>6}")
    print(json.dumps({"bench": "watch", "bound": BOUND, "rows": rows}))
    return int(any(row["ratio"] > BOUND for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
