"""What a payer sends, against what was promised: exact, in parts, short, over, again."""

from typing import Any

import pytest
from story import books_are_right, kinds

from balance.models import House, Movement
from orders.actions import release
from orders.models import Hold, Order
from payments.models import Allocation, ChainTransfer, PaymentIntent

Quote, Funding, Settlement = PaymentIntent.Quote, PaymentIntent.Funding, PaymentIntent.Settlement
pytestmark = pytest.mark.django_db


def state(intent: PaymentIntent) -> tuple[str, str, str]:
    intent.refresh_from_db()
    return intent.quote, intent.funding, intent.settlement


def order_state(order: Order) -> tuple[str, str]:
    order.refresh_from_db()
    return order.state, order.payment


@pytest.mark.parametrize("code", ["eth", "usdt-ethereum"])
def test_pay_5_the_exact_amount_settles_the_order(shop: Any, code: str) -> None:
    order = shop.order()
    intent = shop.ask(order, code)
    shop.network.pay(intent)
    shop.network.watch()
    assert state(intent) == (Quote.OPEN, Funding.SEEN, Settlement.UNSETTLED) or state(intent)[1] == Funding.COVERED
    assert order_state(order) == ("open", "seen")
    shop.block()
    assert state(intent) == (Quote.OPEN, Funding.COVERED, Settlement.UNSETTLED)
    shop.block(2)
    assert state(intent) == (Quote.OPEN, Funding.COVERED, Settlement.SETTLED)
    assert order_state(order) == ("settled", "paid")
    assert shop.balance() == 0
    assert Allocation.objects.get().usd_cents == order.total_cents
    books_are_right()


