"""Correct a balance: give goodwill, or undo an entry by its counter-entry. Nothing in the ledger is ever changed."""

import uuid

from django.db import models, transaction

from accounts.models import User
from balance.actions import Overdrawn, credit, debit
from balance.models import House, Movement
from events.actions import record
from money.usd import localised
from orders.models import Order

from .. import errors
from ..corrections import (
    customer_of,
    direction_of,
    first_of,
    given_alone,
    last_of,
    order_of,
    refusal_of,
    transfer_credit_of,
    undone_by,
)
from ..models import Adjustment
from .intents import locked_intent
from .two_persons import agree, finish, needs_second, take_back

Direction, State = Adjustment.Direction, Adjustment.State


def give_goodwill(
    customer_id: int, usd_cents: int, *, reason: str, form_key: uuid.UUID, actor: User, order_id: int | None = None
) -> Adjustment:
    """Credit a customer out of goodwill, or propose it to a second person above the limit (case 96). The same form key
    again returns the first one."""
    if not reason.strip():
        raise errors.NoGrounds
    if usd_cents <= 0:
        raise errors.NoSuchSum
    with transaction.atomic(durable=True):
        customer = locked_customer(customer_id)
        if existing := Adjustment.objects.filter(form_key=form_key).first():
            return existing
        order = Order.objects.get(pk=order_id, customer=customer) if order_id else None
        adjustment = Adjustment(customer=customer, order=order, direction=Direction.CREDIT, usd_cents=usd_cents)
        return propose(adjustment, reason, actor, form_key=form_key)


def counter(movement_id: int, *, reason: str, actor: User) -> Adjustment:
    """Undo one entry by a new one in the other direction, or propose it; twice returns the first one.

    A `Refused` says why it can't be undone, such as AlreadySpent: then nothing moved.
    """
    if not reason.strip():
        raise errors.NoGrounds
    with transaction.atomic(durable=True):
        movement, customer = locked_movement(movement_id)
        if existing := undone_by(movement):
            return existing
        if refusal := refusal_of(movement):
            raise refusal
        adjustment = Adjustment(
            customer=customer,
            order=order_of(movement),
            direction=direction_of(movement),
            usd_cents=movement.amount_cents,
            counter_of=movement,
        )
        return propose(adjustment, reason, actor)


def propose(adjustment: Adjustment, reason: str, actor: User, *, form_key: uuid.UUID | None = None) -> Adjustment:
    """Insert a proposal for a locked customer, and carry it out at once if one person may."""
    require_other_and_open(adjustment, actor)
    adjustment.reason, adjustment.proposed_by = reason.strip(), actor
    adjustment.form_key = form_key or adjustment.form_key
    adjustment.save(force_insert=True)
    tell("adjustment.proposed", adjustment, actor)
    gives = adjustment.direction == Direction.CREDIT
    before = given_alone(adjustment.customer_id, actor) if gives else 0
    if not needs_second(adjustment.usd_cents + before):
        carry_out(adjustment, actor)
    return adjustment


def require_other_and_open(adjustment: Adjustment, actor: User) -> None:
    """Refuse what a person does to their own balance, and what would reach nobody."""
    if adjustment.customer_id == actor.pk:
        raise errors.OwnMoney
    if adjustment.direction == Direction.CREDIT and not adjustment.customer.is_active:
        raise errors.CustomerGone


def approve(adjustment_id: int, *, actor: User) -> Adjustment:
    """Agree as the second person; SamePerson for the first one. Approving again changes nothing."""
    with transaction.atomic(durable=True):
        adjustment = locked_adjustment(adjustment_id)
        if agree(adjustment, actor):
            require_other_and_open(adjustment, actor)
            if adjustment.counter_of and (refusal := refusal_of(adjustment.counter_of)):
                raise refusal
            carry_out(adjustment, actor)
        return adjustment


