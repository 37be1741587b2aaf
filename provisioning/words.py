"""Provisioning and period as words for the customer; a date that is not known is said so, never guessed (PRV-3)."""

from django.utils.translation import gettext_lazy as _

from orders.models import Order
from orders.words import Word

from .models import Rental

State = Rental.State
MEANINGS = {
    State.ACTIVE: "good",
    State.READY: "good",
    State.FAILED: "bad",
    State.SUSPENDED: "attention",
    State.ENDED: "attention",
    State.CANCELLED: "attention",
}
TEXTS = {
    State.QUEUED: _("Your order waits for an operator to assign a machine."),
    State.PREPARING: _("An operator is preparing your machine."),
    State.READY: _("The machine is prepared. Hand-over comes next; the period has not started."),
    State.ACTIVE: _("The machine is handed over."),
    State.SUSPENDED: _("The machine is suspended. Ask support why."),
    State.FAILED: _("Preparing failed. An operator is at it; the period has not started."),
    State.ENDED: _("The rental has ended."),
    State.CANCELLED: _("The order was cancelled before hand-over; its sum is in the balance."),
}


def provisioning_word(order: Order, rental: Rental | None, *, reserved: bool) -> Word:
    """Return the word; `reserved` says whether the order holds its lots, which matters until there is a rental."""
    if rental is not None:
        return Word(
            rental.state,
            rental.get_state_display(),
            MEANINGS.get(State(rental.state), "waiting"),
            TEXTS[State(rental.state)],
        )
    if order.state == Order.State.SETTLED and not reserved:
        text = _("The order is paid and no lots are free. It stands before an operator.")
        return Word("waiting_for_stock", _("paid, waiting for stock"), "attention", text)
    if order.state == Order.State.SETTLED:
        return Word("not_started", _("not started"), "waiting", _("The order is paid. Provisioning starts now."))
    if not order.is_payable:
        return Word("not_started", _("not started"), "attention", _("The order is closed: nothing starts any more."))
    return Word("not_started", _("not started"), "waiting", _("It starts by itself once the order is paid."))


def period_word(order: Order, rental: Rental | None) -> Word:
    if order.state in (Order.State.CANCELLED, Order.State.EXPIRED, Order.State.RETURNED):
        return Word("not_set", _("no period"), "attention", _("The order is closed."))
    if rental is None or rental.started_at is None:
        return Word("not_set", _("not set yet"), "waiting", _("The period starts at hand-over, not at payment."))
    if rental.state == State.ENDED:
        return Word("over", _("over"), "attention", at=rental.ended_at)
    return Word("running", _("running"), "good", _("It runs without pause until its end."), at=rental.ends_at)
