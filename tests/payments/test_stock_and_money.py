"""ORD-6: holds, promises and paid orders that wait for stock. Never oversold, never dropped."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from story import books_are_right, kinds, make_customer, make_operator, save_order

from balance.models import Movement
from catalog.models import Offer
from events.relay import drain
from orders import actions as orders
from orders.errors import HeldTooMuch, NotCancellable
from orders.models import Hold, Order
from orders.tasks import expire_orders
from payments import errors
from payments.actions import intents
from payments.models import PaymentIntent
from provisioning.models import Rental

Settlement = PaymentIntent.Settlement
pytestmark = pytest.mark.django_db


def hold(order: Order) -> Hold:
    return Hold.objects.filter(order=order).latest("pk")


def fresh(order: Order) -> Order:
    return Order.objects.get(pk=order.pk)


def gift(shop: Any, cents: int) -> None:
    from balance.actions import credit
    from balance.models import House

    credit(
        shop.customer, cents, house=House.ADJUSTMENTS, kind=Movement.Kind.ADJUSTMENT, reference=f"gift:{cents}",
        actor=shop.customer, reason="a test",
    )  # fmt: skip


def test_a_live_promise_keeps_the_hold_a_day_past_its_end_and_its_real_end_cuts_that_back(shop: Any) -> None:
    order = shop.order()
    shop.wait(50)
    intent = shop.ask(order)
    assert hold(order).until == intent.expires_at + timedelta(hours=24)
    shop.wait(16)
    shop.look_at_holds()  # minute 66: past the bare hold, and nobody has watched beyond the end
    assert shop.free() == 9
    shop.block()
    assert hold(order).until == order.created_at + timedelta(minutes=60)
    shop.look_at_holds()
    assert shop.free() == 10
    assert (fresh(order).state, hold(order).state) == ("open", "released")


def test_case_s13_a_transfer_seen_at_minute_59_keeps_the_lots_until_it_is_final(shop: Any) -> None:
    order = shop.order()
    shop.wait(46)
    intent = shop.ask(order)
    shop.wait(13)
    shop.network.pay(intent)
    shop.network.watch()
    shop.wait(16)
    shop.look_at_holds()
    assert shop.free() == 9
    shop.block(3)
    assert fresh(order).state == "settled"
    assert hold(order).until is None
    shop.wait(60 * 24 * 3)
    shop.look_at_holds()
    expire_orders()
    assert shop.free() == 9
    books_are_right()


def test_a_transfer_that_stays_in_the_pool_keeps_the_lots_a_day_at_most(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent)
    shop.network.watch()
    shop.wait(24 * 60 + 16)
    shop.network.watch()
    shop.look_at_holds()
    assert shop.free() == 10
    assert fresh(order).state == "open"
    shop.block(3)
    assert fresh(order).state == "settled"
    assert shop.free() == 9
    books_are_right()


def test_renewals_without_a_transfer_never_keep_lots_beyond_three_hours_after_saving(shop: Any) -> None:
    order = shop.order()
    while timezone.now() < order.created_at + timedelta(hours=8):
        shop.block()
        if hold(order).state == "held":
            intent = shop.ask(order)
        shop.wait(14)
        shop.network.watch()
        shop.look_at_holds()
    assert hold(order).state == "released"
    assert hold(order).released_at < order.created_at + timedelta(hours=3, minutes=45)
    assert intent.created_at < hold(order).released_at


def test_new_instructions_take_stock_again_at_the_frozen_price(shop: Any) -> None:
    order = shop.order(lots=2)
    shop.wait(61)
    shop.look_at_holds()
    assert shop.free() == 10
    shop.offer.prices.update(unit_price_cents=99_900)
    intent = shop.ask(order)
    assert intent.usd_cents == 20_000
    assert shop.free() == 8
    assert "order.held_again" in kinds(order)
    shop.network.pay(intent)
    shop.block(3)
    assert fresh(order).state == "settled"
    books_are_right()


def test_nothing_left_says_so_and_promises_nothing(shop: Any) -> None:
    order = shop.order(lots=2)
    shop.wait(61)
    shop.look_at_holds()
    Offer.objects.update(lots=1)
    with pytest.raises(errors.NothingLeft, match=r"none are left now. Nothing is reserved: do not pay yet"):
        shop.ask(order)
    assert not PaymentIntent.objects.exists()
    gift(shop, 20_000)
    with pytest.raises(errors.NothingLeft):
        intents.pay_from_balance(order.pk, actor=shop.customer)
    assert shop.balance() == 20_000
    assert fresh(order).state == "open"
    assert shop.free() == 1


def test_taking_lots_again_counts_against_the_limit_of_lots_held_unpaid(shop: Any) -> None:
    """Else a customer keeps any number of lots: save, let it end, save again, and ask for instructions everywhere."""
    Offer.objects.update(lots=100)
    old = [shop.order(lots=10), shop.order(lots=10)]
    shop.wait(61)
    shop.look_at_holds()
    shop.order(lots=10)
    shop.ask(old[0])
    with pytest.raises(HeldTooMuch):
        shop.ask(old[1])
    assert shop.free() == 80


def test_on_time_money_that_settles_while_nothing_is_held_takes_stock(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent, intent.amount // 2)
    shop.block(3)
    orders.release(hold(order))
    assert shop.free() == 10
    shop.network.pay(intent, intent.amount - intent.amount // 2)
    shop.block(3)
    assert (fresh(order).state, shop.free()) == ("settled", 9)
    assert Rental.objects.filter(order=order).exists()


def test_case_p1_paid_without_stock_waits_and_an_operator_reserves_it(shop: Any) -> None:
    operator, other = make_operator(), make_customer("bob@example.com")
    Offer.objects.update(lots=1)
    order = shop.order()
    intent = shop.ask(order)
    orders.release(hold(order))
    taken = save_order(other, shop.offer)
    shop.network.pay(intent)
    shop.block(3)
    assert (fresh(order).state, fresh(order).payment) == ("settled", "paid")
    assert not Rental.objects.filter(order=order).exists()
    assert "order.waiting_for_stock" in kinds(order)
    shop.offer.refresh_from_db()
    assert (shop.offer.lots, shop.offer.taken) == (1, 1)
    books_are_right()

    assert not orders.take_stock(order.pk, actor=operator)
    assert not orders.take_stock(taken.pk, actor=operator)  # not paid
    orders.cancel_order(taken.pk, actor=other)
    assert orders.take_stock(order.pk, actor=operator)
    drain()
    assert Rental.objects.get(order=order).state == "queued"
    assert orders.take_stock(order.pk, actor=operator)  # again: nothing more is taken
    assert shop.free() == 0
    books_are_right()


def test_the_page_says_that_a_paid_order_waits_for_stock(shop: Any, client: Any) -> None:
    Offer.objects.update(lots=1)
    order = shop.order()
    intent = shop.ask(order)
    orders.release(hold(order))
    save_order(make_customer("bob@example.com"), shop.offer)
    shop.network.pay(intent)
    shop.block(3)
    client.force_login(shop.customer)
    html = client.get(f"/orders/{order.number}/").content.decode()
    assert "The order is paid and no lots are free. It stands before an operator." in html
    assert "Paid, waiting for stock." in html


def test_a_paid_order_with_its_lots_never_says_that_it_waits_for_stock(shop: Any, client: Any) -> None:
    """Between settlement and the relay's next round there is no rental yet: provisioning starts now."""
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent)
    shop.network.mine(3)
    assert fresh(order).state == "settled"
    assert not Rental.objects.exists()
    client.force_login(shop.customer)
    for url in (f"/orders/{order.number}/", "/orders/"):
        html = client.get(url).content.decode()
        assert "aiting for stock" not in html
    assert "Paid. Provisioning starts now." in client.get(f"/orders/{order.number}/").content.decode()


