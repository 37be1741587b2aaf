"""Sums of the ledger over a time, by the database: memory does not grow with the rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, Sum

from .models import Account, Movement


@dataclass(frozen=True, slots=True)
class Flow:
    """What one kind of movement did to what we owe customers, in cents: `into` their balances and `out` of them."""

    kind: Movement.Kind
    into: int
    into_count: int
    out: int
    out_count: int

    @property
    def net(self) -> int:
        return self.into - self.out


@dataclass(frozen=True, slots=True)
class Books:
    """The ledger over a time. `opening` and `closing` are what we owed in all just before it and at its end, each
    summed from the first movement on; `owed` and `kept` are what we owe now, by movements and by kept balances."""

    opening: int
    flows: tuple[Flow, ...]
    closing: int
    owed: int
    kept: int

    @property
    def into(self) -> int:
        return sum(flow.into for flow in self.flows)

    @property
    def out(self) -> int:
        return sum(flow.out for flow in self.flows)

    @property
    def difference(self) -> int:
        """What the lines of the time leave unexplained; 0 unless rows were changed behind our back."""
        return self.opening + self.into - self.out - self.closing

    @property
    def agrees(self) -> bool:
        return self.difference == 0 and self.owed == self.kept


def books(start: datetime, end: datetime) -> Books:
    """Return the ledger from `start` up to, not including, `end`. Call it in a snapshot: it reads several times."""
    before, until = Q(at__lt=start), Q(at__lt=end)
    into, out = credits_of_customers(), debits_of_customers()
    found = Movement.objects.aggregate(
        opening_into=Sum("amount_cents", filter=into & before),
        opening_out=Sum("amount_cents", filter=out & before),
        closing_into=Sum("amount_cents", filter=into & until),
        closing_out=Sum("amount_cents", filter=out & until),
        owed_into=Sum("amount_cents", filter=into),
        owed_out=Sum("amount_cents", filter=out),
    )
    net = {name: (found[f"{name}_into"] or 0) - (found[f"{name}_out"] or 0) for name in ("opening", "closing", "owed")}
    kept = Account.objects.aggregate(total=Sum("balance_cents"))["total"] or 0
    return Books(net["opening"], tuple(flows(start, end)), net["closing"], net["owed"], kept)


def flows(start: datetime, end: datetime) -> Iterator[Flow]:
    """Yield a line for each kind of movement, also where there was none, in the order of the kinds."""
    into, out = credits_of_customers(), debits_of_customers()
    rows = Movement.objects.filter(at__gte=start, at__lt=end).values("kind").order_by()
    sums = rows.annotate(
        into=Sum("amount_cents", filter=into),
        into_count=Count("pk", filter=into),
        out=Sum("amount_cents", filter=out),
        out_count=Count("pk", filter=out),
    )
    found: dict[str, Any] = {row["kind"]: row for row in sums}
    for kind in Movement.Kind:
        row = found.get(kind, {})
        yield Flow(kind, row.get("into") or 0, row.get("into_count", 0), row.get("out") or 0, row.get("out_count", 0))


def houses() -> list[int]:
    """Return the keys of the accounts of the house: a handful, so that no sum needs to join the accounts."""
    return list(Account.objects.exclude(house=None).values_list("pk", flat=True))


def credits_of_customers() -> Q:
    return ~Q(credit__in=houses())


def debits_of_customers() -> Q:
    return ~Q(debit__in=houses())
