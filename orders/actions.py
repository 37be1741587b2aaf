"""Every write to orders and holds. Lock order: order, hold, offer, customer account."""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from accounts.models import User
from balance.actions import credit, debit
from balance.models import Account, House, Movement
from catalog.actions import give_back_lots, take_lots
from catalog.models import Offer, Pause, Price
from catalog.pausing import OFFER, paused, take_turns
from events.actions import record
from events.statements import kept_row, kept_update, write_columns

from .choice import Choice, Contact
from .errors import (
    AccountClosed,
    HeldTooMuch,
    NoReason,
    NotCancellable,
    NotOffered,
    NotReturnable,
    OfferPaused,
    OrdersPaused,
    OutOfStock,
    PriceChanged,
    Refused,
)
from .models import Environment, Hold, Order
from .numbering import insert_with_fresh_number
from .queries import found_own, symbols_of

ENVIRONMENTS = ("Ubuntu", "Python", "PyTorch", _("Notebook"), _("Inference"), "Blender", _("Other"))


def ensure_environments() -> None:
    """Make the usual environments once; afterwards the list belongs to the operators."""
    if Environment.objects.exists():
        return
    Environment.objects.bulk_create(
        [
            Environment(code=name.lower(), name=name, position=place, free_text=name == "Other")
            for place, name in enumerate(ENVIRONMENTS)
        ],
        ignore_conflicts=True,
    )


def place_order(
    *,
    customer: User,
    choice: Choice,
    contact: Contact,
    form_key: uuid.UUID,
    expected_total_cents: int,
    client: str = "",
) -> Order:
    """Save the order and hold its lots in one atomic step; the same form key again returns the first order (ORD-7).

    `client` is the mark of where it comes from, if known. Raises a `Refused` that says why; then nothing was saved.
    """
    with transaction.atomic(durable=True):
        take_turns()
        if not User.objects.select_for_update(no_key=True).get(pk=customer.pk).is_active:  # one order at a time
            raise AccountClosed
        existing = Order.objects.filter(customer=customer, form_key=form_key).first()
        if existing:
            return existing
        if pause := paused(Pause.ORDERS):
            raise OrdersPaused(pause.sentence)
        order = snapshot(customer, choice, contact, form_key)
        order.client = client
        if order.total_cents != expected_total_cents:
            raise PriceChanged
        refuse_too_many_held(order)
        insert_with_fresh_number(order)
        record("order.placed", subject=order, actor=customer, lots=order.lots, total_cents=order.total_cents)
        if not hold_lots(order, until=timezone.now() + timedelta(minutes=settings.HOLD_MINUTES), new=True):
            raise OutOfStock(Offer.objects.get(pk=order.offer_id).available_lots)
        return order


def snapshot(customer: User, choice: Choice, contact: Contact, form_key: uuid.UUID) -> Order:
    """Build the order from what is offered now (ORD-3); it is not saved yet."""
    price = (
        Price.objects.select_related("offer")
        .filter(offer__slug=choice.offer_slug, offer__published=True, term_days=choice.term_days)
        .first()
    )
    if price is None:
        raise why_not_offered(choice)
    return Order(
        customer=customer,
        form_key=form_key,
        offer=price.offer,
        offer_name=price.offer.name,
        cards_per_lot=price.offer.cards_per_lot,
        term_days=choice.term_days,
        lots=choice.lots,
        unit_price_cents=price.unit_price_cents,
        total_cents=price.unit_price_cents * choice.lots,
        environment=choice.environment_name,
        environment_wish=choice.environment_wish,
        first_name=contact.first_name,
        last_name=contact.last_name,
        email=contact.email,
    )


def why_not_offered(choice: Choice) -> Refused:
    """Return why a choice can't be ordered: its offer is paused, or there is no such thing (any more)."""
    offer = Offer.objects.filter(slug=choice.offer_slug, prices__term_days=choice.term_days, published=False).first()
    pause = paused(f"{OFFER}{offer.pk}") if offer else None
    return OfferPaused(pause.sentence) if pause else NotOffered()


def refuse_too_many_held(order: Order) -> None:
    """Raise HeldTooMuch if the order's customer, or the client it came from, would hold too many lots unpaid.

    The customer is locked, so that limit is exact; the other one may be passed by what several accounts race at once.
    """
    unpaid = Hold.objects.filter(order__state=Order.State.OPEN, state=Hold.State.HELD)
    same = [unpaid.filter(order__customer=order.customer_id)]
    same += [unpaid.filter(order__client=order.client)] if order.client else []
    for holds in same:
        already = holds.aggregate(total=Sum("lots"))["total"] or 0
        if already + order.lots > settings.HELD_LOTS_LIMIT:
            raise HeldTooMuch(settings.HELD_LOTS_LIMIT)


