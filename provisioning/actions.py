"""Every write to rentals. The order is locked first, then the rental."""

from datetime import datetime, timedelta

from cryptography.fernet import InvalidToken
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from events.actions import record
from events.statements import insert_new
from orders.actions import held, locked, release, return_sum
from orders.errors import Refused
from orders.models import Order

from .access import Access, load
from .models import Rental

State = Rental.State


class NotPossible(Refused):
    """The rental is not in a state for this, or something is missing."""


def ensure_rental(order_id: int) -> Rental | None:
    """Queue a rental for an order that is settled and holds its lots; again, or too early, changes nothing (PRV-1)."""
    with transaction.atomic(savepoint=False):
        order = locked(order_id)
        if order.state != Order.State.SETTLED or held(order) is None:
            return None
        rental = Rental(order=order)
        if not insert_new(rental, unique="order"):
            return Rental.objects.get(order=order)
        record("rental.queued", subject=rental, thread=order, actor=None)
        return rental


def locked_rental(rental_id: int) -> Rental:
    """Return the rental with its order, both locked: the order first."""
    order = locked(Rental.objects.values_list("order_id", flat=True).get(pk=rental_id))
    rental = Rental.objects.select_for_update(of=("self",), no_key=True).get(pk=rental_id)
    rental.order = order
    return rental


def move(rental_id: int, state: str, *, actor: User) -> Rental:
    """Move a rental to a state that needs nothing else; hand-over and end have actions of their own."""
    with transaction.atomic(durable=True):
        rental = locked_rental(rental_id)
        if rental.state == state:
            return rental
        if (
            not rental.may_move_to(state)
            or state in (State.ENDED, State.CANCELLED)
            or (state == State.ACTIVE and not rental.started_at)
        ):
            raise NotPossible(_("A rental that is %(state)s can't do this.") % {"state": rental.get_state_display()})
        rental.move_to(state, actor=actor)
        return rental


def plan(
    rental_id: int, *, host: str, planned_start_at: datetime | None, planned_end_at: datetime | None, actor: User
) -> Rental:
    """Assign the host and note the planned period; both ends may stay unknown."""
    if planned_start_at and planned_end_at and planned_end_at <= planned_start_at:
        raise NotPossible(_("The planned end must be after the planned start."))
    with transaction.atomic(durable=True):
        rental = locked_rental(rental_id)
        rental.host, rental.planned_start_at, rental.planned_end_at = host, planned_start_at, planned_end_at
        rental.save(update_fields=["host", "planned_start_at", "planned_end_at"])
        record(
            "rental.planned",
            subject=rental,
            thread=rental.order,
            actor=actor,
            start=planned_start_at,
            end=planned_end_at,
        )
        return rental


def hand_over(rental_id: int, access: Access, *, actor: User) -> Rental:
    """Publish access that the operator has checked: the period starts now and runs for the order's term (PRV-3)."""
    if not access.any():
        raise NotPossible(_("Hand-over needs access information."))
    with transaction.atomic(durable=True):
        rental = locked_rental(rental_id)
        if rental.state != State.READY:
            raise NotPossible(_("Only a machine that is ready can be handed over."))
        rental.access, rental.started_at = access.dump(), timezone.now()
        rental.ends_at = rental.started_at + timedelta(days=rental.order.term_days)
        rental.move_to(State.ACTIVE, columns=("access", "started_at", "ends_at"), actor=actor, ends_at=rental.ends_at)
        return rental


def show_access(rental_id: int, *, actor: User) -> Access:
    """Return the access information and record that it was shown (PRV-2)."""
    with transaction.atomic(durable=True):
        rental = locked_rental(rental_id)
        if rental.state != State.ACTIVE:
            raise NotPossible(_("Access is shown while the rental is active."))
        try:
            access = load(rental.access or "")
        except InvalidToken as lost:
            raise NotPossible(_("The access information can't be opened at the moment. Ask support.")) from lost
        record("access.shown", subject=rental, thread=rental.order, actor=actor)
        return access


def cancel_paid(rental_id: int, *, reason: str, actor: User) -> Rental:
    """Cancel a paid order whose machine was never handed over (ORD-9): its lots go back to stock and its sum to the
    balance, in one transaction. Again changes nothing."""
    if not reason.strip():
        raise NotPossible(_("Say why: it is kept with your name."))
    with transaction.atomic(durable=True):
        rental = locked_rental(rental_id)
        if rental.state == State.CANCELLED:
            return rental
        order = rental.order
        if order.customer_id == actor.pk:
            raise NotPossible(_("It is your own money: another person must decide about it."))
        if not rental.may_move_to(State.CANCELLED) or order.state != Order.State.SETTLED:
            raise NotPossible(_("The machine was handed over: the order can't be cancelled any more."))
        if order.needs_help_at:
            raise NotPossible(_("The network took its payment back: there is nothing to give back."))
        if hold := held(order):
            release(hold)
        rental.move_to(State.CANCELLED, actor=actor, reason=reason.strip())
        return_sum(order, actor=actor, reason=reason.strip())
        return rental


def end(rental_id: int, *, actor: User) -> Rental:
    """End a rental; its lots stay taken until the wipe is confirmed."""
    with transaction.atomic(durable=True):
        rental = locked_rental(rental_id)
        if rental.state == State.ENDED:
            return rental
        if not rental.may_move_to(State.ENDED):
            raise NotPossible(_("Only a running rental can be ended."))
        rental.ended_at, rental.access = timezone.now(), ""
        rental.move_to(State.ENDED, columns=("ended_at", "access"), actor=actor)
        return rental


def confirm_wipe(rental_id: int, *, actor: User) -> Rental:
    """Confirm that the machine was wiped: the lots return to stock, once (PRV-7)."""
    with transaction.atomic(durable=True):
        rental = locked_rental(rental_id)
        if rental.state != State.ENDED:
            raise NotPossible(_("The rental must end before its machine is wiped."))
        if rental.wiped_at is None:
            hold = held(rental.order)
            rental.wiped_at = timezone.now()
            rental.save(update_fields=["wiped_at"])
            record("rental.wiped", subject=rental, thread=rental.order, actor=actor)
            if hold:
                release(hold)
        return rental


def forget_access(customer_id: int) -> None:
    """Remove the access information of a customer's ended rentals: nobody can be shown it any more."""
    Rental.objects.filter(order__customer_id=customer_id, state=State.ENDED).update(access="")
