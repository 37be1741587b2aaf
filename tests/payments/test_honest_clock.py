"""An intent expires only by what was watched. While our node is down, the customer's clock stands still."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from story import ask, books_are_right, cursor

from payments.errors import NetworkUnwatched
from payments.models import PaymentIntent
from payments.pages import page_of
from payments.polled import intent_polled

Quote, Settlement = PaymentIntent.Quote, PaymentIntent.Settlement
pytestmark = pytest.mark.django_db


def state(intent: PaymentIntent) -> tuple[str, str]:
    intent.refresh_from_db()
    return intent.quote, intent.settlement


def word(intent: PaymentIntent) -> str:
    return page_of(PaymentIntent.objects.get(pk=intent.pk)).word.code


def test_case_17_a_node_that_is_down_across_the_window_expires_nobody(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order, "usdt-ethereum")
    shop.wait(2)
    shop.network.chain.go_down()
    shop.wait(3)
    shop.network.pay(intent)
    shop.network.chain.mine()  # minute 5: in time, and nobody of us looks
    for _ in range(8):
        shop.wait(10)
        shop.network.chain.mine()
        assert not shop.network.watch()
    assert timezone.now() > intent.expires_at
    assert state(intent) == (Quote.OPEN, Settlement.UNSETTLED)
    assert word(intent) == "waiting"
    page = page_of(PaymentIntent.objects.get(pk=intent.pk))
    assert page.waits_for_clock
    polled = intent_polled(shop.customer, intent.pk, timezone.now())
    assert polled and polled.looked.seconds == 85 * 60
    assert not page.may_send
    shop.network.chain.come_up()
    shop.network.watch()
    assert state(intent) == (Quote.OPEN, Settlement.SETTLED)
    assert not intent.late
    books_are_right()


def test_case_17_the_same_without_money_expires_once_the_window_was_watched(shop: Any) -> None:
    intent = shop.ask(shop.order())
    shop.network.chain.go_down()
    shop.wait(60)
    shop.network.chain.mine()
    shop.network.watch()
    assert state(intent)[0] == Quote.OPEN
    shop.network.chain.come_up()
    shop.network.watch()
    assert state(intent)[0] == Quote.EXPIRED
    assert not intent.unwatched


def test_a_lagging_node_expires_nobody(shop: Any) -> None:
    intent = shop.ask(shop.order())
    shop.wait(16)
    shop.network.chain.mine(2)
    shop.network.chain.lag(2)
    shop.network.watch()
    assert state(intent)[0] == Quote.OPEN
    shop.network.chain.lag(0)
    shop.network.watch()
    assert state(intent)[0] == Quote.EXPIRED


def test_no_block_after_the_end_means_no_expiry(shop: Any) -> None:
    """A block with a time before the end may still come: a network may be slow too."""
    intent = shop.ask(shop.order())
    shop.wait(20)
    shop.network.pay(intent)
    shop.network.chain.mine(at=intent.expires_at - timedelta(seconds=1))  # a miner's clock, within the rules
    shop.network.watch()
    assert state(intent)[0] == Quote.OPEN
    shop.block(2)
    assert state(intent) == (Quote.OPEN, Settlement.SETTLED)


@pytest.mark.parametrize("where", ["pool", "block"])
def test_case_19_the_countdown_ends_while_a_transfer_exists_and_the_page_never_says_expired(
    shop: Any, where: str
) -> None:
    intent = shop.ask(shop.order())
    shop.wait(14)
    shop.network.pay(intent)
    shop.network.watch()
    if where == "block":
        shop.network.mine()
    assert word(intent) == ("seen" if where == "pool" else "confirming")
    for _ in range(4):
        shop.wait(30)
        if where == "block":
            shop.network.watch()
        assert word(intent) in ("seen", "confirming")
    shop.block(3)
    assert state(intent) == (Quote.OPEN, Settlement.SETTLED)
    assert not intent.late


def test_first_sight_in_the_pool_counts_when_the_block_comes_late(shop: Any) -> None:
    intent = shop.ask(shop.order())
    shop.wait(14)
    shop.network.pay(intent)
    shop.network.watch()
    shop.wait(120)
    shop.block(3)
    assert state(intent) == (Quote.OPEN, Settlement.SETTLED)


def test_invariant_7_unwatched_for_more_than_a_day_ends_and_on_time_money_still_settles_at_the_promised_rate(
    shop: Any, settings: Any
) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.chain.go_down()
    shop.wait(5)
    shop.network.pay(intent)
    shop.network.chain.mine()
    shop.wait(10 + 24 * 60)
    shop.network.watch()
    assert state(intent)[0] == Quote.OPEN  # up to 24 h doubt favours the customer
    shop.wait(1)
    shop.network.watch()
    assert state(intent)[0] == Quote.EXPIRED
    assert intent.unwatched
    assert "not watched" in str(page_of(PaymentIntent.objects.get(pk=intent.pk)).word.label).lower()
    shop.look_at_holds()
    assert shop.free() == 10

    settings.FIXED_RATES = {"ETH": "1"}
    shop.network.price()
    shop.network.chain.come_up()
    shop.network.watch()
    shop.block(3)
    assert state(intent) == (Quote.EXPIRED, Settlement.SETTLED)
    assert not intent.late
    order.refresh_from_db()
    assert order.state == "settled"
    assert shop.free() == 9
    assert shop.balance() == 0
    books_are_right()


def test_new_instructions_are_refused_while_nobody_watches(shop: Any) -> None:
    order = shop.order()
    shop.wait(2)
    shop.network.price()
    with pytest.raises(NetworkUnwatched, match="have not been able to watch Ethereum since 1 May 2026, 12:00 UTC"):
        ask(order)
    assert not PaymentIntent.objects.exists()
    shop.ask(order)


def test_pay_8_a_clock_of_the_chain_ahead_of_ours_expires_nobody_early(shop: Any) -> None:
    intent = shop.ask(shop.order())
    shop.network.mine(at=intent.expires_at + timedelta(minutes=5))
    assert state(intent)[0] == Quote.OPEN
    assert cursor().watched_until > intent.expires_at
    shop.network.pay(intent)
    shop.block(3)
    assert state(intent) == (Quote.OPEN, Settlement.SETTLED)
