"""What a story costs does not depend on how much happened: no more queries for thirty of everything than for one."""

import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings
from story import give

from catalog.models import Offer
from payments import watcher
from payments.actions import inquiries
from payments.actions.intents import open_intent, open_topup_intent
from payments.actions.topups import make_topup
from payments.models import Allocation, ChainTransfer, Inquiry, PaymentIntent, ReviewItem, TopUp

pytestmark = pytest.mark.django_db
MOST = 32  # statements of one page, session and permissions included


@pytest.fixture(autouse=True)
def no_limits(settings: Settings) -> None:
    settings.LIVE_INTENTS_LIMIT = settings.INTENTS_PER_HOUR = settings.INQUIRIES_PER_HOUR = 1_000
    settings.HELD_LOTS_LIMIT = 1_000
    settings.ACCOUNT_RATE_LIMITS = {}


def cost(desk: Any, text: str) -> int:
    """Look up once, read the page twice; return the statements of the second reading."""
    page = desk.post(text)
    desk.page(page)
    with CaptureQueriesContext(connection) as queries:
        desk.page(page)
    assert len(queries) <= MOST, [query["sql"][:120] for query in queries]
    return len(queries)


def something_of_everything(shop: Any, purpose: Any) -> None:
    """Add instructions with a transfer, a question, review items, an entry of the ledger."""
    key, code = uuid.uuid4(), "usdt-ethereum"
    open_one = open_topup_intent if isinstance(purpose, TopUp) else open_intent
    intent = open_one(purpose.pk, code, form_key=key, actor=shop.customer)
    txid = shop.network.pay(intent, intent.amount // 100)
    inquiry = inquiries.ask(f"{txid} {key}", intent=intent, actor=shop.customer)
    for subject in (f"inquiry:{inquiry.pk}", f"paymentintent:{intent.pk}"):
        ReviewItem.objects.create(reason="claim", subject=subject)
    give(shop.customer, 100)


def settle(shop: Any) -> None:
    """Credit what has arrived, open a review item about each transfer, and let every question be answered."""
    shop.block(4)
    for transfer in ChainTransfer.objects.filter(reviews=None):
        ReviewItem.objects.create(reason="unknown_token", subject=f"x:{transfer.pk}", transfer=transfer)
    Inquiry.objects.update(answer={"found": [{"code": "not_found", "networks": ["ethereum"]}]})


@pytest.mark.timeout(600)
def test_a_story_costs_no_more_for_thirty_of_everything_than_for_one(shop: Any, desk_of: Any) -> None:
    """For an operator, who is shown more than support."""
    desk = desk_of("operator")
    Offer.objects.update(lots=1_000)
    order, topup = shop.order(), make_topup(shop.customer, 50_000, form_key=uuid.uuid4())

    def grow() -> None:
        for purpose in (order, topup):
            something_of_everything(shop, purpose)

    def all_costs() -> list[int]:
        return [cost(desk, text) for text in (order.number, topup.number, shop.customer.email)]

    grow()
    settle(shop)
    all_costs()  # a look-up before this one is there now
    one = all_costs()
    watcher.fill_reserve("ethereum", 100)
    shop.network.price()
    for _ in range(29):
        grow()
    for _ in range(5):
        shop.order()
        make_topup(shop.customer, 50_000, form_key=uuid.uuid4())
    settle(shop)
    for model in (PaymentIntent, ChainTransfer, Inquiry, ReviewItem):
        assert model.objects.count() >= 60, model
    assert Allocation.objects.count() >= 30
    assert all(many <= few for many, few in zip(all_costs(), one, strict=True))


def test_a_look_up_costs_few_statements(shop: Any, desk: Any) -> None:
    """Search and log: each kind is asked for once."""
    order = shop.order()
    for text in (order.number, f"GL{order.symbols[1:]}", shop.customer.email, "ab" * 32, "0x" + "ab" * 20):
        with CaptureQueriesContext(connection) as queries:
            desk.post(text)
        selects = [query["sql"] for query in queries if "support_lookup" not in query["sql"]]
        assert len(selects) <= 14, (text, [sql[:100] for sql in selects])
