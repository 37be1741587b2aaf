"""What may be undone by a counter-entry, and what that would do to the balance: read only."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q, Sum
from django.utils import timezone

from accounts.models import User
from balance.models import Movement
from balance.queries import available_cents, balance_cents
from money.usd import localised
from orders.errors import Refused
from orders.models import Hold, Order
from orders.queries import waiting_for_stock

from . import errors
from .models import Adjustment, Allocation, HandSettlement

Kind, Direction = Movement.Kind, Adjustment.Direction
ALONE_WITHIN = timedelta(days=1)  # what one person lets one customer have within it counts together


def customer_of(movement: Movement) -> User | None:
    """Return whose balance a movement changed."""
    return movement.credit.customer or movement.debit.customer


def direction_of(movement: Movement) -> Adjustment.Direction:
    """Return the direction of a movement's counter-entry, as the customer sees it."""
    return Direction.DEBIT if movement.credit.customer_id else Direction.CREDIT


def undone_by(movement: Movement, *, done: bool = False) -> Adjustment | None:
    """Return the counter-entry of a movement: one that may still be proposed, or only one that is `done`."""
    rows = Adjustment.objects.filter(counter_of=movement).select_related("customer", "order", "movement", "proposed_by")
    rows = rows.filter(state=Adjustment.State.DONE) if done else rows.exclude(state=Adjustment.State.WITHDRAWN)
    return rows.first()


def last_of(movement: Movement) -> tuple[Movement, bool]:
    """Follow counter-entries of counter-entries; return the last one's movement, and whether the first stays undone."""
    undone = False
    while (adjustment := undone_by(movement, done=True)) and adjustment.movement:
        movement, undone = adjustment.movement, not undone
    return movement, undone


def first_of(movement: Movement) -> Movement:
    """Follow a counter-entry back to what was undone first."""
    while found := Adjustment.objects.filter(movement=movement).select_related("counter_of").first():
        if found.counter_of is None:
            break
        movement = found.counter_of
    return movement


def transfer_credit_of(movement: Movement) -> Allocation | None:
    """Return the allocation whose credit a movement is, if it is one of a transfer."""
    return Allocation.objects.filter(movement=movement).first() if movement.kind == Kind.TRANSFER else None


def given_alone(customer_id: int, actor: User) -> int:
    """Return the cents that a person gave a customer within a day without a second one, as credits and by settling
    orders by hand: many small sums are a large one."""
    lately = Q(
        proposed_by=actor, state=Adjustment.State.DONE, second=None, decided_at__gt=timezone.now() - ALONE_WITHIN
    )
    credits = Adjustment.objects.filter(lately, customer=customer_id, direction=Direction.CREDIT)
    settled = HandSettlement.objects.filter(lately, order__customer=customer_id)
    sums = (credits.aggregate(sum=Sum("usd_cents")), settled.aggregate(sum=Sum("order__total_cents")))
    return sum(one["sum"] or 0 for one in sums)


def hand_of(movement: Movement) -> HandSettlement | None:
    """Return the settlement by hand that a movement belongs to."""
    noun, _colon, key = movement.reference.partition(":")
    return HandSettlement.objects.filter(pk=key).select_related("order").first() if noun == "hand" else None


def order_of(movement: Movement) -> Order | None:
    """Return the order that a movement which may be undone is about."""
    if allocation := transfer_credit_of(movement):
        return allocation.intent.order
    if hand := hand_of(movement):
        return hand.order
    own = Adjustment.objects.filter(movement=movement).first()
    return own.order if own else None


def refusal_of(movement: Movement) -> Refused | None:
    """Return why a movement can't be undone whatever the balance is; none if it can."""
    if movement.kind not in (Kind.TRANSFER, Kind.ADJUSTMENT) or customer_of(movement) is None:
        return errors.NotCounterable()
    if undone_by(movement, done=True):
        return errors.CounteredAlready()
    allocation = transfer_credit_of(movement)
    if allocation and not allocation.live:
        return errors.ReversedAlready()
    return refunded_already(movement)


def refunded_already(movement: Movement) -> Refused | None:
    """Return why a transfer's credit can't be taken: a refund debited it, and it would be taken twice."""
    allocation = transfer_credit_of(first_of(movement))
    if allocation is None or direction_of(movement) == Direction.CREDIT:
        return None
    refund = allocation.transfer.payouts.standing().first()
    return errors.SentBackAlready(refund.number) if refund else None


@dataclass(frozen=True, slots=True)
class Effect:
    """What a counter-entry would do now: the balance `before` and `after` it in cents, or why it can't be (yet)."""

    movement: Movement
    customer: User | None
    gives: bool
    before: int
    after: int
    refusal: Refused | None


def effect_of(movement: Movement) -> Effect:
    customer, gives = customer_of(movement), direction_of(movement) == Direction.CREDIT
    before = balance_cents(customer) if customer else 0
    cents, refusal = movement.amount_cents, refusal_of(movement)
    if refusal is None and customer and not gives and available_cents(customer) < cents:
        refusal = errors.AlreadySpent(localised(available_cents(customer)), localised(cents))
    return Effect(movement, customer, gives, before, before + (cents if gives else -cents), refusal)


@dataclass(frozen=True, slots=True)
class Paid:
    """The order that a settlement by hand paid. `returnable`: it waits for stock, so its sum can go to the balance
    first; else, if it is `settled`, a person decides about its rental."""

    order: Order
    settled: bool
    returnable: bool
    holds_lots: bool


def paid_by(hand: HandSettlement) -> Paid:
    order = hand.order
    settled = order.state == Order.State.SETTLED
    waits = settled and not order.needs_help_at and waiting_for_stock().filter(pk=order.pk).exists()
    return Paid(order, settled, waits, Hold.objects.filter(order=order, state=Hold.State.HELD).exists())
