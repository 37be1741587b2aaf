"""Orders paid in SOL by transactions that are really signed, run by the real runtime, through the real watcher."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from pytest_django.fixtures import Settings
from solders.pubkey import Pubkey
from story import ask, books_are_right, kinds, make_customer, make_offer, save_order

from events.relay import drain
from orders.models import Order
from payments import registry, watcher
from payments.actions.rates import record_samples
from payments.installation import birth
from payments.models import Allocation, ChainTransfer, NetworkCursor, PaymentIntent
from payments.rates import FixedSource
from provisioning.models import Rental

pytestmark = [pytest.mark.chains, pytest.mark.django_db(transaction=True)]

NETWORK = "solana"


class SolanaShopPeer:
    """The cluster, and somebody who pays on it."""

    network = NETWORK
    rates = {"SOL": "200"}
    final_after = 1

    def __init__(self, chain: Any, peer: Any, payer: Any, node: Any) -> None:
        self.chain, self.payer = chain, payer
        key = str(node.source.key)
        self.settings = {"SOLANA_RPC_URL": peer.url, "SOLANA_KEY": key, "SOLANA_CLUSTER": "local"}

    def pay(self, address: str, amount: int, method: str) -> str:
        return str(self.payer.pay(address, amount))

    def mine(self, n: int = 1) -> Any:
        return self.chain.advance(n)


@pytest.fixture
def sol_peer(solana_chain: Any, solana_peer: Any, sol_payer: Any, solana: Any) -> SolanaShopPeer:
    return SolanaShopPeer(solana_chain, solana_peer, sol_payer, solana)


class Shop:
    """A real installation that watches Solana, with an order of $100."""

    def __init__(self, peer: SolanaShopPeer) -> None:
        self.peer = peer
        birth()
        assert self.watch()
        watcher.fill_reserve(NETWORK, 5)
        record_samples("fixed", FixedSource().fetch())
        self.order = save_order(make_customer(), make_offer())

    def ask(self) -> PaymentIntent:
        return ask(self.order, "sol", form_key=uuid.uuid4())

    def pay(self, intent: PaymentIntent) -> str:
        return self.peer.pay(intent.address.address, intent.amount, intent.method)

    def watch(self) -> bool:
        return watcher.watch(NETWORK)

    def mine(self, n: int = 1) -> None:
        self.peer.mine(n)
        assert self.watch(), NetworkCursor.objects.get(pk=NETWORK).error
        drain()

    def is_paid_once(self, intent: PaymentIntent) -> None:
        self.order.refresh_from_db()
        assert (self.order.state, self.order.payment) == (Order.State.SETTLED, Order.Payment.PAID)
        assert Allocation.objects.get().usd_cents == intent.usd_cents
        assert kinds(self.order).count("order.settled") == 1
        assert Rental.objects.get(order=self.order).state == Rental.State.QUEUED
        books_are_right()

    def is_unpaid(self) -> None:
        self.order.refresh_from_db()
        assert self.order.state == Order.State.OPEN
        assert not Allocation.objects.exists()
        books_are_right()


@pytest.fixture
def shop(settings: Settings, sol_peer: SolanaShopPeer) -> Iterator[Shop]:
    settings.NETWORKS_KIND = "real"
    settings.FIXED_RATES = sol_peer.rates
    for name, value in sol_peer.settings.items():
        setattr(settings, name, value)
    registry.families.cache_clear()
    yield Shop(sol_peer)
    registry.families.cache_clear()


@pytest.mark.parametrize("method", ["sol"])
def test_settle(shop: Shop, method: str) -> None:
    """Paid exactly, watched until it is final: one credit, one capture, one rental, and books that are right."""
    intent = ask(shop.order, method)
    txid = shop.pay(intent)
    shop.watch()
    shop.order.refresh_from_db()
    assert shop.order.payment == Order.Payment.SEEN
    shop.is_unpaid()  # confirmed is not finalized
    shop.mine()
    transfer = ChainTransfer.objects.get()
    assert (transfer.txid, transfer.amount, transfer.status) == (txid, intent.amount, ChainTransfer.Status.FINAL)
    shop.is_paid_once(intent)
    shop.mine(5)
    shop.is_paid_once(intent)


def test_a_confirmed_payment_that_a_fork_drops_pays_nothing(shop: Shop) -> None:
    shop.pay(shop.ask())
    shop.watch()
    shop.peer.chain.fork(1)
    shop.mine(3)
    assert ChainTransfer.objects.get().status == ChainTransfer.Status.DROPPED
    shop.is_unpaid()


@pytest.mark.cases
@pytest.mark.parametrize("hidden", ["unshown", "unlisted"], ids=["case-64", "case-64-unlisted"])
def test_a_promise_does_not_end_while_the_node_does_not_show_its_payment(
    shop: Shop, solana_peer: Any, hidden: str
) -> None:
    """Paid in the last minute; the node shows the transaction only after the promise's end: paid, and on time."""
    intent = shop.ask()
    with time_machine.travel(intent.expires_at - timedelta(minutes=1), tick=False) as clock:
        shop.mine(3)
        txid = shop.pay(intent)
        getattr(solana_peer, hidden).add(txid)
        shop.mine()
        clock.shift(timedelta(minutes=3))
        shop.mine(2)
        intent.refresh_from_db()
        assert (intent.quote, intent.ended_at) == (PaymentIntent.Quote.OPEN, None)
        shop.is_unpaid()
        getattr(solana_peer, hidden).clear()
        shop.mine(2)
    shop.is_paid_once(intent)
    intent.refresh_from_db()
    assert not intent.late


