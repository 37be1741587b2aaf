"""A balance is paid out: reserved, approved, sent from a wallet of an operator, seen on the chain (BAL-7, PAY-7)."""

import json
import uuid
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings
from story import PASSWORD, books_are_right, give, kinds_of, make_customer, make_operator, work_list

from accounts.models import User
from balance.models import Movement
from config.closing import in_the_way
from config.export import everything
from payments import errors, registry
from payments.actions import payouts
from payments.following import look as look_at
from payments.models import NetworkCursor, Payout, ReservedAddress
from payments.networks.base import Finding, Key
from payments.payouts import Figures, figures_of
from payments.registry import method, simulated_chain
from payments.statement import lines_of
from payments.tasks import follow_payouts
from payments.verify import discrepancies

pytestmark = pytest.mark.django_db(transaction=True)
WALLET = "0x" + "ab" * 20
State, Problem = Payout.State, Payout.Problem


def figures(shop: Any, cents: int, code: str = "eth") -> Figures:
    """Return what a customer is shown at this moment, by fresh prices and a network just looked at."""
    shop.network.price()
    shop.network.watch()
    found = figures_of(method(code), cents, timezone.now())
    assert isinstance(found, Figures), found
    return found


def ask_for(shop: Any, cents: int = 30_000, code: str = "eth", **more: Any) -> Payout:
    """Ask for a payout as the customer does, at the figures of this moment."""
    facts = {"address": WALLET, "shown_amount": figures(shop, cents, code).amount, "form_key": uuid.uuid4(), **more}
    return payouts.request_payout(shop.customer, code, cents, **facts)


def approved(shop: Any, operator: User, **more: Any) -> Payout:
    payout = ask_for(shop, **more)
    return payouts.approve(payout.pk, actor=operator)


def send(shop: Any, payout: Payout, *, amount: int | None = None, address: str = "") -> str:
    """Send from the operator's own wallet what a payout asks for, or something else."""
    asset = method(payout.method).asset
    units = amount or payout.amount
    return str(shop.network.chain.pay(address or payout.address, units, method=asset.method, contract=asset.contract))


def look(shop: Any, blocks: int = 0, minutes: float = 1) -> None:
    """Let blocks come, time pass, and the worker look at what was sent."""
    if blocks:
        shop.network.mine(blocks)
    shop.wait(minutes)
    shop.network.watch()
    follow_payouts()


@pytest.fixture
def operator(shop: Any) -> User:
    made: User = make_operator()
    return made


@pytest.fixture
def rich(shop: Any) -> Any:
    """The customer has $1,000.00 in the balance."""
    give(shop.customer, 100_000)
    return shop


def test_a_balance_is_paid_out(rich: Any, operator: User) -> None:
    payout = ask_for(rich)
    assert rich.balance() == 70_000, "reserved at once"
    assert payout.amount == 10**17 - payout.fee, "$300 at $3,000, less the fee"
    payout = payouts.approve(payout.pk, actor=operator)
    assert (payout.state, payout.amount) == (State.APPROVED, payout.quoted_amount)
    payouts.mark_sent(payout.pk, txid=send(rich, payout), actor=operator)
    look(rich)
    payout.refresh_from_db()
    assert (payout.state, payout.position, payout.block_height) == (State.SENT, "value", None)
    look(rich, blocks=3)
    payout.refresh_from_db()
    assert (payout.state, payout.confirmations) == (State.FINAL, 3)
    assert rich.balance() == 70_000
    assert kinds_of(payout) == [
        "payout.requested", "payout.approved", "payout.sent", "payout.seen", "payout.final",
    ]  # fmt: skip
    assert Movement.objects.get(reference=payout.reference).kind == Movement.Kind.PAYOUT
    books_are_right()


# --- asking -----------------------------------------------------------------------------------------------------------
def test_a_request_is_made_once_per_form_and_its_debit_comes_back_when_it_is_cancelled(rich: Any) -> None:
    key = uuid.uuid4()
    payout = ask_for(rich, form_key=key)
    assert ask_for(rich, form_key=key) == payout
    assert rich.balance() == 70_000
    payouts.cancel(payout.pk, actor=rich.customer)
    assert payouts.cancel(payout.pk, actor=rich.customer).state == State.CANCELLED
    assert rich.balance() == 100_000
    lines = [str(line) for line in lines_of(Movement.objects.exclude(kind="adjustment").order_by("-id")).values()]
    assert lines == [
        f"Payout not sent, its sum is back in the balance: {payout.number}",
        f"Payout: {payout.number}",
    ]
    books_are_right()


