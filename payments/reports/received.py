"""Transfers that became credit in a time: one line for each method, and each transfer with the rate that it got."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.utils.functional import Promise as Words
from django.utils.translation import gettext_lazy as _

from balance.models import Movement

from ..models import Allocation, ChainTransfer
from ..quotes import E8
from ..registry import Method, method_name
from ..shown import known_methods

CHUNK = 1000


@dataclass(slots=True)
class Received:
    """What came in by one method: base units in all and at the promised rate, cents, and the lowest and the highest
    rate that was used, in 10⁻⁸ dollars for a whole coin."""

    code: str
    method: Method | None
    count: int = 0
    units: int = 0
    promised_units: int = 0
    cents: int = 0
    lowest_e8: int | None = None
    highest_e8: int | None = None

    @property
    def name(self) -> str:
        return method_name(self.method) if self.method else self.code

    @property
    def decimals(self) -> int:
        """Of an unknown token only the bare count of base units is known."""
        return self.method.asset.decimals if self.method else 0

    @property
    def market_units(self) -> int:
        return self.units - self.promised_units

    @property
    def average_e8(self) -> int | None:
        """The rate that all of it got together; none if that cannot be said."""
        if not self.units or not self.method:
            return None
        scale: int = E8 * 10**self.method.asset.decimals
        return self.cents * scale // (100 * self.units)

    def add(self, row: Allocation) -> None:
        self.count += 1
        self.units += row.locked_amount + row.market_amount
        self.promised_units += row.locked_amount
        self.cents += row.usd_cents
        for rate in rates(row):
            self.lowest_e8 = rate if self.lowest_e8 is None else min(self.lowest_e8, rate)
            self.highest_e8 = rate if self.highest_e8 is None else max(self.highest_e8, rate)


def credits_between(start: datetime, end: datetime) -> QuerySet[Allocation]:
    """Return what was credited from `start` up to, not including, `end`, oldest first.

    By the time of its movement, so that the report and the ledger never put one into different times.
    """
    rows = Allocation.objects.filter(
        movement__kind=Movement.Kind.TRANSFER, movement__at__gte=start, movement__at__lt=end
    )
    return rows.select_related("movement", "transfer", "intent__order", "intent__topup").order_by(
        "movement__at", "movement_id"
    )


def by_method(start: datetime, end: datetime) -> list[Received]:
    """Return a line for each method by which something came in. Base units are summed here, never by SQL."""
    known = known_methods()
    found: dict[str, Received] = {}
    for row in credits_between(start, end).iterator(CHUNK):
        code = row.transfer.method
        found.setdefault(code, Received(code, known.get(code))).add(row)
    order = list(known)
    return sorted(found.values(), key=lambda line: (line.method is None, order.index(line.code) if line.method else 0))


def rates(row: Allocation) -> Iterator[int]:
    """Yield the rates that a credit was made with: the promised one, the market's, or both."""
    if row.locked_amount:
        yield row.intent.rate_e8
    if row.market_amount and row.market_rate_e8:
        yield row.market_rate_e8


def why(row: Allocation) -> str | Words:
    """Return why a credit got its rate."""
    transfer, intent = row.transfer, row.intent
    if row.locked_amount and row.market_amount:
        return _("promised for as much as the promise covers, the market's rate for the rest")
    if row.locked_amount:
        return _("promised")
    if not transfer.explained:
        return _("no transaction explains it: a person credited it at the market's rate")
    if transfer.method != intent.method:
        return _("another asset than the one asked for: the market's rate")
    if transfer.verdict == ChainTransfer.Verdict.CREDIT:
        return _("a person credited it: the market's rate")
    if intent.late:
        return _("too late for the promise: the market's rate at the time of its block")
    return _("the promise was covered already: the market's rate")


def transfers(start: datetime, end: datetime) -> Iterator[Allocation]:
    """Yield each credit of a time; memory stays as it is, however many there are."""
    yield from credits_between(start, end).iterator(CHUNK)
