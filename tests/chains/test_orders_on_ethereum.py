"""Orders paid on a real Ethereum node by transactions signed with a real key, through the real watcher."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings
from qr import read_qr
from story import ask, books_are_right, cursor, kinds, make_customer, make_offer, save_order

from events.relay import drain
from orders.models import Order
from payments import registry, watcher
from payments.actions.rates import record_samples
from payments.errors import NetworkUnwatched
from payments.installation import birth
from payments.models import Allocation, ChainTransfer, NetworkCursor, PaymentIntent, ReviewItem
from payments.pages import page_of
from payments.rates import FixedSource
from provisioning.models import Rental

pytestmark = [pytest.mark.chains, pytest.mark.django_db(transaction=True)]

NETWORK = "ethereum"
TRANSFER = "transfer(address,uint256)"


class Shop:
    """A real installation that watches one node."""

    def __init__(self, anvil: Any, payer: Any, token: str) -> None:
        self.anvil, self.payer, self.token = anvil, payer, token
        birth()
        self.watch()
        watcher.fill_reserve(NETWORK, 5)
        record_samples("fixed", FixedSource().fetch())
        self.order = save_order(make_customer(), make_offer())

    def watch(self) -> bool:
        return watcher.watch(NETWORK)

    def mine(self, blocks: int = 1) -> None:
        self.anvil.mine(blocks)
        self.watch()

    def settle(self) -> None:
        """Mine past the twelve confirmations and tell everyone."""
        self.mine(13)
        drain()

    def pay(self, intent: PaymentIntent, amount: int | None = None) -> str:
        units = intent.amount if amount is None else amount
        if intent.method == "eth":
            return str(self.payer.pay(intent.address.address, units))
        return str(self.payer.pay_token(self.token, intent.address.address, units))

    def is_paid_once(self) -> None:
        """The order is paid, by one credit and one capture, and its rental is queued."""
        self.order.refresh_from_db()
        assert (self.order.state, self.order.payment) == (Order.State.SETTLED, Order.Payment.PAID)
        assert Allocation.objects.count() == 1
        assert kinds(self.order).count("order.settled") == 1
        assert Rental.objects.get(order=self.order).state == Rental.State.QUEUED
        books_are_right()

    def is_unpaid(self) -> None:
        self.order.refresh_from_db()
        assert self.order.state == Order.State.OPEN
        assert not Allocation.objects.exists()
        books_are_right()


@pytest.fixture
def anvil(start_anvil: Callable[..., Any]) -> Any:
    """A node whose own finality comes as late as mainnet's, so that confirmations are what counts."""
    return start_anvil(slots=32)


@pytest.fixture
def shop(settings: Settings, anvil: Any, payer: Any, token: str, usdc: str, ethereum: Any) -> Iterator[Shop]:
    settings.NETWORKS_KIND = "real"
    settings.ETHEREUM_RPC_URL, settings.ETHEREUM_XPUB = anvil.url, ethereum.xpub
    settings.ETHEREUM_CHAIN_ID, settings.USDT_ETHEREUM_CONTRACT = 31337, token
    settings.USDC_ETHEREUM_CONTRACT = usdc
    settings.FIXED_RATES = {"ETH": "3000", "USDT": "1", "USDC": "1"}
    registry.families.cache_clear()
    yield Shop(anvil, payer, token)
    registry.families.cache_clear()


@pytest.mark.parametrize("method", ["eth", "usdt-ethereum"])
def test_an_order_is_paid(shop: Shop, method: str) -> None:
    intent = ask(shop.order, method)
    txid = shop.pay(intent)
    shop.mine()
    shop.order.refresh_from_db()
    assert shop.order.payment == Order.Payment.SEEN
    transfer = ChainTransfer.objects.get()
    assert (transfer.txid, transfer.amount, transfer.status) == (txid, intent.amount, ChainTransfer.Status.INCLUDED)
    shop.mine(10)
    shop.is_unpaid()  # eleven confirmations are not twelve
    shop.settle()
    shop.is_paid_once()


def test_a_large_order_waits_for_the_networks_own_finality(shop: Shop) -> None:
    """Above $1,000 twelve blocks are not enough: the network must call the block final, two epochs later."""
    offer = make_offer(name="B200 SXM", price_cents=120_000)
    order = save_order(shop.order.customer, offer)
    intent = ask(order)
    shop.pay(intent)
    shop.mine(40)
    transfer = ChainTransfer.objects.get()
    assert (transfer.confirmations, transfer.status) == (40, ChainTransfer.Status.INCLUDED)
    intent.refresh_from_db()
    assert str(page_of(intent).word.word) == "Confirming, waiting for finality"
    shop.mine(60)
    order.refresh_from_db()
    assert order.state == Order.State.SETTLED
    assert ChainTransfer.objects.get().finalized


def test_a_reverted_transfer_pays_nothing(shop: Shop) -> None:
    intent = ask(shop.order, "usdt-ethereum")
    shop.payer.call(shop.token, "pause()")
    shop.mine()
    txid = shop.pay(intent)
    shop.settle()
    assert shop.anvil.receipt(txid)["status"] == "0x0"
    assert not ChainTransfer.objects.exists()
    shop.is_unpaid()