def test_what_the_balance_does_not_cover_is_not_asked_for(rich: Any) -> None:
    with pytest.raises(errors.NotThatMuch, match=r"\$1,000.00 is available"):
        ask_for(rich, cents=100_001)
    assert not Payout.objects.exists()
    assert rich.balance() == 100_000


def test_a_payout_needs_a_fresh_price_a_watched_network_and_the_smallest_sum(rich: Any) -> None:
    with pytest.raises(errors.TooSmall):
        payouts.request_payout(rich.customer, "eth", 1_499, WALLET, shown_amount=1, form_key=uuid.uuid4())
    rich.wait(3)
    with pytest.raises(errors.NetworkUnwatched):
        payouts.request_payout(rich.customer, "eth", 30_000, WALLET, shown_amount=1, form_key=uuid.uuid4())
    rich.network.watch()
    with pytest.raises(errors.NoRate):
        payouts.request_payout(rich.customer, "eth", 30_000, WALLET, shown_amount=1, form_key=uuid.uuid4())
    assert rich.balance() == 100_000


def test_a_customer_who_was_shown_more_is_asked_again(rich: Any) -> None:
    """Between the page with the figures and the request the price may move by a hundredth."""
    shown = figures(rich, 30_000).amount
    rich.network.price({"ETH": "3050"})
    with pytest.raises(errors.RateMoved):
        payouts.request_payout(rich.customer, "eth", 30_000, WALLET, shown_amount=shown, form_key=uuid.uuid4())
    assert not Payout.objects.exists()


def test_an_address_of_ours_and_a_flood_of_requests_are_refused(rich: Any, settings: Settings) -> None:
    with pytest.raises(errors.BadReceiver, match="receiving address of this site"):
        ask_for(rich, address=ReservedAddress.objects.first().address)  # type: ignore[union-attr]
    settings.PAYOUTS_PER_HOUR = 1
    ask_for(rich, cents=2_000)
    with pytest.raises(errors.TooManyPayouts):
        ask_for(rich, cents=2_000)
    books_are_right()


# --- approving --------------------------------------------------------------------------------------------------------
def test_the_approval_fixes_the_amount_at_the_price_of_its_moment(rich: Any, operator: User) -> None:
    payout = ask_for(rich)
    rich.wait(120)
    rich.network.watch()
    rich.network.price({"ETH": "3100"})
    payout = payouts.approve(payout.pk, actor=operator)
    assert payout.amount == 96_774 * 10**12 - payout.fee, "$300 at $3,100, rounded down to six decimals"
    assert payout.rate_e8 == 3_100 * 10**8
    assert payout.amount < payout.quoted_amount


def test_a_payout_that_would_bring_much_less_than_was_shown_is_not_approved(rich: Any, operator: User) -> None:
    payout = ask_for(rich)
    rich.network.price({"ETH": "3200"})
    with pytest.raises(errors.RateMoved):
        payouts.approve(payout.pk, actor=operator)
    payouts.refuse(payout.pk, reason="the price has moved", actor=operator)
    assert rich.balance() == 100_000
    books_are_right()


def test_above_the_limit_two_operators_agree_and_nobody_to_their_own(rich: Any, operator: User) -> None:
    second = make_operator("second@example.com")
    payout = ask_for(rich, cents=60_000)
    with pytest.raises(errors.OwnPayout):
        payouts.approve(payout.pk, actor=rich.customer)
    assert payouts.approve(payout.pk, actor=operator).state == State.REQUESTED
    assert payouts.approve(payout.pk, actor=operator).state == State.REQUESTED, "the same one twice is one"
    assert payouts.approve(payout.pk, actor=second).state == State.APPROVED
    payout.refresh_from_db()
    assert (payout.checked_by, payout.approved_by) == (operator, second)
    assert kinds_of(payout) == ["payout.requested", "payout.checked", "payout.approved"]


def test_an_approved_payout_is_not_cancelled_but_refused_if_nothing_was_sent(rich: Any, operator: User) -> None:
    payout = approved(rich, operator)
    with pytest.raises(errors.PayoutMoved):
        payouts.cancel(payout.pk, actor=rich.customer)
    with pytest.raises(errors.NoGrounds):
        payouts.refuse(payout.pk, reason=" ", actor=operator)
    payouts.refuse(payout.pk, reason="the wallet is empty", actor=operator)
    assert rich.balance() == 100_000
    books_are_right()


