"""Make, declare and cancel payment instructions; pay from the balance. These are what a customer does."""

import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from balance.actions import Overdrawn
from events.actions import record
from money.usd import localised
from orders.actions import capture, hold_again, locked, secure_lots
from orders.errors import Refused
from orders.models import Order

from .. import errors, quotes
from ..models import ChainTransfer, NetworkCursor, PaymentIntent
from ..queries import due, market, promised_rate
from ..registry import Method
from ..registry import method as method_by_code
from . import reserve
from .holds import renew_hold

Quote = PaymentIntent.Quote


def open_intent(order_id: int, method_code: str, *, form_key: uuid.UUID, actor: User) -> PaymentIntent:
    """Promise a price: a fresh address, an exact amount, an end. The same form key again returns the first promise.

    A `Refused` says why nothing was promised; then nothing changed. Older open promises of the order are superseded
    and honoured to their own end.
    """
    try:
        return make(order_id, method_by_code(method_code), form_key, actor)
    except errors.BrokenSeal as broken:
        reserve.report(broken.address_id)  # a transaction of its own: the one above was rolled back
        raise


def make(order_id: int, method: Method, form_key: uuid.UUID, actor: User) -> PaymentIntent:
    now = timezone.now()
    with transaction.atomic(durable=True):
        order = locked(order_id)
        existing = PaymentIntent.objects.filter(order=order, form_key=form_key).first()
        if existing:
            return existing
        if not order.is_payable:
            raise errors.NotPayable
        live = live_intents(order)
        if len(live) >= settings.LIVE_INTENTS_LIMIT:
            raise errors.TooManyLive(settings.LIVE_INTENTS_LIMIT)
        refuse_too_many_made(actor, now)
        intent = promise(order, method, form_key, now)
        if not hold_again(order, until=intent.expires_at, actor=actor):
            raise errors.NothingLeft
        supersede(live, actor=actor, now=now)
        renew_hold(order, now=now)
        record(
            "intent.opened",
            subject=intent,
            thread=order,
            actor=actor,
            method=method.code,
            amount=str(intent.amount),
            expires_at=intent.expires_at,
        )
        return intent


def live_intents(order: Order) -> list[PaymentIntent]:
    """Return the order's promises that have not really ended, locked, oldest first."""
    rows = PaymentIntent.objects.select_for_update(of=("self",), no_key=True)
    return list(rows.filter(order=order, ended_at=None).order_by("created_at", "pk"))


def refuse_too_many_made(customer: User, now: datetime) -> None:
    """Refuse a customer who asks, cancels and asks again: each promise uses up an address for ever."""
    made = PaymentIntent.objects.filter(customer=customer, created_at__gt=now - timedelta(hours=1)).count()
    if made >= settings.INTENTS_PER_HOUR:
        raise errors.TooManyMade


def promise(order: Order, method: Method, form_key: uuid.UUID, now: datetime) -> PaymentIntent:
    """Insert the promise for the order's whole total at the rate of this moment."""
    cursor = NetworkCursor.objects.filter(network=method.family.network).first()
    found = market(method, order.total_cents, cursor, now)
    if isinstance(found, Refused):
        raise found
    if cursor is None:
        raise errors.NetworkUnwatched(method.family.name, None)
    rate = promised_rate(method, found)
    return PaymentIntent.objects.create(
        order=order,
        customer_id=order.customer_id,
        form_key=form_key,
        method=method.code,
        network=method.family.network,
        amount=due(method, order.total_cents, rate),
        usd_cents=order.total_cents,
        rate_e8=rate,
        rate_evidence=evidence(method, found),
        address=reserve.issue(cursor, method.family.name),
        born_height=cursor.height,
        created_at=now,
        expires_at=now + timedelta(minutes=settings.INTENT_MINUTES[method.volatility]),
    )


def evidence(method: Method, market: quotes.Price) -> dict[str, object]:
    """Return what the promised rate was computed from, and what was left out with the reason."""
    return {
        "market_e8": str(market.price_e8),
        "markup_basis_points": settings.MARKUP_BASIS_POINTS[method.volatility],
        "samples": [told(sample) for sample in market.samples],
        "dropped": [{**told(one.sample), "why": one.why} for one in market.dropped],
    }


def told(sample: quotes.Sample) -> dict[str, str]:
    return {
        "source": sample.source,
        "price_e8": str(sample.price_e8),
        "source_at": sample.source_at.isoformat(),
        "received_at": sample.received_at.isoformat(),
    }


def supersede(intents: list[PaymentIntent], *, actor: User, now: datetime) -> None:
    for intent in intents:
        if intent.quote == Quote.OPEN:
            intent.quote, intent.closed_at = Quote.SUPERSEDED, now
            intent.save(update_fields=["quote", "closed_at"])
            record("intent.superseded", subject=intent, thread=intent.order, actor=actor)


def declare(intent_id: uuid.UUID, *, actor: User) -> PaymentIntent:
    """Note "I paid" on this one intent (PAY-4). It changes no money, no clock and no hold; again is harmless."""
    with transaction.atomic(durable=True):
        intent = locked_intent(intent_id)
        if intent.declared_at is None:
            intent.declared_at = timezone.now()
            intent.save(update_fields=["declared_at"])
            record("intent.declared", subject=intent, thread=intent.order, actor=actor)
        return intent


def cancel(intent_id: uuid.UUID, *, actor: User) -> PaymentIntent:
    """End a promise early; refused while a transfer is live. The address stays watched for ever."""
    with transaction.atomic(durable=True):
        intent = locked_intent(intent_id)
        if intent.quote == Quote.CANCELLED:
            return intent
        if ChainTransfer.objects.filter(intent=intent).known().that_count().exists():
            raise errors.TransferLive
        if intent.ended_at is not None:
            return intent
        now = timezone.now()
        intent.quote, intent.closed_at, intent.ended_at = Quote.CANCELLED, now, now
        intent.save(update_fields=["quote", "closed_at", "ended_at"])
        record("intent.cancelled", subject=intent, thread=intent.order, actor=actor)
        renew_hold(intent.order, now=now)
        return intent


def locked_intent(intent_id: uuid.UUID) -> PaymentIntent:
    """Return the intent with its order, both locked: the order first."""
    order = locked(PaymentIntent.objects.values_list("order_id", flat=True).get(pk=intent_id))
    intent = PaymentIntent.objects.select_for_update(of=("self",), no_key=True).get(pk=intent_id)
    intent.order = order
    return intent


def pay_from_balance(order_id: int, *, actor: User) -> Order:
    """Pay the whole order from its customer's balance, in one step (BAL-3). Paying a paid order changes nothing."""
    with transaction.atomic(durable=True):
        order = locked(order_id)
        if order.state == Order.State.SETTLED:
            return order
        if not order.is_payable:
            raise errors.NotPayable
        if not secure_lots(order):
            raise errors.NothingLeft
        try:
            capture(order, secured=True, actor=actor, source="balance")
        except Overdrawn as short:
            raise errors.BalanceTooSmall(localised(short.available_cents), localised(short.needed_cents)) from short
        return order
