"""A pause and what it stops at the same moment: once the pause is there, nothing new is saved any more."""

import pytest
from story import Network, ask, books_are_right, make_customer, make_offer, make_operator, save_order
from together import at_once

from accounts.models import User
from catalog.models import Offer, Pause
from catalog.pausing import pause
from orders.models import Order
from payments.models import PaymentIntent

pytestmark = pytest.mark.races


@pytest.mark.usefixtures("slow_saving")
def test_no_order_is_saved_after_the_pause_is(network: Network) -> None:
    """Nine customers save, an operator pauses; what is saved when the pause returns is all there will ever be."""
    offer, operator = make_offer(lots=20), make_operator()
    customers = [make_customer(f"{place}@example.com") for place in range(9)]

    def save(customer: User) -> int:
        return int(save_order(customer, offer).pk)

    def stop() -> int:
        pause([Pause.ORDERS], reason="stop", actor=operator)
        return Order.objects.count()

    works = [lambda c=c: save(c) for c in customers]
    outcomes = at_once([*works[:5], stop, *works[5:]], processes=10)
    assert outcomes[5].value == Order.objects.count()
    assert {one.error for one in outcomes} <= {"", "OrdersPaused"}
    assert Offer.objects.get().taken == Order.objects.count()


@pytest.mark.usefixtures("slow_motion")
def test_no_instructions_are_made_after_their_method_is_paused(network: Network) -> None:
    offer, operator = make_offer(lots=20), make_operator()
    orders = [save_order(make_customer(f"{place}@example.com"), offer) for place in range(6)]

    def stop() -> int:
        pause(["method:eth"], reason="stop", actor=operator)
        return PaymentIntent.objects.count()

    works = [lambda o=o: str(ask(o).pk) for o in orders]
    outcomes = at_once([*works[:3], stop, *works[3:]], processes=7)
    assert outcomes[3].value == PaymentIntent.objects.count()
    assert {one.error for one in outcomes} <= {"", "MethodPaused"}
    books_are_right()
