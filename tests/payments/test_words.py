"""The one word of payment instructions and the way of a payment, from facts alone."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orders.models import Order
from payments.models import ChainTransfer, PaymentIntent, ReservedAddress, TopUp
from payments.networks.base import Asset
from payments.networks.ethereum import Ethereum
from payments.pages import IntentPage, qr_of
from payments.path import steps
from payments.registry import Method
from payments.words import Progress, Waits, intent_word, topup_word

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
USDT = "0xdac17f958d2ee523a2206206994597c13d831ec7"


def intent(**columns: Any) -> PaymentIntent:
    facts: dict[str, Any] = {
        "order": Order(pk=1),
        "method": "eth",
        "network": "ethereum",
        "usd_cents": 10_000,
        "amount": 10**16,
    }
    times = {"created_at": NOW, "expires_at": NOW + timedelta(minutes=15)}
    return PaymentIntent(**facts | times | columns)


def transfer(status: str, method: str = "eth", **columns: Any) -> ChainTransfer:
    return ChainTransfer(status=status, method=method, amount=10**15, **columns)


def code(
    promise: PaymentIntent, *transfers: ChainTransfer, waits: Waits | None = None, payable: bool = True, late: float = 0
) -> str:
    now = NOW + timedelta(minutes=late)
    word = intent_word(promise, transfers, Progress(3, 12), payable=payable, now=now, waits=waits)
    for topup in (False, True):
        way = list(steps(word, topup=topup))
        assert len(way) == 3
        assert sum(step.state == "now" for step in way) <= 1  # one place is where it stands
    return word.code


@pytest.mark.parametrize(
    ("columns", "seen", "expected"),
    [
        ({}, [], "waiting"),
        ({"declared_at": NOW}, [], "declared"),
        ({}, ["seen"], "seen"),
        ({"funding": "covered"}, ["included"], "confirming"),
        ({"funding": "partial"}, ["included"], "partly_paid"),
        ({}, ["dropped"], "dropped"),
        ({}, ["replaced"], "replaced"),
        ({"quote": "expired"}, [], "expired"),
        ({"quote": "expired", "unwatched": True}, [], "unwatched"),
        ({"quote": "cancelled"}, [], "cancelled"),
        ({"quote": "superseded"}, [], "superseded"),
        ({"settlement": "settled"}, ["final"], "paid"),
        ({"settlement": "reversed"}, ["seen"], "reversed"),
        ({"settlement": "review"}, ["final"], "help"),
        ({"settlement": "credited"}, ["final"], "credited"),
        ({"settlement": "credited", "late": True}, ["final"], "late"),
        ({"settlement": "credited", "funding": "covered"}, ["final", "included"], "confirming"),
    ],
)
def test_each_state_has_one_word_and_one_place_on_the_way(
    columns: dict[str, Any], seen: list[str], expected: str
) -> None:
    assert code(intent(**columns), *[transfer(status) for status in seen]) == expected


def test_final_money_says_what_it_still_waits_for() -> None:
    assert code(intent(), transfer("final"), waits=Waits(second=True)) == "second"
    late = intent(quote="expired", late=True)
    assert code(late, transfer("final"), waits=Waits(band_until=NOW + timedelta(minutes=45)), late=20) == "band"


@pytest.mark.parametrize(("usd_cents", "expected"), [(200_000, "second"), (50_000, "confirming")])
def test_a_large_transfer_waits_for_the_second_provider_where_there_is_one(
    settings: Any, usd_cents: int, expected: str
) -> None:
    settings.NETWORKS_KIND, settings.ETHEREUM_SECOND_URL = "real", "http://127.0.0.1:1"
    shown = page(0, usd_cents=usd_cents, amount=10**15)
    shown.transfers.append(transfer("final", network="ethereum", confirmations=12))
    shown.intent.funding = "covered"
    assert shown.word.code == expected


def test_the_time_of_the_decision_is_said_with_its_zone() -> None:
    word = intent_word(
        intent(quote="expired", late=True),
        [transfer("final")],
        Progress(3, 3),
        payable=True,
        now=NOW,
        waits=Waits(band_until=NOW + timedelta(minutes=45)),
    )
    assert "12:45 UTC" in str(word.text)


def test_another_asset_needs_help_and_a_closed_order_needs_nothing() -> None:
    assert code(intent(), transfer("final", method="usdc-ethereum")) == "help"
    assert code(intent(), payable=False) == "closed"


@pytest.mark.parametrize(
    ("state", "intents", "expected"),
    [
        ("open", [], "unpaid"),
        ("open", [{}], "waiting"),
        ("open", [{"ended_at": NOW, "quote": "expired"}], "unpaid"),
        ("open", [{"funding": "seen"}], "seen"),
        ("open", [{"funding": "partial", "settlement": "credited"}], "partly_paid"),
        ("open", [{"settlement": "review"}], "help"),
        ("settled", [{"settlement": "reversed"}], "help"),
        ("settled", [{"settlement": "settled"}, {"ended_at": NOW}], "covered"),
    ],
)
def test_a_top_up_has_one_word(state: str, intents: list[dict[str, Any]], expected: str) -> None:
    topup = TopUp(state=state, amount_cents=10_000)
    assert topup_word(topup, [intent(**columns) for columns in intents]).code == expected


class Eager(Ethereum):
    """A network that would put the full request of a token into its QR code."""

    def payment_uri(self, address: str, asset: Asset, amount: int) -> str:
        return self.wallet_uri(address, asset, amount) or super().payment_uri(address, asset, amount)


def page(asset: int, kind: type[Ethereum] = Ethereum, **columns: Any) -> IntentPage:
    """Return the page of instructions on the real Ethereum, for its coin (0) or its first token (1)."""
    family = kind(chain_id=1, usdt_contract=USDT)
    method = Method(family, family.assets[asset])
    address = ReservedAddress(address="0x" + "ab" * 20)
    facts = {"method": method.code, "amount": 5_000_000, "address": address}
    return IntentPage(intent(**facts | columns), method, [], NOW)


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-54"])
def test_the_code_of_a_token_is_the_bare_address_and_the_full_request_stands_apart(case: str) -> None:
    token, coin = page(1), page(0)
    assert token.payment_text == token.address_text
    assert token.payment_link == ""
    assert token.wallet_text.startswith("ethereum:0x")
    assert "/transfer?address=" in token.wallet_text
    assert token.wallet_qr() == qr_of(token.wallet_text) != token.qr()
    assert coin.payment_link == coin.payment_text == f"ethereum:{coin.address_text}@1?value=5000000"
    assert coin.wallet_text == ""
    assert page(1, Eager).payment_link == ""  # a link that opens a wallet is for coins only
