"""Money after the end, to older instructions, to several instructions, and for an order that is closed."""

from typing import Any

import pytest
from story import books_are_right, kinds

from balance.models import Movement
from orders.actions import cancel_order
from payments.actions import intents
from payments.errors import TransferLive
from payments.models import Allocation, PaymentIntent
from payments.pages import page_of

Quote, Funding, Settlement = PaymentIntent.Quote, PaymentIntent.Funding, PaymentIntent.Settlement
pytestmark = pytest.mark.django_db


def state(intent: PaymentIntent) -> tuple[str, str]:
    intent.refresh_from_db()
    return intent.quote, intent.settlement


def word(intent: PaymentIntent) -> str:
    intent.refresh_from_db()
    return page_of(intent).word.code


def test_case_15_late_money_is_credited_at_the_market_of_its_time_and_leaves_the_order_alone(
    shop: Any, settings: Any
) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.end_of(intent)
    assert state(intent) == (Quote.EXPIRED, Settlement.UNSETTLED)
    shop.wait(6 * 60)
    settings.FIXED_RATES = {"ETH": "1500"}
    shop.network.price()
    shop.network.pay(intent)
    shop.network.mine()
    shop.wait(4)
    settings.FIXED_RATES = {"ETH": "9999"}
    shop.wait(4)
    shop.network.price()  # the price when it becomes final, 8 minutes later, does not count
    shop.block(2)
    assert state(intent) == (Quote.EXPIRED, Settlement.CREDITED)
    assert intent.late
    assert shop.balance() == intent.amount * 1500 * 100 // 10**18 == 5_050
    order.refresh_from_db()
    assert (order.state, order.payment) == ("open", "none")
    assert str(page_of(intent).word.label) == "Paid late, credited"
    books_are_right()


def test_case_23_cancelled_then_paid_goes_to_the_balance(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.wait(1)
    intents.cancel(intent.pk, actor=shop.customer)
    shop.wait(1)
    shop.network.pay(intent)
    shop.block(3)
    assert state(intent) == (Quote.CANCELLED, Settlement.CREDITED)
    assert shop.balance() == intent.amount * 3000 * 100 // 10**18
    order.refresh_from_db()
    assert order.state == "open"
    books_are_right()


def test_a_transfer_that_is_live_refuses_a_cancellation(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent)
    shop.network.watch()
    with pytest.raises(TransferLive):
        intents.cancel(intent.pk, actor=shop.customer)
    assert state(intent)[0] == Quote.OPEN


def test_superseded_instructions_are_honoured_until_their_own_end(shop: Any) -> None:
    order = shop.order()
    first = shop.ask(order)
    shop.wait(5)
    second = shop.ask(order, "usdt-ethereum")
    assert (state(first)[0], state(second)[0]) == (Quote.SUPERSEDED, Quote.OPEN)
    shop.wait(5)
    shop.network.pay(first)
    shop.block(3)
    assert state(first) == (Quote.SUPERSEDED, Settlement.SETTLED)
    order.refresh_from_db()
    assert order.state == "settled"
    assert Allocation.objects.get().market_amount == 0
    books_are_right()


def test_superseded_instructions_after_their_own_end_are_late(shop: Any) -> None:
    order = shop.order()
    first = shop.ask(order)
    shop.wait(5)
    shop.ask(order, "usdt-ethereum")
    shop.end_of(first)
    shop.network.price()
    shop.network.pay(first)
    shop.block(3)
    assert state(first) == (Quote.SUPERSEDED, Settlement.CREDITED)
    assert first.late
    order.refresh_from_db()
    assert order.state == "open"
    books_are_right()


def test_case_p12_of_two_instructions_that_are_both_paid_one_settles_and_the_other_is_credit(shop: Any) -> None:
    order = shop.order()
    first = shop.ask(order)
    second = shop.ask(order, "usdt-ethereum")
    shop.network.pay(first)
    shop.network.pay(second)
    shop.block(3)
    assert sorted([state(first)[1], state(second)[1]]) == [Settlement.CREDITED, Settlement.SETTLED]
    assert shop.balance() == order.total_cents  # on time: the other promise's own rate
    assert Movement.objects.filter(kind=Movement.Kind.CAPTURE).count() == 1
    books_are_right()


def test_case_34_equal_amounts_at_the_same_time_have_different_addresses(shop: Any) -> None:
    one, other = shop.ask(shop.order()), shop.ask(shop.order())
    assert one.amount == other.amount
    assert one.address_id != other.address_id
    shop.network.pay(other)
    shop.block(3)
    assert (state(one)[1], state(other)[1]) == (Settlement.UNSETTLED, Settlement.SETTLED)


def test_money_for_a_cancelled_order_is_credited_at_the_promised_rate(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    cancel_order(order.pk, actor=shop.customer)
    shop.network.pay(intent)
    shop.block(3)
    assert state(intent)[1] == Settlement.CREDITED
    assert shop.balance() == order.total_cents
    order.refresh_from_db()
    assert (order.state, order.payment) == ("cancelled", "none")
    books_are_right()


@pytest.mark.parametrize("closed_by", ["cancel", "balance", "other instructions"])
def test_pay_9_instructions_of_a_closed_order_are_offered_no_more(shop: Any, closed_by: str) -> None:
    order = shop.order()
    intent = shop.ask(order)
    assert page_of(intent).may_send
    if closed_by == "cancel":
        cancel_order(order.pk, actor=shop.customer)
    elif closed_by == "balance":
        rich(shop)
        intents.pay_from_balance(order.pk, actor=shop.customer)
    else:
        other = shop.ask(order, "usdt-ethereum")
        shop.network.pay(intent)
        shop.block(3)
        intent = other
    intent = PaymentIntent.objects.get(pk=intent.pk)
    assert state(intent) == (Quote.OPEN, Settlement.UNSETTLED)
    assert not page_of(intent).may_send
    assert page_of(intent).word.code == "closed"


def rich(shop: Any, cents: int = 10_000) -> None:
    from balance.actions import credit
    from balance.models import House

    credit(
        shop.customer, cents, house=House.ADJUSTMENTS, kind=Movement.Kind.ADJUSTMENT, reference=f"gift:{cents}",
        actor=shop.customer, reason="a test",
    )  # fmt: skip


def test_never_settled_and_then_expired(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent)
    shop.block(3)
    shop.end_of(intent)
    shop.end_of(intent, plus=48 * 60)
    assert state(intent) == (Quote.OPEN, Settlement.SETTLED)
    assert "intent.expired" not in kinds(order)


def test_a_credit_that_a_debt_took_leaves_the_order_open_and_gives_no_shortfall_away(shop: Any) -> None:
    from balance.actions import reverse
    from balance.models import Account

    rich(shop, 5_000)
    gift = Movement.objects.get(reference="gift:5000")
    spent = shop.order()
    rich(shop, 6_000)
    intents.pay_from_balance(spent.pk, actor=shop.customer)
    reverse(gift, reference="gift:5000:reversed", actor=shop.customer, reason="a test")
    assert Account.objects.get(customer=shop.customer).balance_cents == -4_000

    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent, intent.amount * 997 // 1000)
    shop.block(3)
    assert state(intent)[1] == Settlement.CREDITED
    order.refresh_from_db()
    assert (order.state, order.payment) == ("open", "none")
    assert not Movement.objects.filter(kind=Movement.Kind.TOLERANCE).exists()
    assert "intent.could_not_pay" in kinds(order)
    books_are_right()
    rich(shop, 4_100)
    intents.pay_from_balance(order.pk, actor=shop.customer)
    books_are_right()