def withdraw(adjustment_id: int, *, actor: User) -> Adjustment:
    """Take a proposal back, or refuse it as the second person; nothing moved."""
    with transaction.atomic(durable=True):
        adjustment = locked_adjustment(adjustment_id)
        take_back(adjustment, "adjustment.withdrawn", thread=thread_of(adjustment), actor=actor)
        return adjustment


def locked_customer(customer_id: int) -> User:
    return User.objects.select_for_update(no_key=True).get(pk=customer_id)


def locked_movement(movement_id: int) -> tuple[Movement, User]:
    """Return a movement and its customer, locked after the intent whose transfer it credits: the network may be taking
    the same credit back. NotCounterable if no customer has it."""
    movement = Movement.objects.select_related("debit__customer", "credit__customer").get(pk=movement_id)
    if allocation := transfer_credit_of(first_of(movement)):
        locked_intent(allocation.intent_id)
    customer = customer_of(movement)
    if customer is None:
        raise errors.NotCounterable
    return movement, locked_customer(customer.pk)


def locked_adjustment(adjustment_id: int) -> Adjustment:
    """Return an adjustment, locked after what it is about."""
    found = Adjustment.objects.get(pk=adjustment_id)
    if found.counter_of_id:
        locked_movement(found.counter_of_id)
    else:
        locked_customer(found.customer_id)
    rows = Adjustment.objects.select_for_update(of=("self",), no_key=True)
    return rows.select_related("customer", "order", "counter_of").get(pk=adjustment_id)


def carry_out(adjustment: Adjustment, actor: User) -> None:
    """Move the sum of a locked proposal."""
    adjustment.movement = moved(adjustment, actor)
    finish(adjustment, columns=["movement"])
    tell("adjustment.done", adjustment, actor)


def moved(adjustment: Adjustment, actor: User) -> Movement:
    gives = adjustment.direction == Direction.CREDIT
    try:
        return (credit if gives else debit)(
            adjustment.customer,
            adjustment.usd_cents,
            house=House.ADJUSTMENTS,
            kind=Movement.Kind.ADJUSTMENT,
            reference=adjustment.reference,
            actor=actor,
            reason=adjustment.reason,
        )
    except Overdrawn as short:
        raise errors.AlreadySpent(localised(short.available_cents), localised(short.needed_cents)) from short


def give_back_undone(movement: Movement) -> bool:
    """Give back what a counter-entry took of a credit that the network takes back now: else it would be taken twice.
    False if it is not undone.

    In the name of who undid the credit, since the ledger wants a person for each adjustment. Call it with the intent
    locked, before the credit is mirrored.
    """
    last, undone = last_of(movement)
    for waiting in Adjustment.objects.filter(counter_of=last, state=State.PROPOSED).select_related("customer", "order"):
        take_back(waiting, "adjustment.withdrawn", thread=thread_of(waiting), actor=None)
    if not undone:
        return False
    before = Adjustment.objects.select_related("customer", "order", "proposed_by").get(movement=last)
    back = Adjustment(
        customer=before.customer,
        order=before.order,
        direction=Direction.CREDIT,
        usd_cents=before.usd_cents,
        counter_of=last,
        proposed_by=before.proposed_by,
        reason="the network took back the transfer whose credit this entry had undone",
    )
    back.save(force_insert=True)
    carry_out(back, before.proposed_by)
    return True


def tell(kind: str, adjustment: Adjustment, actor: User) -> None:
    record(
        kind,
        subject=adjustment,
        thread=thread_of(adjustment),
        actor=actor,
        direction=adjustment.direction,
        usd_cents=adjustment.usd_cents,
        reason=adjustment.reason,
        counter_of=adjustment.counter_of.reference if adjustment.counter_of else "",
    )


def thread_of(adjustment: Adjustment) -> models.Model:
    """Return the row whose story an adjustment belongs to: its order's, else its customer's."""
    return adjustment.order or adjustment.customer
