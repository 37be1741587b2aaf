"""Make, declare and cancel payment instructions; pay from the balance. These are what a customer does."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from accounts.models import User
from balance.actions import Overdrawn
from catalog.pausing import take_turns
from events.actions import record
from events.statements import insert, kept_query, kept_row
from money.usd import localised
from orders.actions import capture, hold_again, keep_lots, locked, locked_own
from orders.errors import Refused
from orders.models import Order

from .. import errors, quotes
from ..models import ChainTransfer, PaymentIntent, Purpose, TopUp
from ..queries import credited_cents, cursor_for, due, market, promised_rate, rest_cents
from ..registry import Method
from ..registry import method as method_by_code
from . import reserve
from .holds import renew_hold

Quote = PaymentIntent.Quote


@dataclass(frozen=True, slots=True)
class Asked:
    """What a customer asks for: a method, and how they will pay. The same form key again gets the same promise."""

    method: Method
    form_key: uuid.UUID
    exchange: bool = False
    pay_if_late: bool = False


def open_intent(
    order_id: int,
    method_code: str,
    *,
    form_key: uuid.UUID,
    actor: User,
    exchange: bool = False,
    pay_if_late: bool = False,
) -> PaymentIntent:
    """Promise a price for what is left to pay of an order: a fresh address, an exact amount, an end.

    The same form key again returns the first promise. A `Refused` says why nothing was promised; then nothing changed.
    Older open promises of the order are superseded and honoured to their own end.
    """
    asked = Asked(method_by_code(method_code), form_key, exchange, pay_if_late)
    with sealed_addresses():
        return promise_for_order(partial(locked, order_id), asked, actor)


def open_own_intent(
    number: str, *, method: str, form_key: uuid.UUID, actor: User, exchange: bool = False, pay_if_late: bool = False
) -> PaymentIntent:
    """Promise a price for what is left of the actor's order with this number, as `open_intent`; 404 as `own_order`."""
    asked = Asked(method_by_code(method), form_key, exchange, pay_if_late)
    with sealed_addresses():
        return promise_for_order(partial(locked_own, actor, number), asked, actor)


def open_topup_intent(
    topup_id: int, method_code: str, *, form_key: uuid.UUID, actor: User, exchange: bool = False
) -> PaymentIntent:
    """Promise a price for what is left of a top-up; otherwise as `open_intent`."""
    asked = Asked(method_by_code(method_code), form_key, exchange)
    with sealed_addresses():
        return promise_for_topup(topup_id, asked, actor)


@contextmanager
def sealed_addresses() -> Iterator[None]:
    """Report a broken seal in a transaction of its own: the one inside was rolled back."""
    try:
        yield
    except errors.BrokenSeal as broken:
        reserve.report(broken.address_id)
        raise


def promise_for_order(lock: Callable[[], Order], asked: Asked, actor: User) -> PaymentIntent:
    """`lock` returns the order, locked."""
    now = timezone.now()
    with transaction.atomic(durable=True):
        take_turns()
        order = lock()
        existing, live, earlier = known_intents(order, asked.form_key)
        if existing:
            return existing
        refuse_unless_possible(order, live)
        intent = promise(order, rest_to_pay(order, earlier), asked, now)
        hold = hold_again(order, until=intent.expires_at, actor=actor)
        if hold is None:
            raise errors.NothingLeft
        supersede(live, actor=actor, now=now)
        renew_hold(order, now=now, live=[*live, intent], hold=hold, earlier=earlier)
        refuse_too_many_made(actor, now)
        record_opened(intent, actor)
        return intent


def promise_for_topup(topup_id: int, asked: Asked, actor: User) -> PaymentIntent:
    now = timezone.now()
    with transaction.atomic(durable=True):
        take_turns()
        topup = TopUp.objects.select_for_update(of=("self",), no_key=True).get(pk=topup_id)
        existing, live, earlier = known_intents(topup, asked.form_key)
        if existing:
            return existing
        refuse_unless_possible(topup, live)
        rest = max(topup.amount_cents - credited_cents(earlier), 1)
        intent = promise(topup, rest, asked, now)
        supersede(live, actor=actor, now=now)
        refuse_too_many_made(actor, now)
        record_opened(intent, actor)
        return intent


