"""Match the addresses of one large block against 1,000, 100,000 and 1,000,000 watched addresses, in the database.

Run it with `./run bench match`. The look-up is the one the watcher makes; what a block holds is compared with what was
ever given to customers. At 1,000,000 addresses it may take three times the processor time of 1,000.
"""

import secrets
import sys
from argparse import Namespace
from collections.abc import Iterable
from functools import partial

from bench.kit import databases
from bench.kit.meter import Meter, in_turns, median_cpu
from bench.kit.report import Check, Result
from django.db import connection
from django.utils import timezone

from payments.models import ReservedAddress
from payments.queries import ours_among

NETWORK = "bitcoin"
SIZES = (1_000, 100_000, 1_000_000)
OUTPUTS, OURS = 11_000, 5  # of a full block of Bitcoin
ROUNDS = 7
MOST = 3.0
COLUMNS = ("network", "index", "address", "fingerprint", "genesis", "seal", "made_at", "issued_at", "balance", "mark")


def address() -> str:
    return "bc1q" + secrets.token_hex(19)


def fill(first: int, until: int) -> list[str]:
    """Add issued addresses up to a number in all; return a few of them."""
    now = timezone.now()
    rows = [(NETWORK, index, address(), "f", "g", "s" * 64, now, now, "", "") for index in range(first, until)]
    table, columns = ReservedAddress._meta.db_table, ", ".join(f'"{column}"' for column in COLUMNS)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            copy_in(cursor, table, columns, rows)
            cursor.execute(f"VACUUM ANALYZE {table}")
        else:
            marks = ", ".join(["%s"] * len(COLUMNS))
            cursor.execute("BEGIN")
            cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)  # noqa: S608
            cursor.execute("COMMIT")
            cursor.execute("ANALYZE")
    return [row[2] for row in rows[:OURS]]


def copy_in(cursor: object, table: str, columns: str, rows: Iterable[tuple[object, ...]]) -> None:
    with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:  # type: ignore[attr-defined]
        for row in rows:
            copy.write_row(row)


def measure(given: Namespace) -> Result:
    meter, result, filled = Meter(), Result(), 0
    others = [address() for _ in range(OUTPUTS - OURS)]
    for size in (size for size in SIZES if size <= given.most):
        ours = fill(filled, size)
        filled, block = size, [*others, *ours]
        [costs] = in_turns(meter, [partial(look_up, block, ours)], ROUNDS)
        result.rows.append({"watched": size, "outputs": len(block), "cpu_ms": median_cpu(costs) * 1e3})
    few, many = result.rows[0]["cpu_ms"], result.rows[-1]["cpu_ms"]
    result.checks.append(Check(f"processor time at {filled:,} by that at {SIZES[0]:,}", many / few, most=MOST))
    return result


def look_up(block: list[str], ours: list[str]) -> None:
    found = ours_among(NETWORK, block)
    if found != set(ours):
        raise RuntimeError(f"{len(found)} addresses were found instead of {len(ours)}")


if __name__ == "__main__":
    sys.exit(databases.run("match", measure, most=(SIZES[-1], "watched addresses at most")))
