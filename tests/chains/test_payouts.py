"""A refund that is really signed and sent is seen and final on a real network, through the real worker."""

import uuid
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings
from solders.keypair import Keypair
from story import ask, books_are_right, give, make_customer, make_offer, make_operator, save_order

from accounts.models import User
from payments import registry, watcher
from payments.actions import intents, payouts
from payments.actions.rates import record_samples
from payments.actions.refunds import Wanted, make_refund
from payments.installation import birth
from payments.models import ChainTransfer, PaymentIntent, Payout
from payments.rates import FixedSource
from payments.tasks import follow_payouts

from .test_settle import Peer, bitcoin_peer, litecoin_peer
from .test_settle_solana import sol_peer

pytestmark = [pytest.mark.chains, pytest.mark.django_db(transaction=True)]
__all__ = ["bitcoin_peer", "litecoin_peer", "sol_peer"]
BITCOIN = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
LITECOIN = "rltc1qw508d6qejxtdg4y5r3zarvary0c5xw7k693xs3"
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
    look(network.network)
    assert Payout.objects.get().state == Payout.State.SENT
    network.mine(2 * network.final_after)  # at the market it is worth a little more than $100
    look(network.network)
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
    look(bitcoin_peer.network)
    payout.refresh_from_db()
    assert (payout.state, payout.problem) == (Payout.State.SENT, Payout.Problem.OTHER)


def look(network: str) -> None:
    """Let the worker look now: the network was read, and the time until the next look is over."""
    watcher.watch(network)
    Payout.objects.update(look_at=timezone.now())
    follow_payouts()


def test_a_payout_on_solana_is_seen_and_final(shop: Any, sol_peer: Any) -> None:
    shop(sol_peer)
    payout = approved_payout("sol", str(Keypair().pubkey()))
    txid = sol_peer.pay(payout.address, payout.amount, "sol")
    payouts.mark_sent(payout.pk, txid=txid, actor=User.objects.get(email="op@example.com"))
    sol_peer.mine(3)
    look(sol_peer.network)
    sol_peer.mine(40)
    look(sol_peer.network)
    payout.refresh_from_db()
    assert (payout.state, payout.problem) == (Payout.State.FINAL, "")


@pytest.mark.parametrize("method", ["trx", "usdt-tron"])
def test_a_payout_on_tron_is_seen_and_final(tron_shop: Any, method: str) -> None:
    tron_shop.price()
    payout = approved_payout(method, tron_shop.payer.address)
    pay = tron_shop.payer.pay if method == "trx" else partial(tron_shop.payer.pay_token, tron_shop.token)
    payouts.mark_sent(
        payout.pk, txid=pay(payout.address, payout.amount), actor=User.objects.get(email="op@example.com")
    )
    tron_shop.mine()
    look("tron")
    payout.refresh_from_db()
    assert (payout.state, payout.block_height) == (Payout.State.SENT, None), "seen above the solid block"
    tron_shop.mine(19)
    look("tron")
    payout.refresh_from_db()
    assert (payout.state, payout.problem) == (Payout.State.FINAL, "")


def approved_payout(method: str, address: str) -> Payout:
    """Let a customer ask for $50 of the balance, and an operator approve it."""
    customer = make_customer("rich@example.com")
    give(customer, 10_000)
    made = payouts.request_payout(customer, method, 5_000, address, shown_amount=1, form_key=uuid.uuid4())
    return payouts.approve(made.pk, actor=make_operator())
