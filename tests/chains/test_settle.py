"""One order for every way to pay, settled by a payment that is really signed and sent, through the real watcher.

A network is added by a fixture that gives a `Peer` and a row in `WAYS`: id, fixture, method.
"""

import uuid
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings
from story import ask, books_are_right, kinds, make_customer, make_offer, save_order

from events.relay import drain
from orders.models import Order
from payments import registry, watcher
from payments.actions.rates import record_samples
from payments.installation import birth
from payments.models import Allocation, ChainTransfer
from payments.rates import FixedSource
from provisioning.models import Rental

pytestmark = [pytest.mark.chains, pytest.mark.django_db(transaction=True)]


class Peer(Protocol):
    """A network with somebody who pays on it. `settings` switch the network on, and name no other."""

    network: str
    settings: dict[str, Any]
    rates: dict[str, str]
    final_after: int  # blocks until a payment of $100 is final, the one that holds it included

    def pay(self, address: str, amount: int, method: str) -> str:
        """Sign and send a payment; return its transaction id."""

    def mine(self, n: int = 1) -> Any:
        """Make blocks, the first with everything that was sent."""


class UtxoShopPeer:
    """Bitcoin's or Litecoin's own node."""

    def __init__(self, node: Any, prefix: str, rates: dict[str, str], final_after: int) -> None:
        adapter = node.adapter()
        self.network, self.rates, self.final_after = node.network, rates, final_after
        self.settings = {
            f"{prefix}_RPC_URL": node.url,
            f"{prefix}_CHAIN": "regtest",
            f"{prefix}_XPUB": adapter.xpub,
        }
        self.pay, self.mine = node.pay, node.mine


@pytest.fixture
def bitcoin_peer(bitcoind: Any) -> Peer:
    return UtxoShopPeer(bitcoind, "BITCOIN", {"BTC": "100000"}, final_after=1)


@pytest.fixture
def litecoin_peer(litecoind: Any) -> Peer:
    return UtxoShopPeer(litecoind, "LITECOIN", {"LTC": "100"}, final_after=3)


WAYS = [
    pytest.param("bitcoin_peer", "btc", id="btc"),
    pytest.param("litecoin_peer", "ltc", id="ltc"),
]


@pytest.fixture
def open_shop(settings: Settings) -> Iterator[Callable[[Peer], Order]]:
    """Return a function that opens a shop on one real network: watched once, with addresses and prices, and an order
    of $100."""

    def start(peer: Peer) -> Order:
        settings.NETWORKS_KIND = "real"
        settings.FIXED_RATES = peer.rates
        for name, value in peer.settings.items():
            setattr(settings, name, value)
        registry.families.cache_clear()
        birth()
        assert watcher.watch(peer.network)
        watcher.fill_reserve(peer.network, 5)
        record_samples("fixed", FixedSource().fetch())
        return save_order(make_customer(), make_offer())

    yield start
    registry.families.cache_clear()


@pytest.mark.parametrize(("peer", "method"), WAYS)
def test_settle(open_shop: Callable[[Peer], Order], request: pytest.FixtureRequest, peer: str, method: str) -> None:
    """Paid exactly, watched until it is final: one credit, one capture, one rental, and books that are right."""
    network: Peer = request.getfixturevalue(peer)
    order = open_shop(network)
    intent = ask(order, method, form_key=uuid.uuid4())
    txid = network.pay(intent.address.address, intent.amount, method)
    for _ in range(network.final_after - 1):
        network.mine()
        watcher.watch(network.network)
        assert not Allocation.objects.exists()
    network.mine()
    watcher.watch(network.network)
    drain()
    transfer = ChainTransfer.objects.get()
    assert (transfer.txid, transfer.amount, transfer.status) == (txid, intent.amount, ChainTransfer.Status.FINAL)
    assert transfer.first_seen_at <= timezone.now()
    order.refresh_from_db()
    assert (order.state, order.payment) == (Order.State.SETTLED, Order.Payment.PAID)
    assert Allocation.objects.get().usd_cents == intent.usd_cents
    assert kinds(order).count("order.settled") == 1
    assert Rental.objects.get(order=order).state == Rental.State.QUEUED
    books_are_right()
