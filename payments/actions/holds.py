"""Tell the order what payments knows: how long its lots are kept, and whether money was seen."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet

from events.statements import kept_query
from orders.actions import held, keep_hold, tell_payment
from orders.holding import LiveIntent, Rules, hold_until
from orders.models import Hold, Order

from ..models import ChainTransfer, PaymentIntent


def renew_hold(
    order: Order,
    *,
    now: datetime,
    live: Sequence[PaymentIntent] | None = None,
    hold: Hold | None = None,
    earlier: Sequence[PaymentIntent] | None = None,
    arrived: Sequence[ChainTransfer] | None = None,
) -> None:
    """Recompute the end of a locked, unpaid order's hold from its live promises and seen transfers (ORD-6).

    What the caller has read under its locks is given, what is not is read here: `live` promises, the `hold`, the
    `earlier` promises that can have transfers, or the transfers that `arrived` for one of its promises."""
    if order.payment == Order.Payment.PAID:
        return
    rules = Rules(
        bare=timedelta(minutes=settings.HOLD_MINUTES),
        grace=timedelta(hours=settings.HOLD_GRACE_HOURS),
        renewal=timedelta(hours=settings.HOLD_RENEWAL_HOURS),
    )
    promises = [] if live is not None else promises_for(order)
    live = [intent for intent in promises if intent.ended_at is None] if live is None else live
    only = promises[0] if len(promises) == 1 else None
    seen_at = first_seen_at(order, earlier) if only is None or arrived is None else first_seen(only, arrived)
    tell_payment(
        order,
        Order.Payment.SEEN if seen_at else Order.Payment.NONE,
        promised_until=max((intent.expires_at + rules.grace for intent in live), default=None),
    )
    hold = hold or held(order)
    if hold is None or not order.is_payable:
        return
    until = hold_until(
        rules,
        held_since=hold.created_at,
        saved_at=order.created_at,
        intents=[LiveIntent(intent.created_at, intent.expires_at) for intent in live],
        seen_at=seen_at,
    )
    keep_hold(order, until=until)


@kept_query
def promises_for(order: Order) -> QuerySet[PaymentIntent]:
    return PaymentIntent.objects.filter(order=order)


def first_seen(intent: PaymentIntent, arrived: Iterable[ChainTransfer]) -> datetime | None:
    """Return what `first_seen_at` does for an order with no other intent than the one with these transfers."""
    waiting = [row for row in arrived if not row.credited and row.verdict != ChainTransfer.Verdict.KEEP]
    return min((row.first_seen_at for row in received(intent, waiting) if not row.dust), default=None)


def received(intent: PaymentIntent, arrived: Iterable[ChainTransfer]) -> list[ChainTransfer]:
    """Return what the network knows of the asked asset and a transaction explains."""
    return [row for row in arrived if row.method == intent.method and row.explained and not row.is_gone]


def first_seen_at(order: Order, intents: Sequence[PaymentIntent] | None = None) -> datetime | None:
    """Return when the oldest transfer for this order that is not credited yet, and is to be, was first seen; `intents`
    as `earlier` above."""
    if intents is not None and not intents:
        return None
    of_order = {"intent__order": order} if intents is None else {"intent__in": intents}
    rows = ChainTransfer.objects.filter(credited=False, **of_order)
    rows = rows.exclude(verdict=ChainTransfer.Verdict.KEEP)
    oldest = rows.known().that_count().order_by("first_seen_at").first()
    return oldest.first_seen_at if oldest else None