def hold_lots(order: Order, *, until: datetime | None, new: bool = False) -> Hold | None:
    """Take the order's lots from stock and hold them; none if there are not enough. The only way to take stock.

    A `new` order takes from an offer that is published; one that exists keeps its claim while its offer is paused.
    """
    if not take_lots(order.offer_id, order.lots, paused=not new):
        return None
    return Hold.objects.create(order=order, offer_id=order.offer_id, lots=order.lots, until=until)


@kept_row
def held(order: Order) -> QuerySet[Hold]:
    """Return the order's live hold, locked."""
    return Hold.objects.select_for_update(of=("self",), no_key=True).filter(order=order, state=Hold.State.HELD)


def release(hold: Hold) -> bool:
    """Flip the hold to released; only the winner of the flip gives the lots back to stock."""
    flipped = Hold.objects.filter(pk=hold.pk, state=Hold.State.HELD).update(
        state=Hold.State.RELEASED, released_at=timezone.now()
    )
    if flipped:
        give_back_lots(hold.offer_id, hold.lots)
    return bool(flipped)


def locked(order_id: int) -> Order:
    """Return the order, locked and read anew."""
    order = order_with(order_id)
    if order is None:
        raise Order.DoesNotExist(f"no order {order_id}")
    return order


@kept_row
def order_with(order_id: int) -> QuerySet[Order]:
    return Order.objects.select_for_update(of=("self",), no_key=True).filter(pk=order_id)


def locked_own(customer: User, number: str) -> Order:
    """Return the customer's order with this number, locked; 404 as `own_order`."""
    return found_own(customer, own_order_with(customer, symbols_of(number)))


@kept_row
def own_order_with(customer: User, symbols: str) -> QuerySet[Order]:
    return Order.objects.select_for_update(of=("self",), no_key=True).filter(customer=customer, symbols=symbols)


@kept_update
def keep_hold(order: Order, *, until: datetime) -> tuple[QuerySet[Hold], Mapping[str, Any]]:
    """Set when the hold of an open order ends (told by payments, which knows promises and transfers)."""
    return Hold.objects.filter(order=order, state=Hold.State.HELD, until__isnull=False), {"until": until}


def reserve_again(order: Order, *, until: datetime | None, actor: User | None) -> bool:
    """Hold lots for a locked order that has none, at its frozen price; True if it holds them afterwards (ORD-6)."""
    if held(order):
        return True
    if not hold_lots(order, until=until):
        return False
    record("order.reserved", subject=order, actor=actor, lots=order.lots)
    return True


def hold_again(order: Order, *, until: datetime, actor: User | None) -> Hold | None:
    """Take the lots of a locked, open order again if its hold has ended, at the frozen price (ORD-6); return the hold.

    None if there are not enough; HeldTooMuch if its customer would hold too many unpaid.
    """
    hold = held(order)
    if hold:
        return hold
    User.objects.select_for_update(no_key=True).get(pk=order.customer_id)  # the limit counts holds of other orders
    refuse_too_many_held(order)
    hold = hold_lots(order, until=until)
    if hold:
        record("order.held_again", subject=order, actor=actor, lots=order.lots)
    return hold


def cancel_order(order_id: int, *, actor: User) -> Order:
    """Cancel an order for which nothing was paid or seen (ORD-9) and give its lots back."""
    with transaction.atomic(durable=True):
        order = locked(order_id)
        if order.state == Order.State.CANCELLED:
            return order
        if not order.is_payable or order.payment != Order.Payment.NONE:
            raise NotCancellable
        close(order, Order.State.CANCELLED, actor=actor)
        return order


def close(order: Order, state: Order.State, *, actor: User | None) -> None:
    hold = held(order)
    order.move_to(state, actor=actor)
    if hold:
        release(hold)


def end_hold(order_id: int, *, now: datetime) -> bool:
    """Give the lots of an unpaid order back when its hold has ended; the order stays open and not reserved."""
    with transaction.atomic(durable=True):
        order = locked(order_id)
        hold = held(order)
        if hold is None or hold.until is None or hold.until > now or not order.is_payable:
            return False
        release(hold)
        record("order.hold_ended", subject=order, actor=None, lots=hold.lots)
        return True


def expire_order(order_id: int, *, created_before: datetime) -> bool:
    """Expire an order that nobody paid for so long; never one whose payment was seen or is still promised."""
    with transaction.atomic(durable=True):
        order = locked(order_id)
        if not order.is_payable or order.payment != Order.Payment.NONE or order.created_at >= created_before:
            return False
        if held(order) or (order.promised_until and order.promised_until > timezone.now()):
            return False
        close(order, Order.State.EXPIRED, actor=None)
        return True


def tell_payment(order: Order, payment: Order.Payment, *, promised_until: datetime | None) -> None:
    """Note on a locked order what payments knows: its money, and until when a promise for it may be kept. *Paid* is
    only ever written by `capture`."""
    if order.payment != Order.Payment.PAID and (order.payment, order.promised_until) != (payment, promised_until):
        order.payment, order.promised_until = payment, promised_until
        write_columns(order, ["payment", "promised_until"])