def test_a_look_alike_token_pays_nothing(shop: Shop, lookalike: str) -> None:
    intent = ask(shop.order, "usdt-ethereum")
    shop.payer.pay_token(lookalike, intent.address.address, intent.amount)
    shop.settle()
    transfer = ChainTransfer.objects.get()
    assert (transfer.method, transfer.contract) == ("", lookalike)
    shop.is_unpaid()


def test_the_largest_number_of_a_made_up_token_stops_nothing(shop: Shop) -> None:
    intent = ask(shop.order, "usdt-ethereum")
    fake = shop.payer.deploy("FakeEvents")
    emit = "emitTransfer(address,address,uint256)"
    shop.payer.call(fake, emit, shop.payer.address, intent.address.address, 2**256 - 1)
    shop.pay(intent)
    shop.mine()
    assert set(ChainTransfer.objects.values_list("amount", flat=True)) == {intent.amount, 2**256 - 1}
    shop.settle()
    shop.is_paid_once()


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-29"])
def test_two_logs_in_one_transaction_pay_together(case: str, shop: Shop) -> None:
    """Half and half by one transaction of a contract: two transfers, one settlement, exactly the promise."""
    intent = ask(shop.order, "usdt-ethereum")
    splitter = shop.payer.deploy("Splitter")
    shop.payer.pay_token(shop.token, splitter, intent.amount)
    half, before = intent.amount // 2, cursor().recent
    shop.payer.call(
        splitter,
        "splitToken(address,address[],uint256[])",
        shop.token,
        [intent.address.address] * 2,
        [half, intent.amount - half],
    )
    shop.mine()
    rows = ChainTransfer.objects.order_by("position")
    assert [row.position for row in rows] == ["log:0", "log:1"]
    assert len({row.txid for row in rows}) == 1
    shop.settle()
    shop.order.refresh_from_db()
    assert shop.order.state == Order.State.SETTLED
    assert sum(a.usd_cents for a in Allocation.objects.all()) == intent.usd_cents
    NetworkCursor.objects.update(recent=before)
    shop.watch()  # the same blocks once more
    assert (ChainTransfer.objects.count(), Allocation.objects.count()) == (2, 2)
    books_are_right()


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-47"])
def test_a_contract_that_pays_settles_once(case: str, shop: Shop) -> None:
    """Smart wallets and some exchanges pay from inside a call: no transaction names our address."""
    intent = ask(shop.order)
    splitter = shop.payer.deploy("Splitter")
    before = cursor().recent
    pay = ("split(address[],uint256[])", [intent.address.address], [intent.amount])
    txid = shop.payer.call(splitter, *pay, value=intent.amount)
    shop.mine()
    transfer = ChainTransfer.objects.get()
    assert (transfer.txid, transfer.position, transfer.method) == (txid, "call:0", "eth")
    shop.settle()
    shop.is_paid_once()
    NetworkCursor.objects.update(recent=before)
    shop.watch()
    assert ChainTransfer.objects.count() == 1
    shop.is_paid_once()


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-47"])
def test_a_contract_that_pays_unseen_comes_before_a_person(
    case: str, shop: Shop, settings: Settings, between: Any
) -> None:
    """The node offers no traces: that the balance grew is all there is. Nothing is credited by itself, once told."""
    between.refuse("trace_block", "trace_transaction", "debug_traceBlockByHash", "debug_traceTransaction")
    settings.ETHEREUM_RPC_URL = between.url
    intent = ask(shop.order)
    splitter = shop.payer.deploy("Splitter")
    shop.mine()
    shop.payer.call(
        splitter, "split(address[],uint256[])", [intent.address.address], [intent.amount], value=intent.amount
    )
    shop.mine()
    transfer = ChainTransfer.objects.get()
    assert (transfer.position, transfer.amount) == (f"balance:{intent.address.address}", intent.amount)
    assert not transfer.explained
    shop.settle()
    shop.is_unpaid()
    assert ReviewItem.objects.get().reason == ReviewItem.Reason.UNEXPLAINED
    assert ChainTransfer.objects.get().status == ChainTransfer.Status.FINAL