def refuse_unless_possible(purpose: Purpose, live: Sequence[PaymentIntent]) -> None:
    """Raise the `Refused` that says why a locked order or top-up with these live promises may not get another one."""
    if not purpose.is_payable:
        raise errors.NotPayable
    if len(live) >= settings.LIVE_INTENTS_LIMIT:
        raise errors.TooManyLive(settings.LIVE_INTENTS_LIMIT)


def rest_to_pay(order: Order, earlier: Sequence[PaymentIntent]) -> int:
    """Return the cents to promise; CoveredByBalance if the credit of earlier instructions is enough by now."""
    rest = rest_cents(order, earlier)
    if rest <= 0:
        raise errors.CoveredByBalance
    return rest


def record_opened(intent: PaymentIntent, actor: User) -> None:
    record(
        "intent.opened",
        subject=intent,
        thread=intent.purpose,
        actor=actor,
        method=intent.method,
        amount=str(intent.amount),
        expires_at=intent.expires_at,
    )


def known_intents(
    purpose: Purpose, form_key: uuid.UUID
) -> tuple[PaymentIntent | None, list[PaymentIntent], list[PaymentIntent]]:
    """Return the promise that this form made already, those that have not really ended, and all there are; locked,
    oldest first."""
    found = intents_of_order(purpose) if isinstance(purpose, Order) else intents_of_topup(purpose)
    made = next((intent for intent in found if intent.form_key == form_key), None)
    return made, [intent for intent in found if intent.ended_at is None], found


@kept_query
def intents_of_order(order: Order) -> QuerySet[PaymentIntent]:
    return in_their_order().filter(order=order)


@kept_query
def intents_of_topup(topup: TopUp) -> QuerySet[PaymentIntent]:
    return in_their_order().filter(topup=topup)


def in_their_order() -> QuerySet[PaymentIntent]:
    return PaymentIntent.objects.select_for_update(of=("self",), no_key=True).order_by("created_at", "pk")


def named(purpose: Purpose) -> str:
    """Return the name of the column that holds what a promise is for."""
    return "order" if isinstance(purpose, Order) else "topup"


def refuse_too_many_made(customer: User, now: datetime) -> None:
    """Refuse a customer who asks, cancels and asks again: each promise uses up an address for ever. The one just made
    is among those that count.

    The customer is locked first, who comes after holds: else it would not be seen what other orders ask for at the
    same moment.
    """
    lock_customer(customer.pk)
    made = made_by(customer, now - timedelta(hours=1))
    if made and made[0] > settings.INTENTS_PER_HOUR:
        raise errors.TooManyMade


@kept_query
def lock_customer(customer: int) -> QuerySet[User, tuple[int]]:
    return User.objects.select_for_update(no_key=True).filter(pk=customer).values_list("pk")


@kept_row
def made_by(customer: User, since: datetime) -> QuerySet[PaymentIntent, tuple[int]]:
    """Count the promises that a customer was made since then: no row if there are none."""
    rows = PaymentIntent.objects.filter(customer=customer, created_at__gt=since).order_by()
    return rows.values("customer").annotate(made=Count("pk")).values_list("made")


def promise(purpose: Purpose, usd_cents: int, asked: Asked, now: datetime) -> PaymentIntent:
    """Insert the promise for so many cents at the rate of this moment."""
    method = asked.method
    cursor, pause = cursor_for(method)
    found = market(method, usd_cents, cursor, pause, now)
    if isinstance(found, Refused):
        raise found
    if cursor is None:
        raise errors.NetworkUnwatched(method.family.name, None)
    rate = promised_rate(method, found)
    minutes = settings.INTENT_MINUTES["exchange" if asked.exchange else method.volatility]
    intent = PaymentIntent(
        **{named(purpose): purpose},
        customer_id=purpose.customer_id,
        form_key=asked.form_key,
        method=method.code,
        network=method.family.network,
        amount=due(method, usd_cents, rate),
        usd_cents=usd_cents,
        rate_e8=rate,
        rate_evidence=evidence(method, found),
        address=reserve.issue(cursor, method.family.name),
        born_height=cursor.height,
        created_at=now,
        expires_at=now + timedelta(minutes=minutes),
        exchange=asked.exchange,
        pay_if_late=asked.pay_if_late,
    )
    insert(intent)
    return intent


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
            record("intent.superseded", subject=intent, thread=intent.purpose, actor=actor)