def test_a_row_that_was_changed_in_the_database_is_neither_approved_nor_sent(rich: Any, operator: User) -> None:
    payout = ask_for(rich)
    Payout.objects.filter(pk=payout.pk).update(address="0x" + "cd" * 20)
    with pytest.raises(errors.BrokenPayoutSeal):
        payouts.approve(payout.pk, actor=operator)
    Payout.objects.filter(pk=payout.pk).update(address=WALLET)
    payouts.approve(payout.pk, actor=operator)
    Payout.objects.filter(pk=payout.pk).update(amount=10**18)
    with pytest.raises(errors.BrokenPayoutSeal):
        payouts.mark_sent(payout.pk, txid="0" * 64, actor=operator)


# --- sending ----------------------------------------------------------------------------------------------------------
def test_a_transaction_is_recorded_for_one_payout_to_an_address(rich: Any, operator: User) -> None:
    one, other = (approved(rich, operator, cents=20_000) for _ in range(2))
    with pytest.raises(errors.BadTransaction):
        payouts.mark_sent(one.pk, txid="that one", actor=operator)
    txid = send(rich, one)
    payouts.mark_sent(one.pk, txid=txid.upper(), actor=operator)
    assert payouts.mark_sent(one.pk, txid=txid, actor=operator).state == State.SENT, "the same again is no error"
    with pytest.raises(errors.TransactionUsed, match=one.number):
        payouts.mark_sent(other.pk, txid=txid, actor=operator)
    other.refresh_from_db()
    assert (other.state, other.txid) == (State.APPROVED, "")


def test_a_wrong_transaction_is_taken_back_as_long_as_nothing_was_seen(rich: Any, operator: User) -> None:
    payout = approved(rich, operator)
    payouts.mark_sent(payout.pk, txid="ab" * 32, actor=operator)
    look(rich)
    payout.refresh_from_db()
    assert (payout.state, payout.problem) == (State.SENT, Problem.UNKNOWN)
    assert payouts.take_back(payout.pk, actor=operator).state == State.APPROVED
    payouts.mark_sent(payout.pk, txid=send(rich, payout), actor=operator)
    look(rich)
    with pytest.raises(errors.SeenAlready):
        payouts.take_back(payout.pk, actor=operator)
    look(rich, blocks=3)
    payout.refresh_from_db()
    assert payout.state == State.FINAL


@pytest.mark.parametrize("wrong", [{"amount": 5}, {"address": "0x" + "cd" * 20}])
def test_a_transaction_that_pays_something_else_stands_before_a_person(
    rich: Any, operator: User, wrong: dict[str, Any]
) -> None:
    payout = approved(rich, operator)
    payouts.mark_sent(payout.pk, txid=send(rich, payout, **wrong), actor=operator)
    look(rich, blocks=5)
    payout.refresh_from_db()
    assert (payout.state, payout.problem) == (State.SENT, Problem.OTHER)
    assert "Payouts that were sent and did not arrive" in work_list()
    with pytest.raises(errors.OwnPayout):
        payouts.accept(payout.pk, reason="a typing error, made good by hand", actor=operator)
    second = make_operator("second@example.com")
    assert payouts.accept(payout.pk, reason="made good by hand", actor=second).state == State.FINAL
    books_are_right()


def test_one_that_the_network_does_not_show_for_an_hour_stands_before_a_person(rich: Any, operator: User) -> None:
    payout = approved(rich, operator)
    payouts.mark_sent(payout.pk, txid="ab" * 32, actor=operator)
    look(rich, minutes=59)
    stuck = "Payouts that were sent and did not arrive"
    assert stuck not in work_list()
    look(rich, minutes=2)
    assert stuck in work_list()
    payout.refresh_from_db()
    assert payout.state == State.SENT, "nothing moves by itself"


def test_a_payment_that_left_the_chain_again_is_not_seen_any_more(rich: Any, operator: User) -> None:
    payout = approved(rich, operator)
    payouts.mark_sent(payout.pk, txid=send(rich, payout), actor=operator)
    look(rich, blocks=1)
    rich.network.chain.reorg(1, keep=False)
    look(rich)
    payout.refresh_from_db()
    assert (payout.state, payout.position, payout.seen_at) == (State.SENT, "", None)
    assert payouts.take_back(payout.pk, actor=operator).state == State.APPROVED