def ask_for_help(order: Order) -> None:
    """Flag a locked order whose payment was reversed: it stays paid, and an operator decides about its rental."""
    if order.needs_help_at is None:
        order.needs_help_at = timezone.now()
        order.save(update_fields=["needs_help_at"])
        record("order.needs_help", subject=order, actor=None)


def help_given(order: Order, *, actor: User | None, reason: str = "") -> bool:
    """Take the flag of a locked order away: its money came back, or an operator decided. False if it had none."""
    if order.needs_help_at is None:
        return False
    order.needs_help_at = None
    order.save(update_fields=["needs_help_at"])
    facts: dict[str, Any] = {"reason": reason} if reason else {}
    record("order.helped", subject=order, actor=actor, **facts)
    return True


def decide_help(order_id: int, *, reason: str, actor: User) -> bool:
    """Note what an operator decided about an order whose payment was reversed; False if nobody need decide any more."""
    if not reason.strip():
        raise NoReason
    with transaction.atomic(durable=True):
        return help_given(locked(order_id), actor=actor, reason=reason.strip())


def keep_lots(order: Order) -> bool:
    """Keep the lots of a locked order for good, as `secure_lots`, in one statement where they are held: the caller pays
    the order in this transaction, or rolls it back."""
    return keep_for_good(order) == 1 or hold_lots(order, until=None) is not None


@kept_update
def keep_for_good(order: Order) -> tuple[QuerySet[Hold], Mapping[str, Any]]:
    """Take the end away from the hold of a locked order, if it has one."""
    return Hold.objects.filter(order=order, state=Hold.State.HELD), {"until": None}


def secure_lots(order: Order) -> bool:
    """Make sure that a locked order holds its lots; False if nothing is held and nothing is left.

    Comes before any write to the customer's account: stock is locked before accounts everywhere.
    """
    return held(order) is not None or hold_lots(order, until=None) is not None


def capture(
    order: Order,
    *,
    secured: bool,
    kept: bool = False,
    actor: User | None,
    account: Account | None = None,
    **facts: str,
) -> None:
    """Pay a locked, payable order from its customer's balance: debit and settlement in the caller's transaction.

    `secured` is the answer of `secure_lots`, or of `keep_lots`: then the lots are `kept` already. `account` is the
    customer's if it is locked already. Overdrawn if the balance does not cover the total. Without lots the order is
    settled and waits for stock: never oversold, never dropped.
    """
    debit(
        account or order.customer,
        order.total_cents,
        house=House.ORDERS,
        kind=Movement.Kind.CAPTURE,
        reference=f"order:{order.pk}:capture",
        actor=actor,
    )
    if not kept:
        keep_for_good(order)
    order.payment, order.settled_at = Order.Payment.PAID, timezone.now()
    order.move_to(Order.State.SETTLED, columns=("payment", "settled_at"), actor=actor, reserved=secured, **facts)
    if not secured:
        record("order.waiting_for_stock", subject=order, actor=actor, lots=order.lots)


def take_stock(order_id: int, *, actor: User) -> bool:
    """Reserve lots for a paid order that waits for stock; provisioning hears of it and starts by itself."""
    with transaction.atomic(durable=True):
        order = locked(order_id)
        return waits_for_stock(order) and reserve_again(order, until=None, actor=actor)


def move_to_balance(order_id: int, *, actor: User) -> Order:
    """Move the sum of a paid order that waits for stock to its customer's balance (ORD-6); again changes nothing.

    Refused once lots are held for it: then its rental begins. Refused too while the money that paid it is gone again:
    a person decides about that.
    """
    with transaction.atomic(durable=True):
        order = locked(order_id)
        if order.state == Order.State.RETURNED:
            return order
        if not waits_for_stock(order) or held(order) or order.needs_help_at:
            raise NotReturnable
        return_sum(order, actor=actor)
        return order


def return_sum(order: Order, *, actor: User, **facts: str) -> None:
    """Move what a locked order was paid with to its customer's balance; its lots are not held any more."""
    credit(
        order.customer,
        order.total_cents,
        house=House.ORDERS,
        kind=Movement.Kind.RETURN,
        reference=f"order:{order.pk}:returned",
        actor=actor,
    )
    order.payment, order.settled_at = Order.Payment.NONE, None
    order.move_to(Order.State.RETURNED, columns=("payment", "settled_at"), actor=actor, **facts)


def waits_for_stock(order: Order) -> bool:
    """Tell whether a locked order is paid and never had its lots since: those of a wiped machine do not come again."""
    return (
        order.state == Order.State.SETTLED
        and not order.holds.filter(state=Hold.State.RELEASED, released_at__gt=order.settled_at).exists()
    )
