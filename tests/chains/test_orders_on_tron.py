"""Orders on Tron through the real watcher: nodes that are down or refuse, and payments that are none."""

from typing import Any

import pytest
from django.utils import timezone
from story import ask, books_are_right

from payments import registry
from payments.errors import NetworkUnwatched
from payments.models import ChainTransfer, NetworkCursor, PaymentIntent, ReviewItem
from payments.pages import page_of

pytestmark = [pytest.mark.chains, pytest.mark.cases, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("case", ["case-17"])
def test_a_node_that_is_down_across_the_window_expires_nobody(case: str, tron_shop: Any) -> None:
    """Down from minute 2 to 80, paid at minute 5, window 60 minutes: settled on time once the node is back."""
    intent = tron_shop.ask()
    tron_shop.wait(2)
    tron_shop.peer.stop()
    tron_shop.wait(3)
    tron_shop.pay(intent)  # the network goes on; only our node is away
    tron_shop.peer.mine(19)
    for _ in range(8):
        tron_shop.wait(10)
        tron_shop.peer.mine(5)
        assert not tron_shop.watch()
        assert "does not answer" in tron_shop.cursor.error
        intent.refresh_from_db()
        assert (intent.quote, intent.settlement) == (PaymentIntent.Quote.OPEN, PaymentIntent.Settlement.UNSETTLED)
        assert page_of(intent).word.code == "waiting"
    assert timezone.now() > intent.expires_at
    tron_shop.peer.start()
    tron_shop.settle()
    tron_shop.is_paid_once()
    intent.refresh_from_db()
    assert not intent.late
    assert tron_shop.cursor.error == ""


@pytest.mark.parametrize("case", ["case-17"])
def test_without_money_it_expires_once_the_window_was_watched(case: str, tron_shop: Any) -> None:
    intent = tron_shop.ask()
    tron_shop.peer.stop()
    tron_shop.wait(80)
    tron_shop.watch()
    tron_shop.peer.start()
    tron_shop.peer.mine(18)
    tron_shop.watch()
    intent.refresh_from_db()
    assert intent.quote == PaymentIntent.Quote.OPEN  # nothing after the end is solid yet
    tron_shop.mine()
    intent.refresh_from_db()
    assert (intent.quote, intent.unwatched) == (PaymentIntent.Quote.EXPIRED, False)


@pytest.mark.parametrize("case", ["case-18"])
def test_a_provider_that_limits_us_for_twenty_minutes(case: str, tron_shop: Any) -> None:
    intent = tron_shop.ask()
    tron_shop.peer.refusal = 429
    for _ in range(4):
        tron_shop.wait(5)
        tron_shop.peer.mine()
        assert not tron_shop.watch()
    assert "HTTP status 429: it limits how often we may ask." in tron_shop.cursor.error
    tron_shop.price()
    with pytest.raises(NetworkUnwatched, match="We have not been able to watch Tron since"):
        ask(tron_shop.order, "trx")
    intent.refresh_from_db()
    assert intent.quote == PaymentIntent.Quote.OPEN
    tron_shop.peer.refusal = 0
    tron_shop.pay(intent)
    tron_shop.settle()
    tron_shop.is_paid_once()


@pytest.mark.parametrize("case", ["case-42"])
def test_a_token_of_the_same_name_pays_nothing(case: str, tron_shop: Any) -> None:
    intent = tron_shop.ask()
    lookalike = tron_shop.peer.make_token(tron_shop.payer.address)
    tron_shop.payer.pay_token(lookalike, intent.address.address, intent.amount)
    tron_shop.settle()
    transfer = ChainTransfer.objects.get()
    assert (transfer.method, transfer.contract) == ("", lookalike)
    assert ReviewItem.objects.get().reason == ReviewItem.Reason.TOKEN
    tron_shop.is_unpaid()


@pytest.mark.parametrize("case", ["case-43"])
def test_an_event_of_nothing_is_no_payment(case: str, tron_shop: Any) -> None:
    intent = tron_shop.ask()
    tron_shop.pay(intent, 0)
    tron_shop.settle()
    assert not ChainTransfer.objects.exists()
    tron_shop.is_unpaid()


@pytest.mark.parametrize("case", ["case-58"])
def test_a_transfer_that_never_becomes_solid(case: str, tron_shop: Any) -> None:
    """Seen at the head, absent when that height is solid: no credit ever existed, and the page says what happened."""
    intent = tron_shop.ask()
    tron_shop.pay(intent)
    tron_shop.mine(3)
    assert page_of(PaymentIntent.objects.get()).word.code == "seen"
    tron_shop.peer.fork(3)
    tron_shop.watch()
    assert page_of(PaymentIntent.objects.get()).word.code == "seen"
    tron_shop.settle()
    assert ChainTransfer.objects.get().status == ChainTransfer.Status.DROPPED
    page = page_of(PaymentIntent.objects.get())
    assert (page.word.code, page.may_send) == ("dropped", True)
    tron_shop.is_unpaid()
    tron_shop.pay(intent)
    tron_shop.settle()
    tron_shop.is_paid_once()


@pytest.mark.parametrize("case", ["case-45"])
def test_a_pinned_contract_that_is_not_the_token_lets_nothing_be_promised(
    case: str, tron_shop: Any, settings: Any
) -> None:
    settings.USDT_TRON_CONTRACT = tron_shop.peer.make_token(tron_shop.payer.address, decimals=18)
    registry.families.cache_clear()
    before = tron_shop.cursor.recent
    tron_shop.peer.mine()
    assert not tron_shop.watch()
    assert "18 decimals, not 6" in tron_shop.cursor.error
    assert tron_shop.cursor.recent == before
    tron_shop.wait(2)
    tron_shop.price()
    with pytest.raises(NetworkUnwatched):
        ask(tron_shop.order, "usdt-tron")


@pytest.mark.parametrize("case", ["case-60"])
def test_what_fails_is_kept_beside_the_network(case: str, tron_shop: Any) -> None:
    for call, said in (
        ("wallet/getnowblock", "The Tron node at 127.0.0.1"),
        ("walletsolidity/getblockbylimitnext", "The Tron solidity node at 127.0.0.1"),
    ):
        tron_shop.peer.spoil(call, lambda _: {"Error": "class java.lang.NullPointerException : null"})
        assert not tron_shop.watch()
        assert tron_shop.cursor.error.startswith(said)
        tron_shop.peer.spoiled.clear()
    last = tron_shop.cursor.last_pass_at
    tron_shop.wait(10)
    assert not tron_shop.watch()
    assert "lags: its newest solid block" in tron_shop.cursor.error
    assert tron_shop.cursor.last_pass_at == last
    tron_shop.mine(19)
    assert (tron_shop.cursor.error, tron_shop.cursor.state) == ("", NetworkCursor.State.WATCHING)
    books_are_right()