# --- BAL-3 --------------------------------------------------------------------------------------------------------
def test_bal_3_the_balance_pays_the_whole_amount_or_nothing(shop: Any, client: Any) -> None:
    order = shop.order()
    gift(shop, 9_999)
    client.force_login(shop.customer)
    html = client.post(f"/orders/{order.number}/pay/balance/", follow=True).content.decode()
    assert "Your balance is $99.99 and this order needs $100.00. Nothing was debited." in html
    assert (fresh(order).state, shop.balance()) == ("open", 9_999)
    gift(shop, 1)
    for _ in range(2):  # a double click debits once
        client.post(f"/orders/{order.number}/pay/balance/")
    assert (fresh(order).state, shop.balance()) == ("settled", 0)
    assert Movement.objects.filter(kind=Movement.Kind.CAPTURE).count() == 1
    drain()
    assert Rental.objects.filter(order=order).exists()
    books_are_right()


def test_case_l1_two_orders_and_one_balance_cannot_overdraw_it(shop: Any) -> None:
    one, other = shop.order(), shop.order()
    gift(shop, 15_000)
    intents.pay_from_balance(one.pk, actor=shop.customer)
    with pytest.raises(errors.BalanceTooSmall, match=r"Your balance is \$50.00 and this order needs \$100.00"):
        intents.pay_from_balance(other.pk, actor=shop.customer)
    assert shop.balance() == 5_000
    assert (fresh(other).state, hold(other).state) == ("open", "held")