def test_money_without_a_transaction_waits_for_a_person(shop: Shop, solana_chain: Any) -> None:
    intent = shop.ask()
    shop.mine(2)
    solana_chain.give(Pubkey.from_string(intent.address.address), intent.amount)
    shop.mine(2)
    assert not ChainTransfer.objects.exists()
    solana_chain.time_shift = 301
    shop.mine(3)
    transfer = ChainTransfer.objects.get()
    assert (transfer.amount, transfer.explained, transfer.credited) == (intent.amount, False, False)
    shop.is_unpaid()
    shop.mine(3)
    assert ChainTransfer.objects.count() == 1


def test_every_address_ever_issued_is_looked_at_again(shop: Shop) -> None:
    """A promise that ended long ago is paid after all: late, and credit of its customer."""
    intent = shop.ask()
    with time_machine.travel(intent.expires_at + timedelta(days=30), tick=False):
        shop.mine(3)
        record_samples("fixed", FixedSource().fetch())
        shop.pay(intent)
        shop.mine(3)
        assert Allocation.objects.get().transfer.intent == intent
        intent.refresh_from_db()
        assert intent.late
        books_are_right()


def test_a_promise_that_nobody_pays_ends(shop: Shop) -> None:
    intent = shop.ask()
    with time_machine.travel(intent.expires_at + timedelta(minutes=1), tick=False):
        shop.mine(3)
    intent.refresh_from_db()
    assert intent.ended_at is not None
    shop.is_unpaid()


def test_a_node_of_another_cluster_stops_the_network_and_reverses_nothing(
    shop: Shop, settings: Settings, other_solana: Any
) -> None:
    intent = shop.ask()
    shop.pay(intent)
    shop.mine()
    shop.is_paid_once(intent)
    settings.SOLANA_RPC_URL = other_solana.url
    assert not shop.watch()
    assert NetworkCursor.objects.get(pk=NETWORK).state == NetworkCursor.State.STOPPED
    shop.is_paid_once(intent)


def test_more_live_promises_than_a_pass_looks_at_are_not_called_watched_before_each_was_looked_at(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a promise whose address was not looked at would end although its payer was in time."""
    monkeypatch.setattr(registry.families()[NETWORK], "looks_per_pass", 1)
    first, second = shop.ask(), shop.ask()
    for address in (first.address, second.address):
        shop.mine()
        address.refresh_from_db()
    looked = [address.looked_at for address in (first.address, second.address)]
    assert None not in looked
    cursor = NetworkCursor.objects.get(pk=NETWORK)
    assert cursor.watched_until is not None
    assert cursor.watched_until <= min(at for at in looked if at)
