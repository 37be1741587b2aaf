"""An open page is told "nothing has changed" only while that is so: every step of a story reaches it, and each look in
between costs three statements."""

import html
import json
import re
import uuid
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as project
from django.db import connection, transaction
from django.db.models import F, Model
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone, translation
from story import give, make_customer, make_operator, save_order

from catalog.models import Offer
from events.actions import record
from events.relay import drain
from orders import actions as orders
from orders.models import Hold, Order
from payments import validators
from payments.actions import intents
from payments.actions.topups import make_topup
from payments.models import Allocation, ChainTransfer, NetworkCursor, PaymentIntent, TopUp
from payments.polled import intent_polled, topup_polled
from provisioning import actions as provisioning
from provisioning.access import Access
from provisioning.models import Rental

pytestmark = pytest.mark.django_db
MOST = 3  # session, user, and one of ours
TICKS = [r'value="[A-Za-z0-9]{64}"', r'data-now="\d+"', r'data-looked="\d+" data-head="\d+"', r'hx-headers="[^"]+"']
TICKS += [r"We last looked [\d,]+ s ago, at block [\d,]+\.", r"Checked up to block [\d,]+\."]


@dataclass
class Open:
    """An open page as the browser keeps it: it asks with the marks and the validator of the part that it shows."""

    client: Any
    address: str
    ids: tuple[str, ...]
    text: str = field(init=False)
    ticked: dict[str, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.client.get(self.address)  # gives the cookie that forms repeat
        self.text = self.client.get(self.address).content.decode()

    def ask(self, *, validator: str | None) -> Any:
        asked = re.search(r'hx-get="([^"]+)" hx-headers="([^"]+)"', self.text)
        assert asked
        headers = {"hx-request": "true"} | ({"if-none-match": validator} if validator else {})
        return self.client.get(html.unescape(asked[1]), headers=headers)

    @property
    def validator(self) -> str:
        held = re.search(r'hx-headers="([^"]+)"', self.text)
        assert held
        return str(json.loads(html.unescape(held[1]))["If-None-Match"])

    def look(self) -> bool:
        """Look as the browser does; return whether the part was brought again. Fail if it should have been."""
        fresh = self.ask(validator=None).content.decode()
        with CaptureQueriesContext(connection) as queries:
            answer = self.ask(validator=self.validator)
        differs = self.shown(fresh) != self.shown(self.text) or 'id="send"' in fresh or 'id="history"' in fresh
        assert not differs or answer.status_code == 200, "a change was hidden"
        if answer.status_code == 304:
            assert len(queries) <= MOST, [query["sql"][:120] for query in queries]
            assert not answer.content and not answer.templates
            self.ticked = json.loads(answer.headers.get("HX-Trigger", "{}")).get("ticked", {})
            return False
        assert answer.headers["ETag"] in html.unescape(answer.content.decode()).replace('\\"', '"')
        self.text = answer.content.decode()
        return differs

    def shown(self, text: str) -> str:
        """Return the parts that are swapped by themselves, without what only ticks."""
        found = "".join(part_of(text, one) for one in self.ids)
        for pattern in TICKS:
            found = re.sub(pattern, "", found)
        return re.sub(r'\?sending=[^"]+| hx-swap-oob="true"', "", found)

    def moves(self) -> None:
        """Fail unless this look brings something new and the next one nothing."""
        assert self.look(), "the step changed nothing on the page"
        self.stands()

    def stands(self) -> None:
        self.look()
        assert self.look() is False
        assert self.ask(validator=self.validator).status_code == 304


def part_of(text: str, name: str) -> str:
    """Return the element with this id, whatever stands in it."""
    begin = re.search(rf'<(\w+) [^>]*id="{name}"', text)
    assert begin
    depth = 0
    for tag in re.finditer(rf"<(/?){begin[1]}\b", text[begin.start() :]):
        depth += -1 if tag[1] else 1
        if not depth:
            return text[begin.start() :][: tag.start()]
    raise AssertionError(f"{name} has no end")


@pytest.fixture
def page(shop: Any, client: Any) -> Open:
    return opened(client, shop.ask(shop.order()))


def opened(client: Any, intent: PaymentIntent) -> Open:
    client.force_login(intent.customer)
    page = Open(client, reverse("payments:intent", args=[intent.pk]), ("payment-status",))
    assert page.ask(validator=page.validator).status_code == 304
    return page


def newest() -> PaymentIntent:
    return PaymentIntent.objects.latest("created_at")


def test_a_payment_from_waiting_to_the_handed_over_machine(shop: Any, page: Open) -> None:
    intent = newest()
    intents.declare(intent.pk, actor=shop.customer)
    page.moves()
    shop.network.pay(intent)
    shop.network.watch()
    page.moves()  # seen
    for _ in range(2):
        shop.network.mine()
        page.moves()  # confirming, one more each time
    shop.network.mine()
    page.moves()  # paid
    drain()
    page.moves()  # queued
    rental, operator = Rental.objects.get(), make_operator()
    provisioning.move(rental.pk, "preparing", actor=operator)
    page.moves()
    provisioning.move(rental.pk, "ready", actor=operator)
    page.moves()
    provisioning.hand_over(rental.pk, Access(ssh_host="gpu1.example"), actor=operator)
    page.moves()


def test_a_look_that_finds_nothing_new_says_when_and_how_far_the_network_was_read(shop: Any, page: Open) -> None:
    assert page.look() is False
    height = NetworkCursor.objects.get(pk="ethereum").height or 0
    assert page.ticked == {"now": int(timezone.now().timestamp()), "seconds": 0, "head": height}
    shop.wait(0.5)
    assert page.look() is False
    assert page.ticked["seconds"] == 30
    shop.network.chain.go_down()
    shop.wait(5)
    shop.network.chain.mine()
    shop.network.watch()  # in vain
    assert page.look() is False
    assert (page.ticked["seconds"], page.ticked["head"]) == (330, height)
    shop.network.chain.come_up()
    shop.network.watch()
    assert page.look() is False
    assert (page.ticked["seconds"], page.ticked["head"]) == (0, height + 1)


def test_a_node_that_is_down_beyond_the_end_and_up_again(shop: Any, page: Open) -> None:
    intent = newest()
    shop.network.chain.go_down()
    shop.clock.move_to(intent.expires_at - timedelta(seconds=1))
    page.stands()
    shop.clock.move_to(intent.expires_at)
    page.moves()  # the time is over, and the clock stands still: nothing in the database has changed
    shop.wait(5)
    shop.network.chain.mine()
    shop.network.watch()
    page.stands()
    shop.network.chain.come_up()
    shop.network.watch()
    page.moves()  # expired


def test_a_network_that_was_not_watched_for_a_day(shop: Any, page: Open) -> None:
    shop.network.chain.go_down()
    shop.end_of(newest(), plus=24 * 60 + 1)
    page.moves()
    assert "not watched" in page.text


def test_newer_instructions_and_the_end_of_the_older(shop: Any, page: Open) -> None:
    older = newest()
    shop.wait(1)
    newer = shop.ask(older.order, "usdt-ethereum")
    page.moves()
    assert "are honoured until" in page.text
    shop.network.chain.go_down()
    shop.clock.move_to(older.expires_at)
    page.moves()
    assert "were honoured until" in page.text
    intents.declare(newer.pk, actor=shop.customer)
    page.moves()  # in the history of the older one


def test_a_part_the_rest_and_too_much(shop: Any, page: Open) -> None:
    intent = newest()
    shop.network.pay(intent, intent.amount // 4)
    shop.network.watch()
    page.moves()
    shop.network.mine()
    page.moves()  # partly paid: the amount that is missing
    shop.network.mine(3)
    page.look()
    shop.network.pay(intent, intent.amount)
    shop.network.watch()
    page.moves()
    shop.network.settle()
    page.moves()


def test_late_money_with_and_without_the_wish_that_it_pays(shop: Any, page: Open) -> None:
    intent = newest()
    intents.choose_late(intent.pk, pay_if_late=True, actor=shop.customer)
    page.moves()
    shop.end_of(intent, plus=10)
    page.moves()
    shop.network.price()
    shop.network.pay(intent, intent.amount // 2)
    shop.network.watch()
    page.moves()
    shop.block(3)
    page.moves()  # in the band: not decided yet
    shop.wait(30)
    shop.block(2)
    page.moves()  # credited


def test_a_transfer_that_is_replaced_and_one_that_is_dropped(shop: Any, page: Open) -> None:
    intent = newest()
    txid = shop.network.pay(intent)
    shop.network.watch()
    page.moves()
    other = shop.network.chain.replace(txid, "another", intent.amount, method="eth")
    shop.network.watch()
    page.moves()
    shop.network.chain.drop(other)
    txid = shop.network.pay(intent)
    shop.network.watch()
    page.moves()
    shop.network.chain.drop(txid)
    shop.network.watch()
    page.moves()


def test_money_that_is_taken_back_after_it_was_final(shop: Any, page: Open) -> None:
    txid = shop.network.pay(newest())
    shop.network.settle()
    page.moves()
    shop.network.chain.reorg(5, keep=False)
    shop.block(6)
    page.moves()
    shop.network.chain.pay(newest().address.address, newest().amount, method="eth", txid=txid)
    shop.block(4)
    page.moves()


def test_another_asset_waits_for_a_person(shop: Any, page: Open) -> None:
    intent = newest()
    shop.network.chain.pay(intent.address.address, 10**12, method="usdt-ethereum")
    shop.network.watch()
    page.moves()
    shop.block(4)
    page.look()
    assert "Needs help" in page.text


def test_a_large_sum_waits_for_the_second_provider(shop: Any, client: Any) -> None:
    shop.network.chain.second_provider("agrees")
    intent = shop.ask(make_dear(shop))
    page = opened(client, intent)
    shop.network.chain.second_provider("disagrees")
    shop.network.pay(intent)
    shop.network.mine(40)
    page.moves()
    assert "Waiting for a second confirmation" in page.text
    shop.network.chain.second_provider("none")
    page.moves()  # only the simulated network knows it
    shop.network.watch()
    page.look()
    drain()
    page.stands()


def make_dear(shop: Any) -> Order:
    shop.offer.prices.update(unit_price_cents=project.SECOND_PROVIDER_ABOVE_CENTS * 2)
    order: Order = shop.order()
    return order


def test_cancelled_instructions_and_a_cancelled_order(shop: Any, client: Any, page: Open) -> None:
    order = newest().order
    shop.wait(1)
    intents.cancel(newest().pk, actor=shop.customer)
    page.moves()
    page = opened(client, shop.ask(order))
    orders.cancel_order(newest().purpose.pk, actor=shop.customer)
    page.moves()


def test_an_order_that_is_paid_from_the_balance(shop: Any, page: Open) -> None:
    give(shop.customer, 50_000)
    page.stands()
    intents.pay_from_balance(newest().purpose.pk, actor=shop.customer)
    page.moves()
    drain()
    page.moves()


def test_a_paid_order_that_waits_for_stock_and_gets_its_lots(shop: Any, page: Open) -> None:
    intent, operator, other = newest(), make_operator(), make_customer("bob@example.com")
    Offer.objects.update(lots=1)
    orders.release(Hold.objects.get())
    taken = save_order(other, shop.offer)
    shop.network.pay(intent)
    shop.block(3)
    page.moves()
    assert "waiting for stock" in page.text.lower()
    orders.cancel_order(taken.pk, actor=other)
    page.stands()
    assert orders.take_stock(intent.purpose.pk, actor=operator)
    page.moves()
    drain()
    page.moves()  # queued


def test_the_reader_changes_language_zone_and_session(shop: Any, page: Open) -> None:
    for column, value in (("language", "ru"), ("time_zone", "Asia/Tokyo"), ("language", "en")):
        setattr(shop.customer, column, value)
        shop.customer.save(update_fields=[column])
        page.moves()
    translation.activate("en")
    page.client.cookies[project.CSRF_COOKIE_NAME] = "n" * 32
    assert page.ask(validator=page.validator).status_code == 200  # its forms repeat what is not asked for any more


def test_what_is_served_changes(page: Open, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Any) -> None:
    known = validators.edition.__wrapped__()
    settings.SUPPORT_CONTACT = "help@example.com"
    named = validators.edition.__wrapped__()
    (tmp_path / "new.html").write_text("new")
    settings.TEMPLATES = [settings.TEMPLATES[0] | {"DIRS": [*settings.TEMPLATES[0]["DIRS"], tmp_path]}]
    deployed = validators.edition.__wrapped__()
    assert len({known, named, deployed}) == 3
    assert deployed == validators.edition.__wrapped__()
    monkeypatch.setattr(validators, "edition", lambda: "another")
    assert page.ask(validator=page.validator).status_code == 200


def test_a_validator_of_something_else_or_of_nobody_changes_nothing(shop: Any, page: Open, client: Any) -> None:
    other = opened(client, shop.ask(shop.order()))
    assert page.ask(validator=other.validator).status_code == 200
    assert page.ask(validator='"nonsense"').status_code == 200
    client.logout()
    assert page.ask(validator=page.validator).status_code == 302


def a_topup(shop: Any, client: Any) -> tuple[TopUp, Open]:
    client.force_login(shop.customer)
    topup = make_topup(shop.customer, 10_000, form_key=uuid.uuid4())
    page = Open(client, reverse("payments:topup", args=[topup.number]), ("topup-live", "timeline"))
    page.stands()
    return topup, page


def ask(shop: Any, topup: TopUp, code: str = "eth") -> PaymentIntent:
    shop.network.price()
    shop.network.watch()
    return intents.open_topup_intent(topup.pk, code, form_key=uuid.uuid4(), actor=shop.customer)


def test_the_page_of_a_top_up(shop: Any, client: Any) -> None:
    topup, page = a_topup(shop, client)
    first = ask(shop, topup)
    page.moves()
    shop.network.pay(first, first.amount // 2)
    shop.network.watch()
    page.moves()
    shop.network.mine()
    page.moves()
    shop.block(3)
    page.moves()  # credited in part
    shop.wait(1)
    second = ask(shop, topup, "usdt-ethereum")
    page.moves()
    intents.declare(second.pk, actor=shop.customer)
    page.moves()
    shop.clock.move_to(second.expires_at)
    page.moves()  # the clock alone
    shop.end_of(second)
    page.moves()


COLUMNS: list[tuple[type[Model], str, Any]] = [
    (PaymentIntent, "quote", "cancelled"),
    (PaymentIntent, "funding", "over"),
    (PaymentIntent, "settlement", "review"),
    (PaymentIntent, "late", True),
    (PaymentIntent, "unwatched", True),
    (PaymentIntent, "pay_if_late", True),
    (PaymentIntent, "declared_at", timezone.now),
    (PaymentIntent, "closed_at", timezone.now),
    (PaymentIntent, "ended_at", timezone.now),
    (PaymentIntent, "expires_at", lambda: F("created_at") + timedelta(microseconds=1)),
    (ChainTransfer, "method", "usdt-ethereum"),
    (ChainTransfer, "amount", 17),
    (ChainTransfer, "dust", True),
    (ChainTransfer, "status", "final"),
    (ChainTransfer, "confirmations", 17),
    (ChainTransfer, "credited", True),
    (ChainTransfer, "first_seen_at", lambda: F("first_seen_at") - timedelta(hours=1)),
    (ChainTransfer, "block_time", lambda: F("block_time") - timedelta(hours=1)),
    (ChainTransfer, "slack_seconds", 17),
    (ChainTransfer, "seconded", True),
    (ChainTransfer, "verdict", "keep"),
    (Allocation, "live", False),
    (Allocation, "usd_cents", 17),
]
# What of these rows no open page's part shows, or what never changes.
NOT_POLLED = {
    PaymentIntent: "id order topup customer form_key method network amount usd_cents rate_e8 rate_evidence address "
    "born_height created_at exchange",
    ChainTransfer: "id network txid position intent contract block_height block_hash finalized explained replaced_by",
    Allocation: "id transfer episode intent customer locked_amount market_amount market_rate_e8 movement at",
}


@pytest.mark.parametrize(("model", "column", "value"), COLUMNS, ids=lambda one: getattr(one, "__name__", str(one)))
@pytest.mark.parametrize("of", ["order", "topup"])
def test_each_column_that_is_shown_is_read(shop: Any, of: str, model: Any, column: str, value: Any) -> None:
    topup = make_topup(shop.customer, 10_000, form_key=uuid.uuid4())
    intent = ask(shop, topup) if of == "topup" else shop.ask(shop.order())
    shop.network.pay(intent, intent.amount // 2)
    shop.block(4 if model is Allocation else 1)
    if model is Allocation and of == "order":
        shop.end_of(intent, plus=60)
        shop.block()

    def polled() -> Any:
        now, customer = timezone.now(), shop.customer
        return intent_polled(customer, intent.pk, now) if of == "order" else topup_polled(customer, topup.number, now)

    shop.wait(0.01)
    before = polled().facts
    assert polled().facts == before
    assert model.objects.update(**{column: value() if callable(value) else value})
    assert polled().facts != before


def facts_of(intent: PaymentIntent) -> Any:
    found = intent_polled(intent.customer, intent.pk, timezone.now())
    assert found
    return found.facts


def test_the_states_of_what_is_paid_are_read_beside_their_events(shop: Any) -> None:
    ordered, topped = shop.ask(shop.order()), ask(shop, make_topup(shop.customer, 10_000, form_key=uuid.uuid4()))
    changes: list[tuple[PaymentIntent, type[Model], dict[str, Any]]] = [
        (ordered, Order, {"state": "expired"}),
        (topped, TopUp, {"state": "settled", "settled_at": timezone.now()}),
        (ordered, Hold, {"state": "released", "released_at": timezone.now()}),
        (ordered, NetworkCursor, {"recent": []}),
        (ordered, NetworkCursor, {"last_pass_at": None}),
    ]
    for intent, model, columns in changes:
        before = facts_of(intent)
        assert facts_of(intent) == before
        model._default_manager.update(**columns)
        assert facts_of(intent) != before, columns


def test_events_of_a_top_up_reach_the_page_of_its_instructions(shop: Any) -> None:
    intent = ask(shop, make_topup(shop.customer, 10_000, form_key=uuid.uuid4()))
    before = facts_of(intent)
    with transaction.atomic():
        record("transfer.seen", subject=intent, thread=intent.purpose, actor=None)
    assert facts_of(intent) != before


def test_instructions_for_the_same_thing_read_each_other_and_are_told_apart(shop: Any) -> None:
    order = shop.order()
    older, newer = shop.ask(order), shop.ask(order, "usdt-ethereum")
    before = facts_of(older)
    assert before != facts_of(newer)
    PaymentIntent.objects.filter(pk=newer.pk).update(declared_at=timezone.now())
    assert facts_of(older) != before


def test_a_new_column_is_thought_of() -> None:
    for model, names in NOT_POLLED.items():
        there = {one.name for one in model._meta.concrete_fields}
        assert there == set(names.split()) | {column for known, column, _ in COLUMNS if known is model}
