"""A day of operators: twelve odd payments, one for each reason, decided in Chromium; the ledger is verified after each.

Customers and the network act through the real actions and the simulated chain; whoever decides does it by clicks.
"""

import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from django.urls import reverse
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer
from story import PASSWORD, Network, ask, books_are_right, make_customer, make_offer, save_order

from accounts.actions.roles import set_role
from accounts.models import User
from balance.queries import available_cents, balance_cents
from catalog.models import Offer
from events.relay import drain
from orders.models import Order
from payments import answering, reconciling
from payments.actions import inquiries, intents
from payments.models import ChainTransfer, HandSettlement, PaymentIntent, ReservedAddress, ReviewItem
from payments.registry import method

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MOST_CLICKS = 3
Reason, Outcome = ReviewItem.Reason, ReviewItem.Outcome


@dataclass
class Operator:
    """A person of the staff in a browser of their own, whose clicks are counted."""

    page: "Page"
    clicks: int = 0

    def sign_in(self, user: User) -> None:
        self.page.goto("/accounts/login/")
        self.page.get_by_label("Email").fill(user.email)
        self.page.get_by_label("Password", exact=True).fill(PASSWORD)
        self.page.locator("main").get_by_role("button", name="Sign in", exact=True).click()
        self.page.wait_for_url(lambda url: "/login/" not in url)

    def begin(self) -> None:
        """Open the list of what needs a person: from here clicks count."""
        self.page.goto(reverse("admin:index"))
        self.clicks = 0

    def click(self, what: "Locator") -> None:
        what.click()
        self.clicks += 1

    def open(self, text: str) -> None:
        self.click(self.page.locator("#content").get_by_role("link", name=text[:1].upper() + text[1:]).first)

    def says(self, text: str) -> None:
        self.page.get_by_text(text).first.wait_for()
        assert self.clicks <= MOST_CLICKS

    def decide(self, item: ReviewItem, outcome: ReviewItem.Outcome) -> None:
        """Open an item from the list, say why, decide."""
        self.begin()
        self.open(item.get_reason_display())
        self.page.get_by_label(re.compile("Why, in a sentence")).fill("Looked up in two explorers.")
        labels = {Outcome.CREDITED: "Credit it", Outcome.KEPT: "Do not credit it", Outcome.NOTED: "Noted"}
        self.click(self.page.get_by_role("button", name=labels[outcome], exact=True))
        self.says("Decided and recorded.")


@pytest.fixture
def new_page(browser: "Browser", live_server: LiveServer, settings: Settings) -> Iterator[Callable[[], "Page"]]:
    settings.ACCOUNT_RATE_LIMITS = dict.fromkeys(settings.ACCOUNT_RATE_LIMITS, "")
    settings.STAFF_SECOND_FACTOR = False
    settings.HELD_LOTS_LIMIT = 1000
    settings.INTENTS_PER_HOUR = 1000
    problems: list[str] = []
    contexts: list[Any] = []

    def open_page() -> "Page":
        context = browser.new_context(base_url=live_server.url, locale="en-US")
        contexts.append(context)
        context.set_default_timeout(10_000)
        page = context.new_page()
        page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not problems


