"""Proof of reconciliation: what the chains gave, what became of it, and whether the ledger says the same. Reads only.

Sums are made by the database, exactly, so that millions of transfers cost one reading of the table and no memory.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db import connection
from django.db.models import Sum

from balance.models import House, Movement
from money.exact import summed, total

from .models import Allocation, ChainTransfer, Reconciliation

# What became of a final transfer. The first that is true.
OUTCOME = """
CASE WHEN t.dust THEN 'dust'
     WHEN t.credited THEN 'credited'
     WHEN t.verdict = 'keep' THEN 'kept'
     WHEN NOT t.explained OR EXISTS (
        SELECT 1 FROM payments_reviewitem r WHERE r.transfer_id = t.id AND r.decided_at IS NULL AND r.reason <> 'claim'
     ) THEN 'review'
     ELSE 'waiting' END
"""
CHAIN = """
SELECT t.method, {outcome} AS outcome, COUNT(*), {sums}
FROM payments_chaintransfer t WHERE t.network = %s AND t.status = 'final' AND t.method <> ''
GROUP BY t.method, outcome ORDER BY t.method
"""
BOOKS = """
SELECT t.method, SUM(a.usd_cents), {locked}, {market}
FROM payments_allocation a JOIN payments_chaintransfer t ON t.id = a.transfer_id
WHERE a.live AND t.network = %s GROUP BY t.method ORDER BY t.method
"""


@dataclass(slots=True)
class Sums:
    """One asset on one network, in base units: what is final on the chain by what became of it, and what the books
    credited. `transfers` counts the former, `usd_cents` is what the latter counted as."""

    method: str
    credited: int = 0
    review: int = 0
    kept: int = 0
    waiting: int = 0
    dust: int = 0
    books: int = 0
    transfers: int = 0
    usd_cents: int = 0

    @property
    def received(self) -> int:
        return self.credited + self.review + self.kept + self.waiting + self.dust

    @property
    def difference(self) -> int:
        """What the chain gave to credits less what the books credited: zero."""
        return self.credited - self.books

    def as_json(self) -> dict[str, str]:
        return {name: str(value) for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, data: dict[str, str]) -> "Sums":
        return cls(**{name: value if name == "method" else int(value) for name, value in data.items()})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Ledger:
    """Cents: what live credits of transfers sum to, what the ledger's account of received money says, and how much of
    accepted shortfalls the house paid."""

    credits: int
    received: int
    tolerance: int

    @property
    def agrees(self) -> bool:
        return self.credits == self.received


def sums_of(network: str) -> list[Sums]:
    """Return the sums of each asset of a network, as of one moment if called in `verify.snapshot`."""
    found: dict[str, Sums] = {}
    amounts = summed("t.amount", connection.vendor)
    for method, outcome, count, *values in rows(CHAIN.format(outcome=OUTCOME, sums=", ".join(amounts)), network):
        asset = found.setdefault(method, Sums(method))
        setattr(asset, outcome, total(values))
        asset.transfers += count
    locked, market = summed("a.locked_amount", connection.vendor), summed("a.market_amount", connection.vendor)
    for method, cents, *values in rows(BOOKS.format(locked=", ".join(locked), market=", ".join(market)), network):
        asset = found.setdefault(method, Sums(method))
        asset.books = total(values[: len(locked)]) + total(values[len(locked) :])
        asset.usd_cents = int(cents)
    return sorted(found.values(), key=lambda one: one.method)


def rows(query: str, network: str) -> Sequence[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, [network])
        return list(cursor.fetchall())


def ledger() -> Ledger:
    """Return what the ledger as a whole says about money from the chains."""
    live = Allocation.objects.filter(live=True).aggregate(sum=Sum("usd_cents"))["sum"] or 0
    return Ledger(int(live), out_of(House.RECEIVED), out_of(House.TOLERANCE))


def out_of(house: str) -> int:
    """Return the cents that an account of the house gave, less what it got back."""
    gave = Movement.objects.filter(debit__house=house).aggregate(sum=Sum("amount_cents"))["sum"] or 0
    back = Movement.objects.filter(credit__house=house).aggregate(sum=Sum("amount_cents"))["sum"] or 0
    return int(gave - back)


def newest(network: str) -> Reconciliation | None:
    """Return the newest check of a network; of the ledger for an empty name."""
    return Reconciliation.objects.filter(network=network).order_by("-at", "-pk").first()


def final_after(network: str, place: int, limit: int) -> list[ChainTransfer]:
    """Return the next final transfers in the order in which they were first seen. Grown balances are left out: they
    have no transaction that could be read again."""
    rows = ChainTransfer.objects.filter(network=network, status=ChainTransfer.Status.FINAL, explained=True)
    rows = rows.filter(pk__gt=place).select_related("intent__address").prefetch_related("spent")
    return list(rows.order_by("pk")[:limit])


def first_open(network: str) -> int | None:
    """Return the first transfer that may still become final: the round over new ones begins there again."""
    rows = ChainTransfer.objects.filter(network=network, status__in=("seen", "included"))
    return rows.order_by("pk").values_list("pk", flat=True).first()
