"""One order for every way to pay on Ethereum, settled by a payment that is really signed, through the real watcher."""

from typing import Any

import pytest
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


@pytest.mark.parametrize("method", ["eth", "usdt-ethereum", "usdc-ethereum"])
def test_settle(settings: Settings, ethereum_peer: Any, method: str) -> None:
    """Paid exactly, watched until it is final: one credit, one capture, one rental, and books that are right."""
    settings.NETWORKS_KIND, settings.FIXED_RATES = "real", ethereum_peer.rates
    for name, value in ethereum_peer.settings.items():
        setattr(settings, name, value)
    registry.families.cache_clear()
    try:
        settle(ethereum_peer, method)
    finally:
        registry.families.cache_clear()


def settle(peer: Any, method: str) -> None:
    birth()
    assert watcher.watch(peer.network)
    watcher.fill_reserve(peer.network, 5)
    record_samples("fixed", FixedSource().fetch())
    order = save_order(make_customer(), make_offer())
    intent = ask(order, method)
    txid = peer.pay(intent.address.address, intent.amount, method)
    for _ in range(peer.final_after - 1):
        peer.mine()
        watcher.watch(peer.network)
    assert not Allocation.objects.exists()
    peer.mine()
    watcher.watch(peer.network)
    drain()
    transfer = ChainTransfer.objects.get()
    assert (transfer.txid, transfer.amount, transfer.method) == (txid, intent.amount, method)
    assert transfer.status == ChainTransfer.Status.FINAL
    order.refresh_from_db()
    assert (order.state, order.payment) == (Order.State.SETTLED, Order.Payment.PAID)
    assert Allocation.objects.get().usd_cents == intent.usd_cents
    assert kinds(order).count("order.settled") == 1
    assert Rental.objects.get(order=order).state == Rental.State.QUEUED
    books_are_right()