def test_case_26_two_halves_in_different_blocks_settle_when_the_second_is_final(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    first = intent.amount * 6 // 10 + 1
    shop.network.pay(intent, first)
    shop.block(3)
    assert state(intent) == (Quote.OPEN, Funding.PARTIAL, Settlement.UNSETTLED)
    assert shop.balance() == 0
    shop.network.pay(intent, intent.amount - first)
    shop.block(2)
    assert state(intent) == (Quote.OPEN, Funding.COVERED, Settlement.UNSETTLED)
    shop.block()
    assert state(intent) == (Quote.OPEN, Funding.COVERED, Settlement.SETTLED)
    assert sum(Allocation.objects.values_list("usd_cents", flat=True)) == order.total_cents
    assert not Movement.objects.filter(kind=Movement.Kind.TOLERANCE).exists()
    books_are_right()


def test_case_28_twelve_parts_of_mixed_depth_settle_when_the_last_is_final(shop: Any) -> None:
    order = shop.order(lots=3)
    intent = shop.ask(order)
    part = intent.amount // 12
    for _ in range(11):
        shop.network.pay(intent, part)
        shop.block()
    shop.network.pay(intent, intent.amount - 11 * part)
    shop.block(2)
    assert state(intent)[2] == Settlement.UNSETTLED
    shop.block()
    assert state(intent)[2] == Settlement.SETTLED
    assert sum(Allocation.objects.values_list("usd_cents", flat=True)) == order.total_cents
    books_are_right()


def test_case_29_two_logs_of_one_transaction_are_two_transfers_and_scanning_again_changes_nothing(shop: Any) -> None:
    from payments.networks.simulated_chain import Payment
    from payments.registry import method

    order = shop.order()
    intent = shop.ask(order, "usdt-ethereum")
    contract = method(intent.method).asset.contract
    half = Payment(intent.address.address, intent.amount // 2, intent.method, contract)
    shop.network.chain.pay_many([half, half])
    shop.block(3)
    assert state(intent)[2] == Settlement.SETTLED
    assert sorted(ChainTransfer.objects.values_list("position", flat=True)) == ["log:0", "log:1"]
    before = Movement.objects.count()
    shop.network.chain.reorg(1)
    shop.block(3)
    assert (Movement.objects.count(), ChainTransfer.objects.count()) == (before, 2)
    books_are_right()


def test_short_within_the_tolerance_is_made_whole_by_the_house(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent, intent.amount * 996 // 1000)
    shop.block(3)
    assert state(intent) == (Quote.OPEN, Funding.COVERED, Settlement.SETTLED)
    assert order_state(order) == ("settled", "paid")
    gift = Movement.objects.get(kind=Movement.Kind.TOLERANCE)
    credited = Allocation.objects.get().usd_cents
    assert (gift.debit.house, gift.amount_cents + credited) == (House.TOLERANCE, order.total_cents)
    assert 0 < gift.amount_cents <= 50
    assert shop.balance() == 0
    books_are_right()


def test_case_5_short_beyond_the_tolerance_is_partial_and_at_expiry_credited_at_the_promised_rate(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent, intent.amount * 8 // 10)
    shop.block(4)
    assert state(intent) == (Quote.OPEN, Funding.PARTIAL, Settlement.UNSETTLED)
    assert shop.balance() == 0
    shop.end_of(intent)
    assert state(intent) == (Quote.EXPIRED, Funding.PARTIAL, Settlement.CREDITED)
    assert shop.balance() == 8_000
    assert order_state(order) == ("open", "none")
    assert not intent.late
    books_are_right()


def test_bal_3_the_rest_after_a_part_is_paid_from_the_balance(shop: Any) -> None:
    """The part stays credited; the whole is captured once credit covers it."""
    order, other = shop.order(), shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent, intent.amount * 8 // 10)
    shop.network.watch()
    shop.end_of(intent)
    shop.block(2)
    second = shop.ask(other)
    shop.network.pay(second, second.amount * 13 // 10)
    shop.block(3)
    assert shop.balance() >= 10_000

    from payments.actions.intents import pay_from_balance

    pay_from_balance(order.pk, actor=shop.customer)
    assert order_state(order) == ("settled", "paid")
    books_are_right()


@pytest.mark.parametrize(("tenths", "excess"), [(11, 1_000), (20, 10_091)])
def test_over_counts_at_the_promised_rate_up_to_110_percent_and_at_the_market_above(
    shop: Any, tenths: int, excess: int
) -> None:
    """$100.00 at 2,970 promised is 0.033671 ETH. Of twice that, 90 % count at the market's 3,000: $90.91."""
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent, intent.amount * tenths // 10)
    shop.block(3)
    assert state(intent) == (Quote.OPEN, Funding.OVER, Settlement.SETTLED)
    row = Allocation.objects.get()
    cap = intent.amount * 110 // 100
    assert row.locked_amount == min(intent.amount * tenths // 10, cap)
    market = row.market_amount * 3000 * 100 // 10**18
    assert row.usd_cents == row.locked_amount * 10_000 // intent.amount + market
    assert shop.balance() == row.usd_cents - 10_000
    assert shop.balance() == excess
    assert row.market_rate_e8 == (3000 * 10**8 if tenths > 11 else None)
    books_are_right()


def test_case_7_an_over_payment_is_judged_in_coins_never_in_later_dollars(shop: Any, settings: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    settings.FIXED_RATES = {"ETH": "2000", "USDT": "1"}
    shop.network.price()
    shop.network.pay(intent, intent.amount * 100_018 // 100_000)
    shop.block(3)
    assert state(intent) == (Quote.OPEN, Funding.OVER, Settlement.SETTLED)
    assert shop.balance() == 1  # $0.018 floored to the cent


def test_case_27_and_p12_a_second_payment_after_settlement_goes_to_the_balance(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent)
    shop.block(3)
    shop.network.pay(intent)
    shop.block(3)
    assert state(intent)[2] == Settlement.SETTLED
    assert order_state(order) == ("settled", "paid")
    # 10 % at the promised rate, the other 90 % at the market's
    assert 9_900 <= shop.balance() <= 10_100
    assert Movement.objects.filter(kind=Movement.Kind.CAPTURE).count() == 1
    assert "order.settled" in kinds(order)
    books_are_right()


def test_a_price_that_is_missing_for_an_excess_does_not_keep_the_promise_waiting(shop: Any) -> None:
    """The exact part was promised; only a *second* transfer, at the market, needs a price."""
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent)
    shop.clock.move_to(intent.expires_at)
    shop.network.mine()
    shop.wait(60)
    shop.network.pay(intent)  # late, and no price is known any more
    shop.block(3)
    assert state(intent)[2] == Settlement.SETTLED
    assert order_state(order) == ("settled", "paid")
    assert shop.balance() == 0
    shop.network.price()
    shop.network.watch()
    assert 9_900 <= shop.balance() <= 10_200
    books_are_right()


def test_a_price_that_is_missing_for_an_excess_in_time_does_not_keep_the_promise_waiting(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.wait(8)
    shop.network.pay(intent)
    shop.network.pay(intent)  # a tenth is promised too, the rest has no price
    shop.block(3)
    assert state(intent)[2] == Settlement.SETTLED
    assert order_state(order) == ("settled", "paid")
    assert shop.balance() == 0
    shop.network.price()
    shop.network.watch()
    assert 9_900 <= shop.balance() <= 10_100
    books_are_right()


def test_money_that_waits_for_a_price_takes_no_lots_meanwhile(shop: Any) -> None:
    """Lots that are taken to pay an order have no end: they must not be taken before it is paid."""
    order = shop.order()
    intent = shop.ask(order)
    release(Hold.objects.get(order=order))
    shop.wait(8)
    shop.network.pay(intent, 2 * intent.amount)
    shop.block(3)
    assert order_state(order) == ("open", "seen")
    assert shop.free() == 10
    shop.network.price()
    shop.network.watch()
    assert order_state(order) == ("settled", "paid")
    assert shop.free() == 9
    books_are_right()


def test_dust_has_no_effect(shop: Any) -> None:
    """A poisoner's wei: no word changes, no hold is kept, a cancellation is not refused, nothing is credited."""
    from orders.actions import cancel_order

    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent, 1)
    shop.block(4)
    assert state(intent) == (Quote.OPEN, Funding.NONE, Settlement.UNSETTLED)
    assert order_state(order) == ("open", "none")
    shop.network.pay(intent)
    shop.block(3)
    assert state(intent) == (Quote.OPEN, Funding.COVERED, Settlement.SETTLED)
    other = shop.order()
    poisoned = shop.ask(other)
    shop.network.pay(poisoned, 1)
    shop.block(4)
    shop.end_of(poisoned)
    assert state(poisoned) == (Quote.EXPIRED, Funding.NONE, Settlement.UNSETTLED)
    cancel_order(other.pk, actor=shop.customer)
    assert order_state(other) == ("cancelled", "none")
    assert ChainTransfer.objects.filter(credited=False).count() == 2
    books_are_right()
