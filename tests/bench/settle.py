"""Settle bursts of transfers: recognised, credited, captured, provisioning queued.

Run it with `./run bench settle`. The floor sends the same statements in the same transactions with the bare ORM, and
decides nothing (`kit/settle_floor.py`); both take turns, and ours must reach 0.6 of its rate. What both send is
compared here by verb and table, so neither can change without the other. Then the same burst among 100 and among
1,000,000 stored transfers: what one costs must not grow.
"""

import re
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from statistics import median

from bench.kit import databases, history
from bench.kit.meter import Cost, Meter, Statements, counted
from bench.kit.report import Check, Result
from bench.kit.settle_floor import settle
from bench.kit.shop import NETWORK, Shop, payments_for

from events.relay import drain
from payments.models import PaymentIntent
from payments.verify import discrepancies
from provisioning.models import Rental

BURST, SMALL, PAIRS = 1_000, 50, 5
LEAST, GROWTH, APART = 0.6, 1.25, 2
TABLE = re.compile(r'(?:FROM|INTO|UPDATE) "(\w+)"')
STORED = 1_000_000


def ours(shop: Shop, intents: Sequence[PaymentIntent]) -> None:
    """Let the network carry the payments, watch twice and deliver."""
    shop.node.mine(payments_for(intents))
    shop.watch()
    shop.node.mine()
    shop.node.mine()
    shop.watch()
    while drain() == 1_000:  # a worker's task makes so many deliveries at most, and is called again
        pass


def floor(shop: Shop, intents: Sequence[PaymentIntent]) -> None:
    """Write the same rows. The watcher has seen these blocks already, and finds nothing of ours in them."""
    shop.node.mine(payments_for(intents))
    settle(NETWORK, shop.node.paid[shop.node.head().height])
    shop.node.paid[shop.node.head().height] = []


def burst(meter: Meter, shop: Shop, size: int, work: object = ours) -> tuple[Cost, Statements]:
    """Settle `size` transfers; return what it took and which statements it sent."""
    intents, before = shop.intents(size), Rental.objects.count()
    with counted() as statements, meter.reading() as cost:
        work(shop, intents)  # type: ignore[operator]
    if Rental.objects.count() != before + size:
        raise RuntimeError(f"{Rental.objects.count() - before} of {size} rentals were queued")
    return cost, statements


def kinds(statements: Statements) -> Counter[str]:
    """Count statements by verb and table, locks and savepoints apart."""
    found = Counter({"savepoints and transactions": statements.control})
    for sql, _, _ in statements.sent:
        verb, table = sql.split(maxsplit=1)[0], TABLE.search(sql)
        lock = " to lock" if "FOR NO KEY UPDATE" in sql else ""
        found[f"{verb} {table[1] if table else '?'}{lock}"] += 1
    return found


def measure(given: Namespace) -> Result:
    meter, shop, result = Meter(), Shop().open(), Result()
    burst(meter, shop, 10)
    burst(meter, shop, 10, floor)
    pairs = [[burst(meter, shop, SMALL, work) for work in (ours, floor)] for _ in range(PAIRS)]
    rate = median(least.cpu / cost.cpu for (cost, _), (least, _) in pairs)
    result.checks.append(Check("our rate by that of the bare ORM", rate, least=LEAST))
    ours_sent, floor_sent = (kinds(statements) for _, statements in pairs[0])
    apart = (ours_sent - floor_sent) + (floor_sent - ours_sent)
    named = ", ".join(f"{kind} {count}" for kind, count in apart.items()) or "none"
    result.checks.append(
        Check(f"statements of a burst that only one of both sends ({named})", apart.total(), most=APART)
    )
    few = add(result, f"ours, bursts of {SMALL}", SMALL, [one for one, _ in pairs])
    add(result, f"bare ORM, bursts of {SMALL}", SMALL, [one for _, one in pairs])
    large = add(result, f"ours, a burst of {given.burst:,}", given.burst, [burst(meter, shop, given.burst)])
    result.checks.append(Check("a transfer in the large burst by one in a small", large / few, most=GROWTH))
    result.checks.append(Check("discrepancies of the ledger", len(list(discrepancies())), most=0))
    history.fill(given.stored)
    many = add(result, f"ours, {given.stored:,} stored", SMALL, [burst(meter, shop, SMALL) for _ in range(PAIRS)])
    result.checks.append(Check(f"a transfer among {given.stored:,} by one among few", many / few, most=GROWTH))
    return result


def add(result: Result, name: str, size: int, bursts: Sequence[tuple[Cost, Statements]]) -> float:
    """Add a row of the table; return the processor seconds of one transfer."""
    cpu = median(cost.cpu for cost, _ in bursts) / size
    result.rows.append(
        {
            "what": name,
            "cpu_ms": cpu * 1e3,
            "database_ms": median(cost.database for cost, _ in bursts) / size * 1e3,
            "statements": len(bursts[0][1].sent) / size,
            "savepoints": bursts[0][1].control / size,
            "per_cpu_second": 1 / cpu,
            "per_second": size / median(cost.wall for cost, _ in bursts),
        }
    )
    return cpu


if __name__ == "__main__":
    options = {"burst": (BURST, "transfers of the large burst"), "stored": (STORED, "transfers stored before the last")}
    sys.exit(databases.run("settle", measure, **options))
