"""A little late, in parts, with the balance's help: what still pays the order, and what only becomes credit."""

from typing import Any

import pytest
from story import books_are_right, kinds, make_customer, save_order

from balance.models import Movement
from orders.models import Order
from payments import errors
from payments.actions import intents
from payments.models import Allocation, PaymentIntent

Quote, Settlement = PaymentIntent.Quote, PaymentIntent.Settlement
pytestmark = pytest.mark.django_db


def state(intent: PaymentIntent) -> tuple[str, str, bool]:
    intent.refresh_from_db()
    return intent.quote, intent.settlement, intent.late


def paid(order: Order) -> bool:
    order.refresh_from_db()
    return order.state == Order.State.SETTLED


def late(shop: Any, intent: PaymentIntent, minutes: float, *, eth: str | None = None, percent: int = 100) -> None:
    """Let the promise end, then pay so many minutes after its end, at another market price if one is given."""
    shop.end_of(intent)
    shop.wait(minutes - 1)
    if eth:
        shop.network.price({"ETH": eth})
    else:
        shop.network.price()
    shop.network.pay(intent, intent.amount * percent // 100)
    shop.network.mine()
    shop.block(3)


def test_money_up_to_30_minutes_late_pays_the_order_at_the_promised_rate(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    late(shop, intent, 29)
    assert state(intent) == (Quote.EXPIRED, Settlement.SETTLED, True)
    assert paid(order)
    assert [(a.locked_amount, a.market_amount) for a in Allocation.objects.all()] == [(intent.amount, 0)]
    assert shop.balance() == 0
    books_are_right()


def test_money_more_than_30_minutes_late_is_credit(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    late(shop, intent, 31)
    assert state(intent) == (Quote.EXPIRED, Settlement.CREDITED, True)
    assert not paid(order)
    assert [(a.locked_amount, a.market_amount) for a in Allocation.objects.all()] == [(0, intent.amount)]
    books_are_right()


@pytest.mark.parametrize(("price", "fair"), [("2945", True), ("2930", False), ("4000", True)])
def test_late_money_is_fair_only_if_it_is_worth_99_percent_at_the_market(shop: Any, price: str, fair: bool) -> None:
    """$100.00 at the promised 2,970: at 2,945 the amount is still worth $99.16, at 2,930 only $98.66."""
    order = shop.order()
    intent = shop.ask(order)
    late(shop, intent, 20, eth=price)
    assert paid(order) is fair
    if not fair:
        shop.wait(15)
        shop.block()
        assert state(intent)[1] == Settlement.CREDITED
    books_are_right()


def test_fewer_units_are_not_fair_even_if_the_market_rose(shop: Any) -> None:
    """Else the house would pay for a rise: the credit would be 80 % of the promise."""
    order = shop.order()
    intent = shop.ask(order)
    late(shop, intent, 20, eth="4000", percent=80)
    assert not paid(order)
    assert state(intent)[1] == Settlement.UNSETTLED  # more may come until the band is over
    shop.wait(15)
    shop.block()
    assert state(intent)[1] == Settlement.CREDITED
    assert shop.balance() == intent.amount * 80 // 100 * 4000 * 100 // 10**18
    books_are_right()


def test_a_part_on_time_and_a_part_a_little_late_pay_together_at_the_promised_rate(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent, intent.amount * 6 // 10)
    shop.block(3)
    late(shop, intent, 10, percent=40)
    assert paid(order)
    assert sum(a.market_amount for a in Allocation.objects.all()) == 0
    books_are_right()


def test_late_money_in_two_parts_waits_until_the_band_is_over_or_enough_is_there(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    late(shop, intent, 5, percent=50)
    assert not Allocation.objects.exists()
    shop.wait(10)
    shop.network.price()
    shop.network.pay(intent, intent.amount - intent.amount * 50 // 100)
    shop.block(3)
    assert paid(order)
    books_are_right()


def test_late_money_is_no_claim_on_lots_that_are_gone(shop: Any) -> None:
    order = shop.order(lots=10)
    intent = shop.ask(order)
    shop.end_of(intent, plus=5)
    shop.wait(1)
    shop.look_at_holds()
    if shop.free() < 10:  # the bare hold of the order still stands: let it end
        shop.wait(10)
    Order.objects.filter(pk=order.pk).update(created_at=order.created_at)
    from orders.actions import release
    from orders.models import Hold

    hold = Hold.objects.get(order=order, state=Hold.State.HELD)
    release(hold)
    other = save_order(make_customer("eve@example.com"), shop.offer, lots=5)
    assert other
    shop.network.price()
    shop.network.pay(intent)
    shop.block(3)
    assert not paid(order)
    assert state(intent) == (Quote.EXPIRED, Settlement.CREDITED, True)
    assert shop.free() == 5
    books_are_right()


def test_case_15_late_money_pays_the_order_if_the_customer_asked_for_it(shop: Any) -> None:
    order = shop.order()
    shop.network.price()
    shop.network.watch()
    intent = shop.ask(order)
    intents.choose_late(intent.pk, pay_if_late=True, actor=shop.customer)
    late(shop, intent, 6 * 60, eth="3300")
    assert paid(order)
    assert state(intent) == (Quote.EXPIRED, Settlement.CREDITED, True)
    assert shop.balance() == intent.amount * 3300 * 100 // 10**18 - 10_000
    assert Movement.objects.filter(kind=Movement.Kind.CAPTURE).count() == 1
    books_are_right()


def test_late_money_that_does_not_cover_the_order_pays_nothing_although_it_was_asked_for(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    intents.choose_late(intent.pk, pay_if_late=True, actor=shop.customer)
    late(shop, intent, 6 * 60, eth="2000")
    assert not paid(order)
    assert "intent.could_not_pay" in kinds(order)
    assert shop.balance() == intent.amount * 2000 * 100 // 10**18
    books_are_right()


def part(shop: Any, order: Order, percent: int, code: str = "eth") -> PaymentIntent:
    """Pay a part on time and let the promise end."""
    intent: PaymentIntent = shop.ask(order, code)
    shop.network.pay(intent, intent.amount * percent // 100)
    shop.network.watch()
    shop.end_of(intent)
    shop.block(3)
    return intent


def test_case_5_new_instructions_ask_for_the_rest_and_complete_the_order(shop: Any) -> None:
    order = shop.order()
    first = part(shop, order, 80)
    assert state(first)[:2] == (Quote.EXPIRED, Settlement.CREDITED)
    assert shop.balance() == 8_000
    second = shop.ask(order)
    assert second.usd_cents == 2_000
    shop.network.pay(second)
    shop.block(3)
    assert paid(order)
    assert state(second)[1] == Settlement.SETTLED
    assert shop.balance() == 0
    books_are_right()


def test_the_second_part_stays_credit_if_the_first_was_spent_meanwhile(shop: Any) -> None:
    order, other = shop.order(), save_order(shop.customer, shop.offer)
    part(shop, order, 80)
    second = shop.ask(order)
    part(shop, other, 30)
    intents.pay_from_balance(other.pk, actor=shop.customer)  # $80.00 + $30.00 pay the other order
    shop.network.price()
    shop.network.pay(second)
    shop.network.watch()
    shop.block(3)
    assert not paid(order)
    assert "intent.could_not_pay" in kinds(order)
    assert shop.balance() == 1_000 + 2_000
    books_are_right()


def test_parts_of_several_instructions_pay_together_once_they_cover_the_order(shop: Any) -> None:
    """Both were made for the whole; the second one was superseded by nothing and ended short as well."""
    order = shop.order()
    first = shop.ask(order)
    second = shop.ask(order, "usdt-ethereum")
    shop.network.pay(first, first.amount * 60 // 100)
    shop.network.pay(second, second.amount * 60 // 100)
    shop.network.watch()
    shop.end_of(second)
    shop.block(4)
    assert paid(order)
    assert shop.balance() == pytest.approx(2_000, abs=2)
    books_are_right()


def test_no_instructions_are_made_for_what_the_credit_covers(shop: Any) -> None:
    order = shop.order()
    part(shop, order, 80)
    late(shop, PaymentIntent.objects.get(), 120, percent=30)
    with pytest.raises(errors.CoveredByBalance):
        shop.ask(order)
    intents.pay_from_balance(order.pk, actor=shop.customer)
    assert paid(order)
    books_are_right()


def test_an_exchange_payer_has_an_hour_for_any_asset(shop: Any) -> None:
    shop.network.price()
    shop.network.watch()
    order = shop.order()
    import uuid

    intent = intents.open_intent(order.pk, "eth", form_key=uuid.uuid4(), actor=shop.customer, exchange=True)
    assert (intent.expires_at - intent.created_at).total_seconds() == 3600


def test_case_99_lots_are_free_once_no_instructions_can_pay_the_order_and_late_money_takes_none(shop: Any) -> None:
    order = shop.order(lots=10)
    intent = shop.ask(order)
    shop.end_of(intent)
    shop.wait(61)
    shop.look_at_holds()
    assert shop.free() == 10
    save_order(make_customer("eve@example.com"), shop.offer, lots=10)
    shop.network.price()
    shop.network.pay(intent)
    shop.block(4)
    assert not paid(order)
    assert shop.balance() > 0
    assert shop.free() == 0
    books_are_right()


def test_a_first_sight_is_inherited_by_a_raised_fee_and_not_by_a_raised_amount(shop: Any) -> None:
    """Else a hundredth in time would keep the old price open until the market has fallen far enough."""
    order = shop.order()
    intent = shop.ask(order)
    txid = shop.network.pay(intent, intent.amount // 100)
    shop.network.watch()
    shop.wait(6 * 60)
    shop.network.price({"ETH": "1500"})
    shop.network.chain.replace(txid, intent.address.address, intent.amount, method="eth")
    shop.block(4)
    assert not paid(order)
    assert state(intent) == (Quote.EXPIRED, Settlement.CREDITED, True)
    assert shop.balance() == intent.amount * 1500 * 100 // 10**18
    books_are_right()