@dataclass
class Day:
    """The shop on that day: a customer whose payments are odd, and the network that carries them."""

    network: Network
    customer: User
    offer: Offer

    def order(self, lots: int = 1) -> Order:
        order: Order = save_order(self.customer, self.offer, lots=lots)
        return order

    def ask(self, lots: int = 1) -> PaymentIntent:
        self.network.price()
        self.network.watch()
        intent: PaymentIntent = ask(self.order(lots))
        return intent

    def pays(self, intent: PaymentIntent, units: int, code: str = "eth") -> str:
        asset = method(code).asset
        return self.network.chain.pay(intent.address.address, units, method=asset.method, contract=asset.contract)

    def settle(self) -> None:
        self.network.price()
        self.network.settle()
        self.network.watch()

    def item(self, reason: ReviewItem.Reason) -> ReviewItem:
        return ReviewItem.objects.get(reason=reason, decided_at=None)

    # --- the odd payments -----------------------------------------------------------------------------------------
    def other_asset(self) -> None:
        """$101 of USDT at an address for ETH."""
        self.pays(self.ask(), 101 * 10**6, "usdt-ethereum")
        self.settle()

    def unknown_token(self) -> None:
        self.network.chain.pay(self.ask().address.address, 5, contract="0x" + "f" * 40)
        self.settle()

    def large_unpromised(self) -> None:
        """$6,000 to instructions that were cancelled."""
        intent = self.ask()
        intents.cancel(intent.pk, actor=self.customer)
        self.pays(intent, intent.amount * 60)
        self.settle()

    def unbelievable(self) -> None:
        self.pays(self.ask(), 2**256 - 1)
        self.settle()

    def disagreeing(self) -> None:
        """$1,100 for an order of $1,000, which the second provider does not know."""
        intent = self.ask(lots=10)
        self.network.chain.second_provider("disagrees")
        self.pays(intent, intent.amount * 11 // 10)
        self.settle()

    def unexplained(self) -> None:
        self.network.chain.grow(self.ask().address.address, 10**16, "eth")
        self.settle()

    def stray(self) -> None:
        """Money at an address that was not given to anybody."""
        row = ReservedAddress.objects.filter(network="ethereum", issued_at=None).order_by("-index").first()
        assert row
        self.network.chain.pay(row.address, 10**17, method="eth")
        self.settle()

    def mismatch(self) -> None:
        """Somebody wrote another address into the database."""
        intent = self.ask()
        ReservedAddress.objects.filter(pk=intent.address_id).update(address="0x" + "d" * 40)
        self.pays(PaymentIntent.objects.get(pk=intent.pk), intent.amount)
        self.settle()

    def changed(self) -> None:
        """The node tells another amount of the same transaction while it waits."""
        intent = self.ask()
        txid = self.network.pay(intent)
        self.network.watch()
        self.network.chain.drop(txid)
        self.network.chain.pay(intent.address.address, intent.amount * 9, method="eth", txid=txid)
        self.network.watch()
        self.network.chain.drop(txid)
        self.settle()

    def orphaned(self) -> None:
        """A payment vanishes with its block after it was final."""
        self.network.pay(self.ask())
        self.settle()
        self.network.chain.reorg(5, keep=False)
        self.network.mine(8)
        drain()

    def books(self) -> None:
        """A node no longer has a final payment in the block that it was in."""
        intent = self.ask()
        self.network.pay(intent)
        self.settle()
        ChainTransfer.objects.filter(intent=intent).update(block_hash="0" * 64)
        reconciling.reconcile("ethereum", everything=True)

    def claim(self) -> Order:
        """A customer paid $600 on a network that we do not watch, and says so."""
        intent = self.ask(lots=6)
        link = f"https://bscscan.com/tx/0x{uuid.uuid4().hex * 2}"
        made = inquiries.ask(link, intent=intent, actor=self.customer)
        answering.answer(made.pk)
        inquiries.claim_payment(made.pk, note="From my wallet", actor=self.customer)
        assert intent.order
        return intent.order


@pytest.fixture
def day(transactional_db: None, settings: Settings, tmp_path: Any) -> Day:
    settings.DATA_DIR = tmp_path
    network = Network().open()
    return Day(network, make_customer(), make_offer(lots=1000))


def staff(email: str) -> User:
    user: User = make_customer(email)
    set_role(user, "operator", actor=None)
    return user


def operator(new_page: Callable[[], "Page"], email: str) -> Operator:
    person = Operator(new_page())
    person.sign_in(staff(email))
    return person


ODD: list[tuple[ReviewItem.Reason, str, ReviewItem.Outcome, int]] = [
    (Reason.ASSET, "other_asset", Outcome.CREDITED, 10_100),
    (Reason.TOKEN, "unknown_token", Outcome.KEPT, 0),
    (Reason.LARGE, "large_unpromised", Outcome.CREDITED, 606_078),
    (Reason.AMOUNT, "unbelievable", Outcome.KEPT, 0),
    (Reason.DISAGREE, "disagreeing", Outcome.CREDITED, 10_000),
    (Reason.UNEXPLAINED, "unexplained", Outcome.CREDITED, 3_000),
    (Reason.STRAY, "stray", Outcome.NOTED, 0),
    (Reason.ADDRESS, "mismatch", Outcome.NOTED, 0),
    (Reason.CHANGED, "changed", Outcome.NOTED, 0),
    (Reason.BOOKS, "books", Outcome.NOTED, 0),
    (Reason.ORPHANED, "orphaned", Outcome.NOTED, -10_000),
]
"""Reason, what happens, what the operator decides, and by how many cents the customer's balance is other at the end."""


def test_twelve_odd_payments_of_a_day_are_cleared_in_three_clicks_each(
    new_page: Callable[[], "Page"], day: Day
) -> None:
    """OPS-2: each from the one list, with a reason; the claim above the limit by two persons."""
    olga, oskar = operator(new_page, "olga@example.com"), operator(new_page, "oskar@example.com")
    for reason, happens, outcome, cents in ODD:
        before = balance_cents(day.customer)
        getattr(day, happens)()
        olga.decide(day.item(reason), outcome)
        day.settle()
        assert balance_cents(day.customer) - before == cents, reason
        assert not ReviewItem.objects.filter(decided_at=None).exists(), reason
        books_are_right()
    settle_the_claim(olga, oskar, day.claim())
    books_are_right()
    assert ReviewItem.objects.values("reason").distinct().count() == len(ODD) + 1
    olga.begin()
    assert olga.page.locator(".todo", has_text="Review items").count() == 0


def settle_the_claim(first: Operator, second: Operator, order: Order) -> None:
    """Settle an order of $600 by hand: one proposes, the other agrees; the claim is answered with it."""
    first.begin()
    first.open(str(Reason.CLAIM.label))
    first.click(first.page.get_by_role("link", name="Settle by hand"))
    first.page.fill("[name=reason]", "Paid on another network, seen in its explorer.")
    first.page.fill("[name=evidence]", "bscscan.com, sent to our address of that network")
    first.click(first.page.get_by_role("button", name="Propose it"))
    first.says("a second person must agree")
    second.begin()
    second.open(order.number)
    second.click(second.page.get_by_role("button", name="Agree: settle the order"))
    second.says("Settled and recorded.")
    order.refresh_from_db()
    assert (order.state, HandSettlement.objects.get().state) == ("settled", "done")
    claim = ReviewItem.objects.get(reason=Reason.CLAIM)
    assert claim.actor and claim.actor.email == "oskar@example.com"


def test_of_two_operators_with_the_same_item_open_one_decides_and_the_other_sees_it(
    new_page: Callable[[], "Page"], day: Day
) -> None:
    olga, oskar = operator(new_page, "olga@example.com"), operator(new_page, "oskar@example.com")
    day.other_asset()
    address = reverse("admin:payments_reviewitem_change", args=[day.item(Reason.ASSET).pk])
    for person in (olga, oskar):
        person.page.goto(address)
        person.page.get_by_label(re.compile("Why, in a sentence")).fill(f"Said by {person.page.url}")
    olga.page.get_by_role("button", name="Credit it", exact=True).click()
    olga.page.get_by_text("Decided and recorded.").wait_for()
    oskar.page.get_by_role("button", name="Do not credit it", exact=True).click()
    oskar.page.get_by_text("Decided already by olga@example.com: credited.").first.wait_for()
    day.settle()
    assert available_cents(day.customer) == 10_100
    books_are_right()