class Answers:
    """A node that knows one failed transaction."""

    def look_up(self, txid: str) -> Finding:
        return Finding(txid, None, True, ())

    def confirm(self, keys: list[Key]) -> list[None]:
        return [None for _ in keys]


def test_a_failed_transaction_moved_nothing(rich: Any, operator: User) -> None:
    payout = approved(rich, operator)
    payout = payouts.mark_sent(payout.pk, txid="ab" * 32, actor=operator)
    assert look_at(Answers(), payout).problem == Problem.FAILED  # type: ignore[arg-type]


def test_a_payment_from_long_before_the_approval_is_another_one(rich: Any, operator: User) -> None:
    shown = figures(rich, 30_000).amount
    asset = method("eth").asset
    txid = rich.network.chain.pay(WALLET, shown, method=asset.method, contract=asset.contract)
    rich.network.mine(3, at=timezone.now())
    rich.wait(240)
    payout = approved(rich, operator)
    payouts.mark_sent(payout.pk, txid=txid, actor=operator)
    look(rich)
    payout.refresh_from_db()
    assert (payout.amount, payout.problem) == (shown, Problem.OTHER)


# --- the books, closing, export ---------------------------------------------------------------------------------------
def test_verifyledger_names_a_payout_whose_state_and_movements_differ(rich: Any) -> None:
    payout = ask_for(rich)
    Payout.objects.update(state="cancelled", closed_at=timezone.now(), closed_by=rich.customer)
    assert f"payout {payout.number}: is cancelled without its movement payout:{payout.pk}:unsent" in told()
    Payout.objects.update(state="requested", closed_at=None, closed_by=None, usd_cents=5)
    assert f"payout:{payout.pk}: differs from its payout in kind, amount or customer" in told()


def told() -> list[str]:
    return [str(one) for one in discrepancies()]


@pytest.mark.parametrize(
    "nonsense",
    [
        {"state": "sent"},
        {"state": "approved"},
        {"state": "final"},
        {"state": "refused"},
        {"txid": "ab" * 32},
        {"usd_cents": 0},
        {"amount": 0},
        {"seal": ""},
        {"kind": "refund"},
    ],
)
def test_the_database_refuses_nonsense(rich: Any, nonsense: dict[str, Any]) -> None:
    payout = ask_for(rich)
    with pytest.raises(IntegrityError), transaction.atomic():
        Payout.objects.filter(pk=payout.pk).update(**nonsense)


def test_an_account_with_a_live_payout_stays_open_and_its_export_tells_of_it(rich: Any, operator: User) -> None:
    payout = ask_for(rich, cents=100_000)
    assert ["A payout or refund is under way."] == [str(reason.title) for reason in in_the_way(rich.customer)]
    exported = everything(rich.customer)["payouts"][0]
    assert (exported["symbols"], exported["amount"]) == (payout.symbols, str(payout.amount))
    assert json.dumps(exported, default=str)
    payouts.cancel(payout.pk, actor=rich.customer)
    assert ["There is money in the balance, or a debt."] == [str(one.title) for one in in_the_way(rich.customer)]


# --- pages ------------------------------------------------------------------------------------------------------------
@pytest.fixture
def client(rich: Any, settings: Settings) -> Client:
    """The customer's browser, in which the password was just shown once more."""
    settings.ACCOUNT_RATE_LIMITS = {}
    client = Client()
    client.force_login(rich.customer, backend="accounts.backends.Backend")
    assert client.get(reverse("payments:ask_payout")).status_code == 302
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    return client


def form(**changed: str) -> dict[str, str]:
    return {"method": "eth", "amount": "300", "address": WALLET, "form_key": str(uuid.uuid4()), **changed}


def words(page: Any) -> str:
    return unescape(" ".join(page.content.decode().split()))


def test_a_customer_sees_the_three_figures_before_anything_is_debited(rich: Any, client: Client) -> None:
    figures(rich, 30_000)
    page = client.post(reverse("payments:ask_payout"), form(step="check"))
    text = words(page)
    for told in ("$300.00", "3000", "0.0993", "0.0007", "0.094335", "Nothing is debited yet"):
        assert told in text, told
    assert rich.balance() == 100_000
    asked = {**page.context["hidden"], "step": "ask"}
    made = client.post(reverse("payments:ask_payout"), asked)
    payout = Payout.objects.get()
    assert made["Location"] == payout.get_absolute_url()
    assert client.post(reverse("payments:ask_payout"), asked)["Location"] == payout.get_absolute_url()
    assert rich.balance() == 70_000
    assert "Its sum is set aside" in words(client.get(payout.get_absolute_url()))
    client.post(reverse("payments:cancel_payout", args=[payout.number]))
    assert rich.balance() == 100_000


