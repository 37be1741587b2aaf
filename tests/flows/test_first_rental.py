"""The first rental, end to end, on the simulated network."""

import pytest
from story import Network, ask, books_are_right, kinds, make_customer, make_offer, make_operator, save_order

from events.relay import drain
from orders.models import Order
from payments.models import PaymentIntent
from provisioning import actions as provisioning
from provisioning.access import Access
from provisioning.models import Rental

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_customer_orders_pays_exactly_and_gets_the_machine(network: Network) -> None:
    offer, operator = make_offer(), make_operator()
    order = save_order(make_customer(), offer, lots=2)
    intent = ask(order)
    network.pay(intent)
    network.watch()
    order.refresh_from_db()
    assert order.payment == Order.Payment.SEEN
    network.settle()

    order.refresh_from_db()
    intent.refresh_from_db()
    assert (order.state, order.payment) == (Order.State.SETTLED, Order.Payment.PAID)
    assert (intent.settlement, intent.funding) == (PaymentIntent.Settlement.SETTLED, PaymentIntent.Funding.COVERED)
    rental = Rental.objects.get(order=order)
    assert rental.state == Rental.State.QUEUED

    provisioning.move(rental.pk, Rental.State.PREPARING, actor=operator)
    provisioning.move(rental.pk, Rental.State.READY, actor=operator)
    rental = provisioning.hand_over(rental.pk, Access(ssh_host="gpu1.example", ssh_user="ada"), actor=operator)
    assert rental.ends_at
    assert rental.started_at
    assert (rental.ends_at - rental.started_at).days == 7
    drain()
    books_are_right()
    assert kinds(order) == [
        "order.placed",
        "intent.opened",
        "transfer.seen",
        "transfer.included",
        "transfer.final",
        "transfer.credited",
        "order.settled",
        "intent.settled",
        "rental.queued",
        "rental.preparing",
        "rental.ready",
        "rental.active",
    ]
