"""Read one block of real size per network, from raw answers to matched transfers, against the least code that does it.

Run it with `./run bench watch`. Both sides take turns in one process; ours may take twice the processor time. The logs
of Ethereum are also decoded by web3's contract events: ours must be fifty times as fast. The last table counts the
calls of a pass over one new block while 1, 1,000 and 100,000 addresses are watched: they must not grow.
"""

import json
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from bench.kit.blocks import USDT, Case, cases
from bench.kit.report import Check, Result, arguments, finish, show
from web3 import Web3
from web3.providers.base import JSONBaseProvider

WATCHED, SIZES = 1_000, (1, 1_000, 100_000)
ROUNDS, SLOW_ROUNDS = 15, 3
TURNS_SECONDS = 2.0
MOST, TIMES = 2.0, 50.0
ABI = [
    {
        "anonymous": False,
        "name": "Transfer",
        "type": "event",
        "inputs": [
            {"indexed": True, "name": "from", "type": "address"},
            {"indexed": True, "name": "to", "type": "address"},
            {"indexed": False, "name": "value", "type": "uint256"},
        ],
    }
]


def best(
    works: Sequence[Callable[[], object]], rounds: int = ROUNDS, *, beside: Callable[[], float] = lambda: 0.0
) -> list[float]:
    """Return the shortest processor time of each work in seconds. They take turns, so noise meets all alike: so many at
    least, and more if they are short. What the peer takes to answer counts for none: `beside` tells its seconds."""
    times: list[list[float]] = [[] for _ in works]
    until = time.process_time() + TURNS_SECONDS
    while len(times[0]) < rounds or time.process_time() < until:
        for work, seen in zip(works, times, strict=True):
            start = time.process_time() - beside()
            work()
            seen.append(time.process_time() - beside() - start)
    return [min(seen) for seen in times]


def watched_with(ours: set[str], size: int) -> set[str]:
    """Return these addresses and others that look like them, so many in all."""
    pattern = min(ours)
    return ours | {pattern[:8] + secrets.token_hex(len(pattern))[8 : len(pattern)] for _ in range(size - len(ours))}


def compare(case: Case) -> tuple[dict[str, Any], float]:
    """Return the row of a network and the seconds that ours took."""
    watched = watched_with(case.ours, WATCHED)
    found, bodies = case.scan(watched), list(case.wire.bodies)
    least = case.floor(bodies, watched)
    if found != least or {address for address, _ in found} != case.ours:
        raise RuntimeError(f"{case.name}: {found ^ least} is found by one side only")
    works = [partial(case.scan, watched), partial(case.floor, bodies, watched)]
    mine, floor = best(works, beside=lambda: case.wire.seconds)
    row = {
        "network": case.name,
        "answers_kB": sum(map(len, bodies)) // 1000,
        "ours_ms": mine * 1e3,
        "floor_ms": floor * 1e3,
        "ratio": mine / floor,
    }
    return row, mine


class Prepared(JSONBaseProvider):
    """web3's way to a node that has the answer ready."""

    def __init__(self, raw: bytes) -> None:
        super().__init__()
        self.raw = raw

    def make_request(self, method: Any, params: Any) -> Any:
        return json.loads(self.raw)


def decoded_by_web3(case: Case) -> float:
    """Return the seconds that web3's contract events take for the logs of the block."""
    raw = next(body for body in case.wire.bodies if b'"logIndex"' in body)
    web3 = Web3(Prepared(raw))
    contract = web3.eth.contract(address=web3.to_checksum_address(USDT), abi=ABI)
    return best([lambda: contract.events.Transfer.get_logs(from_block=1, to_block=1)], SLOW_ROUNDS)[0]


def calls(case: Case) -> dict[str, Any]:
    """Count the calls of a pass over the block, one of whose payees is watched together with ever more others."""
    row: dict[str, Any] = {"network": case.name}
    for size in SIZES:
        watched = watched_with({min(case.ours)}, size)
        case.scan(watched)
        row[f"{size:,}"] = case.wire.calls
    return row


def main() -> int:
    options, time_result, call_result = arguments("watch"), Result(), Result()
    for case in cases():
        row, mine = compare(case)
        time_result.rows.append(row)
        time_result.checks.append(Check(f"{case.name}: processor time by the floor's", row["ratio"], most=MOST))
        if case.name == "Ethereum":
            times = decoded_by_web3(case) / mine
            time_result.checks.append(Check("web3's event decoding by ours", times, least=TIMES))
        call_result.rows.append(calls(case))
    for counted in call_result.rows:
        grown = counted["100,000"] - counted["1"]
        call_result.checks.append(Check(f"{counted['network']}: calls more for 100,000 addresses", grown, most=0))
    show("watch: one block, from raw answers to matched transfers", time_result)
    show("watch: calls of a pass over one new block, by watched addresses", call_result)
    return finish("watch", {"time": time_result, "calls": call_result}, options.json)


if __name__ == "__main__":
    sys.exit(main())
