"""What a change of an offer means for the orders that exist: read before it is saved, nothing written (CAT-10)."""

from dataclasses import dataclass

from django.db.models import QuerySet, Sum

from catalog.models import Offer

from .models import Draft, Hold, Order
from .queries import waiting_for_stock

SHOWN = 20


@dataclass(frozen=True, slots=True)
class Kept:
    """An unpaid order with what it was saved with. `stranded`: once its hold is over it would find no stock again,
    and without the change it would."""

    order: Order
    hold: Hold | None
    stranded: bool


@dataclass(frozen=True, slots=True)
class Effects:
    """`held` lots are kept by unpaid orders, `in_use` by paid ones; `waiting` lots are paid and not there. `kept` are
    unpaid orders, those that would be stranded first; only the first of `open` ones."""

    held: int
    in_use: int
    waiting: int
    drafts: int
    open: int
    stranded: int
    kept: list[Kept]


def effects(offer: Offer, lots: int) -> Effects:
    """Return what setting an offer's stock to so many lots would do; with its present stock, how things are."""
    holds = Hold.objects.filter(offer=offer, state=Hold.State.HELD)
    unpaid = Order.objects.filter(offer=offer, state=Order.State.OPEN).order_by("pk")
    of_order = {hold.order_id: hold for hold in holds.filter(order__in=unpaid)}
    found = [judged(order, of_order.get(order.pk), offer, lots) for order in unpaid]
    waiting = waiting_for_stock().filter(offer=offer)
    return Effects(
        held=sum_lots(holds.filter(until__isnull=False)),
        in_use=sum_lots(holds.filter(until=None)),
        waiting=sum_lots(waiting),
        drafts=Draft.objects.filter(offer=offer).count(),
        open=len(found),
        stranded=sum(kept.stranded for kept in found),
        kept=sorted(found, key=lambda kept: not kept.stranded)[:SHOWN],
    )


def judged(order: Order, hold: Hold | None, offer: Offer, lots: int) -> Kept:
    taken_by_others = offer.taken - (hold.lots if hold else 0)
    before, after = offer.lots - taken_by_others, lots - taken_by_others
    return Kept(order, hold, after < order.lots <= before)


def sum_lots(rows: "QuerySet[Hold] | QuerySet[Order]") -> int:
    return int(rows.aggregate(total=Sum("lots"))["total"] or 0)