def declare(intent_id: uuid.UUID, *, actor: User) -> PaymentIntent:
    """Note "I paid" on this one intent (PAY-4). It changes no money, no clock and no hold; again is harmless."""
    with transaction.atomic(durable=True):
        intent = locked_intent(intent_id)
        if intent.declared_at is None:
            intent.declared_at = timezone.now()
            intent.save(update_fields=["declared_at"])
            record("intent.declared", subject=intent, thread=intent.purpose, actor=actor)
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
        record("intent.cancelled", subject=intent, thread=intent.purpose, actor=actor)
        if intent.order:
            renew_hold(intent.order, now=now)
        return intent


def locked_intent(intent_id: uuid.UUID) -> PaymentIntent:
    """Return the intent with its order or top-up, both locked: what it is for comes first. Its address and customer
    come with it."""
    orders = Order.objects.select_for_update(of=("self",), no_key=True)
    order, topup = orders.filter(intents=intent_id).first(), None
    if order is None:
        topups = TopUp.objects.select_for_update(of=("self",), no_key=True)
        topup = topups.get(intents=intent_id)
    intents = PaymentIntent.objects.select_for_update(of=("self",), no_key=True)
    intent = intents.select_related("address", "customer").get(pk=intent_id)
    intent.order, intent.topup = order, topup
    intent.purpose.customer = intent.customer
    return intent


def locked_again(read: PaymentIntent) -> PaymentIntent:
    """Return an intent that was read before with its address and customer, as `locked_intent` does: whose it is, what
    it is for and where to pay never changes, so they are not read again."""
    order = locked(read.order_id) if read.order_id else None
    topups = TopUp.objects.select_for_update(of=("self",), no_key=True)
    topup = topups.get(pk=read.topup_id) if read.topup_id else None
    (intent,) = intents_locked(read.pk)
    intent.order, intent.topup, intent.address, intent.customer = order, topup, read.address, read.customer
    intent.purpose.customer = read.customer
    return intent


@kept_query
def intents_locked(key: uuid.UUID) -> QuerySet[PaymentIntent]:
    return PaymentIntent.objects.select_for_update(of=("self",), no_key=True).filter(pk=key)


def choose_late(intent_id: uuid.UUID, *, pay_if_late: bool, actor: User) -> PaymentIntent:
    """Note whether money too late for the promise shall still pay the order, as long as nothing was credited."""
    with transaction.atomic(durable=True):
        intent = locked_intent(intent_id)
        if intent.order and intent.order.is_payable and intent.pay_if_late != pay_if_late:
            intent.pay_if_late = pay_if_late
            intent.save(update_fields=["pay_if_late"])
            record("intent.late_choice", subject=intent, thread=intent.purpose, actor=actor, pay_if_late=pay_if_late)
        return intent


def pay_from_balance(order_id: int, *, actor: User) -> Order:
    """Pay the whole order from its customer's balance, in one step (BAL-3). Paying a paid order changes nothing."""
    with transaction.atomic(durable=True):
        return pay_locked(locked(order_id), actor)


def pay_own_from_balance(number: str, *, actor: User) -> Order:
    """Pay the actor's order with this number, as `pay_from_balance`; 404 as `own_order`."""
    with transaction.atomic(durable=True):
        return pay_locked(locked_own(actor, number), actor)


def pay_locked(order: Order, actor: User) -> Order:
    if order.state == Order.State.SETTLED:
        return order
    if not order.is_payable:
        raise errors.NotPayable
    if order.customer_id == actor.pk:
        order.customer = actor
    if not keep_lots(order):
        raise errors.NothingLeft
    try:
        capture(order, secured=True, kept=True, actor=actor, source="balance")
    except Overdrawn as short:
        raise errors.BalanceTooSmall(localised(short.available_cents), localised(short.needed_cents)) from short
    return order