def test_all_of_the_balance_and_what_is_wrong_with_a_request(rich: Any, client: Client) -> None:
    figures(rich, 30_000)
    page = client.post(reverse("payments:ask_payout"), form(step="check", amount="", everything="on"))
    assert "$1,000.00" in words(page)
    for changed, said in (
        ({"amount": "1,5"}, "Write the amount in digits"),
        ({"amount": "0"}, "Write the amount in digits"),
        ({"amount": "1000.01"}, "$1,000.00 is available"),
        ({"amount": "3"}, "can't be used for less than $15.00"),
        ({"address": "0x 12"}, "An address has only letters and digits."),
        ({"method": "doge"}, "Choose one of the methods shown."),
    ):
        page = client.post(reverse("payments:ask_payout"), form(step="check", **changed))
        assert (page.status_code, said in words(page)) == (409, True), said
    assert not Payout.objects.exists()


def test_a_price_that_moved_shows_the_new_figures(rich: Any, client: Client) -> None:
    figures(rich, 30_000)
    page = client.post(reverse("payments:ask_payout"), form(step="check"))
    rich.network.price({"ETH": "3300"})
    again = words(client.post(reverse("payments:ask_payout"), {**page.context["hidden"], "step": "ask"}))
    assert "The price has moved" in again
    assert "3300" in again
    assert not Payout.objects.exists()


def test_nobody_else_sees_a_payout(rich: Any) -> None:
    payout = ask_for(rich)
    other = Client()
    other.force_login(make_customer("eve@example.com"))
    assert other.get(payout.get_absolute_url()).status_code == 404
    assert other.post(reverse("payments:cancel_payout", args=[payout.number])).status_code == 404


# --- addresses of real networks ---------------------------------------------------------------------------------------
@pytest.fixture
def real(rich: Any, settings: Settings) -> Iterator[None]:
    """The same shop with the pure halves of the real networks, all of them watched."""
    settings.NETWORKS_KIND, settings.NETWORKS_OFFERED = "real", ["bitcoin", "litecoin", "ethereum"]
    registry.families.cache_clear()
    now = timezone.now()
    for network in ("bitcoin", "litecoin"):
        NetworkCursor.objects.create(network=network, last_pass_at=now, watched_until=now)
    rich.network.price()
    yield
    registry.families.cache_clear()


M_ADDRESS, OLD_ADDRESS = "M7uBSTV2qNDHDe2tHfNMqhFkZucgRMpJQk", "31h38a54tFMrR8kzBnP2241MFD2EUHtGha"
REFUSED_LTC = {
    "ltcmweb1qq0000": "private (MWEB) address",
    "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4": "This is a Bitcoin address",
    "M7uBSTV2qNDHDe2tHfNMqhFkZucgRMpJQm": "typing error",
}
TAPROOT = "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"
WRONG_VARIANT = "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd"


def test_case_75_litecoin_takes_m_and_asks_about_3(rich: Any, real: None, client: Client) -> None:
    page = client.post(reverse("payments:ask_payout"), form(step="check", method="ltc", address=M_ADDRESS))
    assert page.status_code == 200
    page = client.post(reverse("payments:ask_payout"), form(step="check", method="ltc", address=OLD_ADDRESS))
    assert (page.status_code, "Is this a Litecoin address?" in words(page)) == (409, True)
    sure = form(step="check", method="ltc", address=OLD_ADDRESS, sure="on")
    page = client.post(reverse("payments:ask_payout"), sure)
    assert (page.status_code, page.context["address"]) == (200, M_ADDRESS), "the same script, written as M"
    for address, said in REFUSED_LTC.items():
        page = client.post(reverse("payments:ask_payout"), form(step="check", method="ltc", address=address))
        assert (page.status_code, said in words(page)) == (409, True), address


