"""A refund that is really signed and sent is seen and final on a real network, through the real worker."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings
from story import ask, books_are_right, make_customer, make_offer, make_operator, save_order

from payments import registry, watcher
from payments.actions import intents, payouts
from payments.actions.rates import record_samples
from payments.actions.refunds import Wanted, make_refund
from payments.installation import birth
from payments.models import ChainTransfer, PaymentIntent, Payout
from payments.rates import FixedSource
from payments.tasks import follow_payouts

from .test_settle import Peer, bitcoin_peer, litecoin_peer

pytestmark = [pytest.mark.chains, pytest.mark.django_db(transaction=True)]
__all__ = ["bitcoin_peer", "litecoin_peer"]
BITCOIN = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
LITECOIN = "rltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kn40ytu"
ETHEREUM = "0x" + "ab" * 20


@pytest.fixture
def shop(settings: Settings) -> Any:
    """Return a function that opens a shop on one real network: watched once, with addresses and prices."""

    def start(peer: Peer) -> None:
        settings.NETWORKS_KIND, settings.FIXED_RATES = "real", peer.rates
        for name, value in peer.settings.items():
            setattr(settings, name, value)
        registry.families.cache_clear()
        birth()
        assert watcher.watch(peer.network)
        watcher.fill_reserve(peer.network, 5)
        record_samples("fixed", FixedSource().fetch())

    yield start
    registry.families.cache_clear()


def received(peer: Peer, method: str) -> ChainTransfer:
    """Let money arrive that no promise applies to, and be credited."""
    intent = ask(save_order(make_customer(), make_offer()), method)
    intents.cancel(intent.pk, actor=intent.customer)
    hour_ago = timezone.now() - timedelta(hours=1)
    PaymentIntent.objects.update(closed_at=hour_ago)
    peer.pay(intent.address.address, intent.amount, method)
    peer.mine(peer.final_after)
    watcher.watch(peer.network)
    watcher.watch(peer.network)
    transfer = ChainTransfer.objects.get()
    assert transfer.credited
    return transfer


WAYS = [
    pytest.param("bitcoin_peer", "btc", BITCOIN, id="btc"),
    pytest.param("litecoin_peer", "ltc", LITECOIN, id="ltc"),
    pytest.param("ethereum_peer", "eth", ETHEREUM, id="eth"),
    pytest.param("ethereum_peer", "usdt-ethereum", ETHEREUM, id="usdt-ethereum"),
]


@pytest.mark.parametrize(("peer", "method", "address"), WAYS)
def test_a_refund_is_sent_and_seen(
    shop: Any, request: pytest.FixtureRequest, peer: str, method: str, address: str
) -> None:
    network: Peer = request.getfixturevalue(peer)
    shop(network)
    transfer = received(network, method)
    wanted = Wanted(transfer.amount, address, "asked for by the customer")
    payout = make_refund(transfer.pk, wanted, form_key=uuid.uuid4(), actor=make_operator("maker@example.com"))
    operator = make_operator()
    payout = payouts.approve(payout.pk, actor=operator)
    txid = network.pay(payout.address, payout.amount, method)
    payouts.mark_sent(payout.pk, txid=txid, actor=operator)
    look(network)
    assert Payout.objects.get().state == Payout.State.SENT
    network.mine(network.final_after)
    look(network)
    payout.refresh_from_db()
    assert (payout.state, payout.problem) == (Payout.State.FINAL, "")
    assert payout.block_height is not None
    books_are_right()


def test_a_refund_to_somebody_else_is_noticed(shop: Any, bitcoin_peer: Peer) -> None:
    shop(bitcoin_peer)
    transfer = received(bitcoin_peer, "btc")
    wanted = Wanted(transfer.amount, BITCOIN, "asked for by the customer")
    payout = make_refund(transfer.pk, wanted, form_key=uuid.uuid4(), actor=make_operator("maker@example.com"))
    operator = make_operator()
    payout = payouts.approve(payout.pk, actor=operator)
    txid = bitcoin_peer.pay(payout.address, payout.amount - 1, "btc")
    payouts.mark_sent(payout.pk, txid=txid, actor=operator)
    bitcoin_peer.mine(2)
    look(bitcoin_peer)
    payout.refresh_from_db()
    assert (payout.state, payout.problem) == (Payout.State.SENT, Payout.Problem.OTHER)


def look(network: Peer) -> None:
    """Let the worker look now: the network was read, and the time until the next look is over."""
    watcher.watch(network.network)
    Payout.objects.update(look_at=timezone.now())
    follow_payouts()