def test_a_reorg_before_finality_takes_the_payment_back_and_may_bring_it_again(shop: Shop) -> None:
    intent = ask(shop.order)
    raw = shop.payer.sign(intent.address.address, intent.amount)
    shop.payer.submit(raw)
    shop.mine(3)
    assert ChainTransfer.objects.get().status == ChainTransfer.Status.INCLUDED
    shop.anvil.reorg(3)
    shop.mine(13)
    shop.is_unpaid()
    intent.refresh_from_db()
    assert (intent.funding, shop.order.payment) == (PaymentIntent.Funding.NONE, Order.Payment.NONE)
    assert ChainTransfer.objects.get().status == ChainTransfer.Status.DROPPED
    shop.payer.submit(raw)
    shop.settle()
    shop.is_paid_once()
    assert "transfer.dropped" in kinds(shop.order)


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-log-index"])
def test_a_reorg_that_moves_a_token_payment_to_another_log_index_is_one_credit(case: str, shop: Shop) -> None:
    """Behind other events in the same block the payment's logIndex changes; its place in its receipt does not."""
    other = type(shop.payer)(shop.anvil)
    noise = other.deploy("FakeEvents")
    shop.watch()
    intent = ask(shop.order, "usdt-ethereum")
    raw = shop.payer.sign_call(shop.token, TRANSFER, intent.address.address, intent.amount)
    txid = shop.payer.submit(raw)
    shop.mine()
    first = ChainTransfer.objects.get()
    assert shop.anvil.receipt(txid)["logs"][0]["logIndex"] == "0x0"
    shop.anvil.reorg(1)
    for n in range(3):
        other.call(noise, "emitTransfer(address,address,uint256)", noise, noise, n)
    shop.payer.submit(raw)
    shop.mine()
    assert shop.anvil.receipt(txid)["logs"][0]["logIndex"] == "0x3"
    second = ChainTransfer.objects.get()
    assert (second.pk, second.txid, second.position) == (first.pk, txid, "log:0")
    assert second.block_hash != first.block_hash
    shop.settle()
    shop.is_paid_once()


def test_a_node_that_was_away_during_the_window_comes_back(shop: Shop) -> None:
    """Paid while our node is stopped: the promise does not expire before the node was read, then settles on time."""
    intent = ask(shop.order)
    shop.pay(intent)
    shop.anvil.mine(2)
    shop.anvil.stop()
    assert not shop.watch()
    assert "does not answer" in cursor().error
    with time_machine.travel(intent.expires_at + timedelta(hours=1), tick=False):
        assert not shop.watch()
        intent.refresh_from_db()
        assert (intent.quote, intent.ended_at) == (PaymentIntent.Quote.OPEN, None)
        assert page_of(intent).word.code == "waiting"
        shop.anvil.start()
        shop.settle()
    shop.is_paid_once()
    intent.refresh_from_db()
    assert not intent.late
    assert cursor().error == ""


def test_a_node_with_another_genesis_stops_the_network_and_reverses_nothing(
    shop: Shop, settings: Settings, other_anvil: Any
) -> None:
    shop.pay(ask(shop.order))
    shop.settle()
    shop.is_paid_once()
    other_anvil.mine(40)
    settings.ETHEREUM_RPC_URL = other_anvil.url
    assert not shop.watch()
    assert cursor().state == NetworkCursor.State.STOPPED
    assert ReviewItem.objects.get().reason == ReviewItem.Reason.STOPPED
    assert not shop.watch()
    shop.is_paid_once()


@pytest.mark.cases
@pytest.mark.parametrize(
    "wrong", [pytest.param(wrong, id=f"case-45-{wrong}") for wrong in ("other decimals", "no contract")]
)
def test_a_pinned_contract_that_is_not_the_token_lets_nothing_be_promised(
    shop: Shop, settings: Settings, wrong: str
) -> None:
    """After a change of the setting, the first pass of a worker sees it: nothing is kept, no method is offered."""
    eighteen = ("TestToken", ["string", "string", "uint8", "uint256"], ["Tether USD", "USDT", 18, 10**15])
    settings.USDT_ETHEREUM_CONTRACT = shop.payer.deploy(*eighteen) if wrong == "other decimals" else shop.payer.address
    registry.families.cache_clear()
    before = cursor().recent
    assert not shop.watch()
    assert ("18 decimals, not 6" if wrong == "other decimals" else "no contract of USDT") in cursor().error
    assert cursor().recent == before
    with time_machine.travel(timezone.now() + timedelta(minutes=2)), pytest.raises(NetworkUnwatched):
        ask(shop.order)


@pytest.mark.cases
@pytest.mark.parametrize(
    ("method", "text"),
    [
        pytest.param("usdt-ethereum", "{address}", id="case-54-usdt"),
        pytest.param("usdc-ethereum", "{address}", id="case-54-usdc"),
        pytest.param("eth", "ethereum:{address}@31337?value={amount}", id="case-55-eth"),
    ],
)
def test_a_decoded_qr_code_says_what_stands_beside_it(shop: Shop, client: Client, method: str, text: str) -> None:
    """For tokens the bare address: many wallets would send to the contract else. The rest is there to be copied."""
    intent = ask(shop.order, method)
    page = page_of(intent)
    address = page.method.family.display(intent.address.address)
    assert read_qr(page.qr()) == text.format(address=address, amount=intent.amount)
    client.force_login(shop.order.customer)
    html = client.get(reverse("payments:intent", args=[intent.pk])).content.decode()
    assert read_qr(html[html.index('<figure class="qr">') :]) == read_qr(page.qr())
    copied = re.findall(r'data-copy="([^"]*)"', html)
    assert address in copied and page.amount_text in copied
    assert page.asset.symbol in html and "Ethereum" in html