def test_case_76_bech32m_is_taken_and_the_wrong_variant_refused(rich: Any, real: None, client: Client) -> None:
    page = client.post(reverse("payments:ask_payout"), form(step="check", method="btc", address=TAPROOT))
    assert page.status_code == 200
    page = client.post(reverse("payments:ask_payout"), form(step="check", method="btc", address=WRONG_VARIANT))
    assert (page.status_code, "bech32 and bech32m were confused" in words(page)) == (409, True)


# --- operators --------------------------------------------------------------------------------------------------------
def test_an_operator_does_it_all_in_the_admin_and_the_demo_wallet(
    rich: Any, operator: User, settings: Settings
) -> None:
    settings.STAFF_SECOND_FACTOR = False
    payout = ask_for(rich)
    browser = Client()
    browser.force_login(operator)
    todo = words(browser.get(reverse("admin:index")))
    assert "Payouts and refunds to approve" in todo
    assert payout.number in todo
    page = reverse("admin:payments_payout_change", args=[payout.pk])
    assert "Fixes <strong>0.0993 ETH</strong> at 3000 USD" in words(browser.get(page))
    decide = reverse("admin:payout_decide", args=[payout.pk])
    browser.post(decide, {"step": "approve"})
    shown = words(browser.get(page))
    assert "data-copy" not in shown and "I send it now" in shown
    browser.post(decide, {"step": "sending"})
    shown = words(browser.get(page))
    assert 'data-copy="0.0993"' in shown
    assert f'data-copy="{WALLET}"' in shown
    wallet = f"{reverse('payments:wallet')}?payout={payout.number}&network=ethereum"
    filled = browser.get(wallet).context["form"].initial
    back = browser.post(wallet, {**filled, "action": "pay"})["Location"]
    txid = simulated_chain("ethereum").recent(1)[0].txid
    assert back == f"{page}?txid={txid}"
    assert f'value="{txid}"' in words(browser.get(back))
    browser.post(decide, {"step": "sent", "txid": txid})
    look(rich, blocks=3)
    assert "3 confirmations of 3" in words(browser.get(page))
    assert payout.number in words(browser.get(reverse("admin:payments_payout_changelist"), {"q": payout.number}))


def test_a_changed_row_shows_an_operator_nothing_to_send(rich: Any, operator: User, settings: Settings) -> None:
    settings.STAFF_SECOND_FACTOR = False
    payout = approved(rich, operator)
    Payout.objects.filter(pk=payout.pk).update(address="0x" + "cd" * 20)
    browser = Client()
    browser.force_login(operator)
    page = words(browser.get(reverse("admin:payments_payout_change", args=[payout.pk])))
    assert "Send nothing" in page
    assert "cdcd" not in page


def test_who_sends_a_payout_takes_it_first_and_nobody_refuses_it_meanwhile(rich: Any, operator: User) -> None:
    """Else one operator sends the coins while another one gives the cents back."""
    other = make_operator("other@example.com")
    payout = approved(rich, operator)
    payouts.begin_sending(payout.pk, actor=operator)
    assert payouts.begin_sending(payout.pk, actor=operator).sending_by == operator
    with pytest.raises(errors.BeingSent, match=operator.email):
        payouts.begin_sending(payout.pk, actor=other)
    with pytest.raises(errors.BeingSent):
        payouts.refuse(payout.pk, reason="too late", actor=other)
    with pytest.raises(errors.BeingSent):
        payouts.refuse(payout.pk, reason="too late", actor=operator)
    with pytest.raises(IntegrityError), transaction.atomic():
        Payout.objects.filter(pk=payout.pk).update(state="refused", closed_at=timezone.now(), closed_by=other)
    payouts.stop_sending(payout.pk, actor=operator)
    assert payouts.refuse(payout.pk, reason="not sent", actor=other).state == State.REFUSED
    books_are_right()


def test_only_who_took_a_payout_or_an_owner_sets_it_free(rich: Any, operator: User) -> None:
    clerk = make_customer("clerk@example.com")
    payout = approved(rich, operator)
    payouts.begin_sending(payout.pk, actor=clerk)
    other = make_customer("colleague@example.com")
    with pytest.raises(errors.BeingSent):
        payouts.stop_sending(payout.pk, actor=other)
    assert payouts.stop_sending(payout.pk, actor=operator).sending_by is None
    payouts.begin_sending(payout.pk, actor=other)
    sent = payouts.mark_sent(payout.pk, txid="ab" * 32, actor=other)
    assert (sent.state, sent.sending_by, sent.sending_at) == (State.SENT, None, None)
