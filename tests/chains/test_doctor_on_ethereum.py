"""The payment doctor and the proof of reconciliation on a real Ethereum node."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_django.fixtures import Settings
from story import ask, books_are_right, make_customer, make_offer, save_order

from accounts.models import User
from balance.models import Movement
from events.relay import drain
from payments import answering, reconciling, registry, watcher
from payments.actions import inquiries
from payments.actions.rates import record_samples
from payments.inquiry_pages import answer_of
from payments.installation import birth
from payments.models import ReservedAddress
from payments.rates import FixedSource

pytestmark = [pytest.mark.chains, pytest.mark.django_db(transaction=True)]
NETWORK = "ethereum"


@pytest.fixture
def anvil(start_anvil: Callable[..., Any]) -> Any:
    return start_anvil(slots=32)


@pytest.fixture
def customer(settings: Settings, anvil: Any, token: str, usdc: str, ethereum: Any) -> Iterator[User]:
    """Return a customer of a real installation that watches the node."""
    settings.NETWORKS_KIND = "real"
    settings.ETHEREUM_RPC_URL, settings.ETHEREUM_XPUB = anvil.url, ethereum.xpub
    settings.ETHEREUM_CHAIN_ID, settings.USDT_ETHEREUM_CONTRACT = 31337, token
    settings.USDC_ETHEREUM_CONTRACT = usdc
    settings.FIXED_RATES = {"ETH": "3000", "USDT": "1", "USDC": "1"}
    registry.families.cache_clear()
    birth()
    watcher.watch(NETWORK)
    watcher.fill_reserve(NETWORK, 5)
    record_samples("fixed", FixedSource().fetch())
    yield make_customer()
    registry.families.cache_clear()


def codes(text: str, customer: User) -> list[str]:
    made = inquiries.ask(text, intent=None, actor=customer)
    answering.answer(made.pk)
    made.refresh_from_db()
    return [line.word.code for line in answer_of(made).lines]


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-49"])
def test_a_reverted_transaction_failed_and_moved_nothing(customer: User, anvil: Any, payer: Any, case: str) -> None:
    intent = ask(save_order(customer, make_offer()))
    refuser = payer.deploy("Splitter")
    txid = payer.submit(payer.sign(refuser, 1, "0xdeadbeef"))
    anvil.mine()
    watcher.watch(NETWORK)
    assert anvil.receipt(txid)["status"] == "0x0"
    assert codes(txid, customer) == ["failed"]
    assert codes(f"https://etherscan.io/tx/{txid}#eventlog", customer) == ["failed"]
    intent.refresh_from_db()
    assert (intent.funding, intent.settlement) == ("none", "unsettled")
    assert not Movement.objects.exists()


def test_a_payment_is_found_before_and_after_it_is_credited(customer: User, anvil: Any, payer: Any) -> None:
    intent = ask(save_order(customer, make_offer()))
    txid = str(payer.pay(intent.address.address, intent.amount))
    assert codes(txid, customer) == ["pool"]
    anvil.mine(13)
    watcher.watch(NETWORK)
    drain()
    assert codes(f"paid in {txid}", customer) == ["credited"]
    assert codes(f"paid in {txid}", make_customer("eve@example.com")) == ["not_yours"]
    check = reconciling.reconcile(NETWORK)
    assert (check.agrees, check.checked, check.missing, check.error) == (True, 2, 0, "")
    books_are_right()


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-32"])
def test_addresses_that_hold_something_are_not_handed_out(
    customer: User, anvil: Any, payer: Any, token: str, ethereum: Any, case: str
) -> None:
    ReservedAddress.objects.all().delete()
    payer.pay(ethereum.destination(2), 7)
    payer.pay_token(token, ethereum.destination(6), 5)
    anvil.mine()
    watcher.fill_reserve(NETWORK, 20)
    assert ask(save_order(customer, make_offer())).address.index == 7
