"""A provider that refuses for a while, more promises than addresses in reserve, amounts that never fail, exchanges."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from story import ask, books_are_right, make_customer, make_offer, save_order

from events.models import Event
from orders.models import Order
from payments.actions import intents
from payments.errors import NetworkUnwatched
from payments.models import ChainTransfer, PaymentIntent, ReservedAddress, ReviewItem, TopUp
from payments.networks.simulated_chain import Payment
from payments.pages import page_of
from payments.queries import offered_methods, ours_among
from payments.registry import method
from payments.tasks import fill_reserves

pytestmark = pytest.mark.django_db
Quote, Settlement = PaymentIntent.Quote, PaymentIntent.Settlement


def test_case_18_a_provider_that_refuses_for_twenty_minutes_changes_no_promise_and_makes_no_new_one(shop: Any) -> None:
    """A node that answers "429 Too Many Requests" is one that does not answer now: the watcher sees Unavailable."""
    order, other = shop.order(), shop.order()
    intent = shop.ask(order)
    shop.network.chain.go_down()
    shop.network.pay(intent)
    shop.network.chain.mine()
    for _ in range(20):
        shop.wait(1)
        assert not shop.network.watch()
        assert page_of(PaymentIntent.objects.get(pk=intent.pk)).word.code == "waiting"
    shop.network.price()
    with pytest.raises(NetworkUnwatched, match="have not been able to watch Ethereum since 1 May 2026, 12:00 UTC"):
        ask(other)
    reasons = {one.method.code: str(one.reason) for one in offered_methods(10_000, timezone.now())}
    assert "have not been able to watch Ethereum" in reasons["eth"]

    shop.network.chain.come_up()
    shop.network.watch()
    shop.block(3)
    order.refresh_from_db()
    assert (order.state, PaymentIntent.objects.get(pk=intent.pk).quote) == (Order.State.SETTLED, Quote.OPEN)
    shop.network.price()
    assert ask(other).quote == Quote.OPEN
    books_are_right()


def test_case_18_promises_that_nobody_pays_do_not_use_up_the_addresses(shop: Any, settings: Any) -> None:
    """Three hundred here, from a reserve of thirty: each refill makes as many as were given, so the number in all does
    not matter; nor does it to the look-up, which is by address."""
    settings.RESERVE_SIZE, settings.RESERVE_LOW = 30, 5
    fill_reserves()
    given: set[str] = set()
    for n in range(30):
        order = save_order(make_customer(f"p{n}@example.com"), make_offer(lots=1, name=f"Offer {n}"))
        for _ in range(10):
            intent = shop.ask(order)
            given.add(intent.address.address)
            intents.cancel(intent.pk, actor=order.customer)
        fill_reserves()
    assert len(given) == 300
    assert ReservedAddress.objects.filter(network="ethereum", issued_at=None).count() == 30
    assert ours_among("ethereum", given) == given
    assert shop.ask(shop.order()).quote == Quote.OPEN


@pytest.mark.parametrize("minutes", [0, 20, 45], ids=["case-14-in time", "case-14-a little late", "case-14-late"])
@pytest.mark.parametrize("thousandths", [1, 500, 997, 1000, 1001, 1300, 40_000])
def test_no_amount_that_arrives_ever_fails(shop: Any, thousandths: int, minutes: int) -> None:
    intent = shop.ask(shop.order())
    if minutes:
        shop.clock.move_to(intent.expires_at)
        shop.wait(minutes - 15)
        shop.block()
        shop.network.price()
    paid = intent.amount * thousandths // 1000
    shop.network.pay(intent, paid)
    shop.network.watch()
    shop.block(4)
    shop.wait(60)
    shop.block()
    intent.refresh_from_db()
    transfer = ChainTransfer.objects.get()
    assert intent.settlement in (Settlement.SETTLED, Settlement.CREDITED)
    assert (transfer.amount, transfer.credited) == (paid, True)
    told = [event for event in Event.objects.all() if re.fullmatch(r"intent\.(partial|over|late)", event.kind)]
    assert all(event.data["received"] == str(paid) for event in told)
    assert {event.kind for event in told} >= ({"intent.late"} if minutes else set())
    assert bool(told) == (minutes > 0 or thousandths not in (997, 1000))
    books_are_right()


def test_case_14_no_state_of_money_is_named_failed() -> None:
    named = [Quote, PaymentIntent.Funding, Settlement, ChainTransfer.Status, TopUp.State, Order.State, Order.Payment]
    assert not [value for choices in named for value in choices.values if "fail" in value]


def test_case_35_money_from_the_wallet_of_an_exchange_settles_with_no_question_asked(shop: Any) -> None:
    """One transaction pays many people; whose address it comes from is never looked at, and never needed."""
    order = shop.order()
    shop.network.price()
    shop.network.watch()
    intent = intents.open_intent(order.pk, "usdt-ethereum", form_key=order.form_key, actor=shop.customer, exchange=True)
    assert intent.expires_at - intent.created_at == timedelta(hours=1)
    usdt = method("usdt-ethereum").asset
    to = ["sim" + "q" * 40, intent.address.address, "sim" + "p" * 40]
    shop.network.chain.pay_many([Payment(address, intent.amount, usdt.method, usdt.contract) for address in to])
    shop.wait(40)
    shop.block(4)
    order.refresh_from_db()
    assert (order.state, ChainTransfer.objects.get().position) == (Order.State.SETTLED, "log:1")
    assert not ReviewItem.objects.exists()
    books_are_right()