def test_bal_3_paying_from_the_balance_takes_stock_again(shop: Any) -> None:
    order = shop.order()
    shop.wait(61)
    shop.look_at_holds()
    gift(shop, 10_000)
    intents.pay_from_balance(order.pk, actor=shop.customer)
    assert (fresh(order).state, shop.free(), hold(order).until) == ("settled", 9, None)


@pytest.mark.parametrize("state", ["cancelled", "expired"])
def test_a_closed_order_takes_neither_balance_nor_instructions(shop: Any, state: str) -> None:
    order = shop.order()
    gift(shop, 10_000)
    if state == "cancelled":
        orders.cancel_order(order.pk, actor=shop.customer)
    else:
        shop.wait(15 * 24 * 60)
        shop.look_at_holds()
        expire_orders()
    assert fresh(order).state == state
    with pytest.raises(errors.NotPayable):
        intents.pay_from_balance(order.pk, actor=shop.customer)
    with pytest.raises(errors.NotPayable):
        shop.ask(order)
    assert (shop.balance(), shop.free()) == (10_000, 10)


# --- the end of an order --------------------------------------------------------------------------------------------
def test_an_order_expires_after_14_days_never_while_a_promise_may_be_kept(shop: Any) -> None:
    order = shop.order()
    shop.wait(61)
    shop.look_at_holds()
    shop.clock.move_to(order.created_at + timedelta(days=14) - timedelta(minutes=61))
    shop.ask(order, "eth")
    shop.wait(30)
    second = shop.ask(order, "usdt-ethereum")  # 31 minutes before, for 60 minutes: it prolongs no hold
    shop.wait(32)
    shop.block()
    shop.look_at_holds()
    assert hold(order).state == "released"
    expire_orders()
    assert not orders.expire_order(order.pk, created_before=timezone.now())
    assert fresh(order).state == "open"
    shop.network.pay(second)
    shop.block(3)
    assert fresh(order).state == "settled"


def test_ord_6_a_transfer_seen_keeps_lots_that_no_promise_keeps_for_24_hours_at_most(shop: Any) -> None:
    order = shop.order()
    shop.wait(61)
    shop.look_at_holds()
    shop.wait(180)
    shop.ask(order, "eth")  # takes the lots again, four hours after saving
    shop.wait(40)
    shop.block()
    second = shop.ask(order, "usdt-ethereum")  # prolongs nothing
    shop.network.pay(second)
    seen_at = timezone.now()
    shop.network.watch()
    assert hold(order).until == seen_at + timedelta(hours=24)
    shop.clock.move_to(seen_at + timedelta(hours=24))
    shop.look_at_holds()
    assert hold(order).state == "held"
    shop.wait(1)
    shop.look_at_holds()
    assert hold(order).state == "released"


def test_an_order_expires_after_14_days_once_its_promises_have_ended(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.end_of(intent)
    shop.clock.move_to(order.created_at + timedelta(days=14))
    shop.look_at_holds()
    expire_orders()
    assert fresh(order).state == "open"
    shop.wait(1)
    expire_orders()
    assert fresh(order).state == "expired"
    assert kinds(order)[-1] == "order.expired"
    books_are_right()


def test_an_order_whose_payment_was_seen_does_not_expire_and_is_not_cancelled(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent)
    shop.network.watch()
    with pytest.raises(NotCancellable):
        orders.cancel_order(order.pk, actor=shop.customer)
    shop.wait(15 * 24 * 60)
    shop.network.watch()
    shop.look_at_holds()
    expire_orders()
    assert fresh(order).state == "open"
    shop.block(3)
    assert fresh(order).state == "settled"


def test_a_settled_order_whose_machine_was_wiped_takes_no_lots_again(shop: Any) -> None:
    from provisioning import actions as provisioning
    from provisioning.access import Access

    operator = make_operator()
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent)
    shop.block(3)
    rental = Rental.objects.get(order=order)
    for state in ("preparing", "ready"):
        provisioning.move(rental.pk, state, actor=operator)
    provisioning.hand_over(rental.pk, Access(ssh_host="gpu1"), actor=operator)
    shop.wait(60)
    provisioning.end(rental.pk, actor=operator)
    assert shop.free() == 9
    provisioning.confirm_wipe(rental.pk, actor=operator)
    assert shop.free() == 10
    assert not orders.take_stock(order.pk, actor=operator)
    assert shop.free() == 10
    books_are_right()
