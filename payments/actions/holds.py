"""Tell the order what payments knows: how long its lots are kept, and whether money was seen."""

from datetime import datetime, timedelta

from django.conf import settings

from orders.actions import held, keep_hold, tell_payment
from orders.holding import LiveIntent, Rules, hold_until
from orders.models import Order

from ..models import ChainTransfer, PaymentIntent


def renew_hold(order: Order, *, now: datetime) -> None:
    """Recompute the end of a locked, unpaid order's hold from its live promises and seen transfers (ORD-6)."""
    if order.payment == Order.Payment.PAID:
        return
    rules = Rules(
        bare=timedelta(minutes=settings.HOLD_MINUTES),
        grace=timedelta(hours=settings.HOLD_GRACE_HOURS),
        renewal=timedelta(hours=settings.HOLD_RENEWAL_HOURS),
    )
    seen_at, live = first_seen_at(order), list(PaymentIntent.objects.filter(order=order, ended_at=None))
    tell_payment(
        order,
        Order.Payment.SEEN if seen_at else Order.Payment.NONE,
        promised_until=max((intent.expires_at + rules.grace for intent in live), default=None),
    )
    hold = held(order)
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


def first_seen_at(order: Order) -> datetime | None:
    """Return when the oldest transfer for this order that is not credited yet, and is to be, was first seen."""
    rows = ChainTransfer.objects.filter(intent__order=order, credited=False)
    rows = rows.exclude(verdict=ChainTransfer.Verdict.KEEP)
    oldest = rows.known().that_count().order_by("first_seen_at").first()
    return oldest.first_seen_at if oldest else None
