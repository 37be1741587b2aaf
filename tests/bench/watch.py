"""Time one busy Ethereum block from raw answers to matched transfers, against the least code that does it, and against
web3's decoding of the same events.

Run it with `./run bench watch`. The ratios count, not the milliseconds: the sides run in turns in one process. Bounds
are 2 × the floor, at 1,000 and at 100,000 watched addresses alike, and 50 × faster than web3 per token payment. There
are at least as many transactions, logs and calls as in a full block of the main network; a third of the logs are of
contracts that are not pinned. What the node itself needs to answer is not part of it.
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
from web3 import Web3
from web3._utils.method_formatters import log_entry_formatter
from web3.datastructures import AttributeDict

from payments.networks.base import Block, Recent
from payments.networks.chain_walk import Start
from payments.networks.ethereum import Ethereum
from payments.networks.ethereum_answers import TRANSFER, payments_in
from payments.networks.ethereum_node import EthereumNode
from payments.networks.ethereum_purses import Purses

USDT = "0xdac17f958d2ee523a2206206994597c13d831ec7"
HASH = "0x" + "ab" * 32
VECTORS = Path(__file__).parents[1] / "data" / "derivation_vectors.json"
LOGS, TRANSACTIONS, CALLS, ROUNDS = 3000, 300, 10, 25
TIME = 1_795_000_000
BOUND, FASTER = 2.0, 50


def address() -> str:
    return "0x" + secrets.token_hex(20)


def log(place: int) -> dict[str, Any]:
    return {
        "address": USDT if place % 3 else address(),
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


def trace(txid: str, path: list[int]) -> dict[str, Any]:
    """Return one call; every tenth moves ETH."""
    value = "0x1" if path == [0] else "0x0"
    action = {"callType": "call", "from": address(), "to": address(), "value": value, "input": "0x" + "ab" * 100}
    place = {"traceAddress": path, "transactionHash": txid, "blockHash": HASH, "blockNumber": 19}
    return {"type": "call", "action": action, "result": {"gasUsed": "0x1", "output": "0x" + "ab" * 32}, **place}


def answers() -> dict[bytes, bytes]:
    """Return the raw answers to a block, to its logs and to its traces, by a part of the method's name."""
    transactions = [transaction() for _ in range(TRANSACTIONS)]
    block = {
        "number": "0x13",
        "hash": HASH,
        "parentHash": HASH,
        "timestamp": hex(TIME),
        "transactions": transactions,
    }
    traces = [trace(tx["hash"], path) for tx in transactions for path in ([], *([n] for n in range(CALLS - 1)))]
    results = {b"getBlock": block, b"getLogs": [log(place) for place in range(LOGS)], b"trace_block": traces}
    return {name: orjson.dumps({"jsonrpc": "2.0", "id": 0, "result": result}) for name, result in results.items()}


def best(works: list[Callable[[], object]], rounds: int = ROUNDS) -> list[float]:
    """Return the shortest CPU time of each work in seconds; they take turns, so noise meets all alike."""
    times = [[float("inf")] for _ in works]
    for _ in range(rounds):
        for work, seen in zip(works, times, strict=True):
            start = time.process_time()
            work()
            seen.append(time.process_time() - start)
    return [min(seen) for seen in times]


def measure(watched: set[str], raw: dict[bytes, bytes]) -> dict[str, float]:
    xpub = json.loads(VECTORS.read_text())["ETH BIP44 abandon"]["xpub"]
    node = EthereumNode(Ethereum(chain_id=1, usdt_contract=USDT), "http://127.0.0.1:1", xpub)
    answer = lambda method, path, data, headers: next(raw[name] for name in raw if name in data)  # noqa: E731
    node.rpc.http.read = answer  # type: ignore[assignment, method-assign]
    head = Block(19, HASH, datetime.fromtimestamp(TIME, UTC))
    before = Block(18, HASH, head.time)

    def match(addresses: Iterable[str]) -> set[str]:
        return watched & set(addresses)

    def ours() -> object:
        return node._read_blocks(Start(before, Recent(), None), head, match, Purses([], before))

    def floor() -> object:
        block, logs, traces = (orjson.loads(answer)["result"] for answer in raw.values())
        found = {t["to"] for t in block["transactions"] if t["value"] != "0x0"}
        for entry in logs:
            found.add("0x" + entry["topics"][2][26:])
            int(entry["data"], 16)
        for one in traces:
            if one["action"]["value"] != "0x0" and one["traceAddress"]:
                found.add(one["action"]["to"])
        return watched & found

    mine, least = best([ours, floor])
    return {"ours_ms": round(mine * 1e3, 2), "floor_ms": round(least * 1e3, 2), "ratio": round(mine / least, 2)}


def against_web3(raw_logs: bytes) -> dict[str, float]:
    """Decode the logs by the events of web3, as its users do, and by our own reading."""
    event = {
        "type": "event",
        "name": "Transfer",
        "anonymous": False,
        "inputs": [
            {"name": "from", "type": "address", "indexed": True},
            {"name": "to", "type": "address", "indexed": True},
            {"name": "value", "type": "uint256", "indexed": False},
        ],
    }
    transfer = Web3().eth.contract(abi=[event]).events.Transfer()
    block = Block(19, HASH, datetime.fromtimestamp(TIME, UTC))

    def theirs() -> object:
        logs = map(log_entry_formatter, orjson.loads(raw_logs)["result"])
        return [transfer.process_log(AttributeDict.recursive(entry)) for entry in logs]

    def ours() -> object:
        return payments_in(orjson.loads(raw_logs)["result"], block, {USDT}, "The node")

    slow, quick = best([theirs, ours], rounds=3)
    return {"web3_ms": round(slow * 1e3, 2), "ours_ms": round(quick * 1e3, 2), "times": round(slow / quick)}


def main() -> int:
    raw = answers()
    rows = {n: measure({address() for _ in range(n)}, raw) for n in (1_000, 100_000)}
    print(f"{'addresses':>10} {'ours ms':>9} {'floor ms':>9} {'ratio':>6}   ({os.cpu_count()} cores, bound {BOUND})")
    for n, row in rows.items():
        print(f"{n:>10,} {row['ours_ms']:>9} {row['floor_ms']:>9} {row['ratio']:>6}")
    events = against_web3(raw[b"getLogs"])
    print(f"{LOGS} events: web3 {events['web3_ms']} ms, ours {events['ours_ms']} ms, {events['times']} × faster")
    print(json.dumps({"bench": "watch", "bound": BOUND, "rows": rows, "events": events, "faster": FASTER}))
    return int(any(row["ratio"] > BOUND for row in rows.values()) or events["times"] < FASTER)


if __name__ == "__main__":
    sys.exit(main())
