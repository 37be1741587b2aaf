"""Pausing an offer stops new orders; an order that exists keeps its claim to stock."""

from datetime import timedelta

import pytest
from story import Network, ask, books_are_right, make_customer, make_offer, make_operator, save_order

from orders import actions
from orders.errors import NotOffered
from orders.models import Order
from provisioning.models import Rental

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_order_whose_offer_was_paused_takes_its_lots_again_and_new_orders_do_not(network: Network) -> None:
    offer = make_offer(lots=2)
    order = save_order(make_customer(), offer)
    actions.end_hold(order.pk, now=order.created_at + timedelta(hours=2))
    offer.published = False
    offer.save(update_fields=["published"])
    with pytest.raises(NotOffered):
        save_order(order.customer, offer)
    network.pay(ask(order))
    network.settle()
    order.refresh_from_db()
    assert order.state == Order.State.SETTLED
    assert Rental.objects.get(order=order).state == Rental.State.QUEUED
    books_are_right()


def test_a_paid_order_that_waits_for_stock_gets_it_from_a_paused_offer(network: Network) -> None:
    offer, operator = make_offer(lots=1), make_operator()
    order = save_order(make_customer(), offer)
    network.pay(ask(order))
    network.watch()
    actions.end_hold(order.pk, now=order.created_at + timedelta(days=30))
    other = save_order(make_customer("b@example.com"), offer)
    network.settle()
    order.refresh_from_db()
    assert order.state == Order.State.SETTLED
    assert not Rental.objects.filter(order=order).exists()
    actions.cancel_order(other.pk, actor=other.customer)
    offer.published = False
    offer.save(update_fields=["published"])
    assert actions.take_stock(order.pk, actor=operator)
    books_are_right()
