"""ORD-9: an operator cancels a paid order before hand-over; its sum and its lots go back once, and never after it."""

import uuid
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from story import books_are_right, give, kinds, make_customer, make_offer, make_operator, save_order

from accounts.models import User
from balance.actions import ensure_house_accounts
from balance.queries import available_cents
from events.relay import drain
from orders.actions import ask_for_help, locked
from orders.models import Hold, Order
from payments.actions.intents import pay_from_balance
from provisioning import actions
from provisioning.access import Access
from provisioning.actions import NotPossible, cancel_paid
from provisioning.models import Rental

pytestmark = pytest.mark.django_db(transaction=True)
State = Rental.State


@pytest.fixture
def operator(db: None) -> User:
    made: User = make_operator()
    return made


@pytest.fixture
def rental(operator: User) -> Rental:
    """Return the queued rental of a paid order of two lots."""
    ensure_house_accounts()
    order = save_order(make_customer(), make_offer(), lots=2)
    give(order.customer, order.total_cents)
    pay_from_balance(order.pk, actor=order.customer)
    drain()
    return Rental.objects.get(order=order)


def fresh(rental: Rental) -> Order:
    return Order.objects.select_related("customer", "offer").get(pk=rental.order_id)


@pytest.mark.parametrize("steps", [(), ("preparing",), ("preparing", "ready"), ("failed",)])
def test_ord_9_the_sum_goes_to_the_balance_and_the_lots_to_stock_once(
    rental: Rental, operator: User, steps: tuple[str, ...]
) -> None:
    for step in steps:
        actions.move(rental.pk, step, actor=operator)
    for _ in range(2):
        assert cancel_paid(rental.pk, reason="asked for it", actor=operator).state == State.CANCELLED
    order = fresh(rental)
    assert (order.state, available_cents(order.customer)) == (Order.State.RETURNED, order.total_cents)
    assert (order.offer.taken, Hold.objects.filter(state="held").count()) == (0, 0)
    assert kinds(order)[-2:] == ["rental.cancelled", "order.returned"]
    drain()
    assert Rental.objects.get().state == State.CANCELLED  # and no other one begins
    with pytest.raises(NotPossible):
        actions.move(rental.pk, State.QUEUED, actor=operator)
    books_are_right()


def test_ord_9_what_was_handed_over_is_not_cancelled(rental: Rental, operator: User) -> None:
    for step in (State.PREPARING, State.READY):
        actions.move(rental.pk, step, actor=operator)
    actions.hand_over(rental.pk, Access(ssh_host="gpu.example.net"), actor=operator)
    with pytest.raises(NotPossible, match="handed over"):
        cancel_paid(rental.pk, reason="asked for it", actor=operator)
    actions.end(rental.pk, actor=operator)
    with pytest.raises(NotPossible):
        cancel_paid(rental.pk, reason="asked for it", actor=operator)
    assert available_cents(fresh(rental).customer) == 0
    books_are_right()


def test_nobody_cancels_without_a_reason_nor_for_themselves_nor_what_the_network_took_back(
    rental: Rental, operator: User
) -> None:
    order = fresh(rental)
    with pytest.raises(NotPossible, match="why"):
        cancel_paid(rental.pk, reason=" ", actor=operator)
    with pytest.raises(NotPossible, match="own money"):
        cancel_paid(rental.pk, reason="mine", actor=order.customer)
    with pytest.raises(NotPossible):
        actions.move(rental.pk, State.CANCELLED, actor=operator)
    with transaction.atomic():
        ask_for_help(locked(order.pk))
    with pytest.raises(NotPossible, match="took its payment back"):
        cancel_paid(rental.pk, reason="asked for it", actor=operator)
    assert (fresh(rental).state, available_cents(order.customer)) == (Order.State.SETTLED, 0)
    books_are_right()


def test_an_operator_sees_what_it_does_and_says_why(rental: Rental, operator: User, settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    browser, order = Client(), fresh(rental)
    browser.force_login(operator)
    page = reverse("admin:rental_cancel", args=[rental.pk])
    assert page in browser.get(reverse("admin:provisioning_rental_change", args=[rental.pk])).content.decode()
    shown = browser.get(page).content.decode()
    assert "$200.00" in shown and order.customer.email in shown
    browser.post(page, {"reason": ""})
    assert fresh(rental).state == Order.State.SETTLED
    browser.post(page, {"reason": f"asked for it {uuid.uuid4()}"})
    assert fresh(rental).state == Order.State.RETURNED
    assert page not in browser.get(reverse("admin:provisioning_rental_change", args=[rental.pk])).content.decode()
