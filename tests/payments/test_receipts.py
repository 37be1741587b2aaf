"""Receipts: what was due, what arrived, what it became, and that the sums reconcile."""

import re
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from story import books_are_right, give, make_customer, make_operator, save_order

from balance.models import Movement
from money.units import plain
from orders.actions import move_to_balance, release
from payments.actions.by_hand import settle_by_hand
from payments.actions.intents import pay_from_balance
from payments.receipts import Receipt, receipt_of
from payments.templatetags.receipts import stamp

pytestmark = pytest.mark.django_db


def reconciles(receipt: Receipt) -> None:
    totals = receipt.totals
    assert totals.arrived == totals.credited + totals.tolerance + totals.by_hand + totals.from_balance
    assert totals.arrived == totals.paid + totals.to_balance + totals.reversed
    credited = sum(c.usd_cents for p in receipt.promises for a in p.arrivals for c in a.credits)
    assert totals.credited == credited
    assert len(set(receipt.references)) == len(receipt.references)
    assert Movement.objects.filter(reference__in=receipt.references).count() == len(receipt.references)


def test_an_exact_payment_is_due_received_credited_and_nothing_else(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    txid = shop.network.pay(intent)
    shop.block(4)
    order.refresh_from_db()
    receipt = receipt_of(order)
    reconciles(receipt)
    assert (receipt.kind, receipt.number, receipt.state) == ("order", order.number, "settled")
    totals = receipt.totals
    assert (totals.due, totals.credited, totals.paid, totals.to_balance) == (10_000, 10_000, 10_000, 0)
    [promised] = receipt.promises
    assert (promised.received, promised.amount, promised.extra) == (intent.amount, intent.amount, 0)
    assert promised.evidence.samples[0].source == "fixed"
    [arrival] = promised.arrivals
    assert (arrival.txid, arrival.status) == (txid, "final")
    assert arrival.block_hash and arrival.block_height and arrival.block_time
    assert arrival.credits[0].reference in receipt.references


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-09"])
def test_three_per_cent_too_much_reconciles_with_the_ledger(shop: Any, case: str) -> None:
    order = shop.order()
    intent = shop.ask(order, "usdt-ethereum")
    shop.network.pay(intent, intent.amount * 103 // 100)
    shop.block(4)
    order.refresh_from_db()
    receipt = receipt_of(order)
    reconciles(receipt)
    assert receipt.promises[0].extra == intent.amount * 103 // 100 - intent.amount
    assert receipt.totals.to_balance == shop.balance() == receipt.totals.credited - receipt.totals.paid > 0


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-08"])
def test_what_was_sent_too_much_stands_on_its_own_instructions_only(shop: Any, case: str) -> None:
    order = shop.order()
    other = shop.ask(order, "usdt-ethereum")
    intent = shop.ask(order)
    shop.network.pay(intent, intent.amount + 10**15)
    shop.block(4)
    order.refresh_from_db()
    extras = {promised.id: promised.extra for promised in receipt_of(order).promises}
    assert extras == {str(other.pk): 0, str(intent.pk): 10**15}


def test_a_shortfall_within_the_tolerance_is_named(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent, intent.amount * 9960 // 10_000)
    shop.block(4)
    order.refresh_from_db()
    receipt = receipt_of(order)
    reconciles(receipt)
    assert receipt.totals.tolerance == receipt.promises[0].tolerance_cents == 10_000 - receipt.totals.credited > 0
    assert receipt.totals.to_balance == 0


def test_the_rest_from_the_balance_is_told_apart_from_what_arrived(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent, intent.amount // 2)
    shop.block(4)
    shop.end_of(intent, plus=40)
    give(shop.customer, 7_000)
    pay_from_balance(order.pk, actor=shop.customer)
    order.refresh_from_db()
    receipt = receipt_of(order)
    reconciles(receipt)
    assert (receipt.totals.from_balance, receipt.totals.to_balance) == (10_000 - receipt.totals.credited, 0)


def test_an_order_settled_by_hand_says_so(shop: Any) -> None:
    order = shop.order()
    settle_by_hand(order.pk, reason="paid in cash", evidence="slip 7", actor=make_operator())
    order.refresh_from_db()
    receipt = receipt_of(order)
    reconciles(receipt)
    assert (receipt.totals.by_hand, receipt.totals.paid, receipt.totals.from_balance) == (10_000, 10_000, 0)


def test_a_given_back_order_is_all_in_the_balance(shop: Any) -> None:
    order = shop.order(lots=10)
    intent = shop.ask(order)
    release(order.holds.get())
    save_order(make_customer("bob@example.com"), shop.offer)
    shop.network.pay(intent)
    shop.block(4)
    order.refresh_from_db()
    move_to_balance(order.pk, actor=shop.customer)
    order.refresh_from_db()
    receipt = receipt_of(order)
    reconciles(receipt)
    assert (receipt.totals.paid, receipt.totals.to_balance) == (0, order.total_cents)
    books_are_right()


def test_money_that_the_network_took_back_is_named(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent)
    shop.block(4)
    shop.network.chain.reorg(4, keep=False)
    shop.network.watch()
    shop.network.watch()
    order.refresh_from_db()
    receipt = receipt_of(order)
    reconciles(receipt)
    assert (receipt.totals.reversed, receipt.totals.to_balance) == (10_000, -10_000)


def test_a_receipt_costs_the_same_for_one_and_for_three_instructions(shop: Any) -> None:
    order = shop.order()

    def queries() -> int:
        shop.ask(order)
        with CaptureQueriesContext(connection) as made:
            receipt_of(order)
        return len(made)

    assert queries() == queries() == queries() <= 6


NEW_YORK = "America/New_York"
ZONES = [
    ("UTC", "2026-05-01T12:00", "1 May 2026, 12:00 UTC"),
    ("Asia/Tehran", "2026-05-01T12:00", "1 May 2026, 15:30 UTC+03:30 Asia/Tehran (1 May 2026, 12:00 UTC)"),
    (NEW_YORK, "2026-05-01T02:05", "30 Apr 2026, 22:05 UTC-04:00 America/New_York (1 May 2026, 02:05 UTC)"),
    # The hour that comes twice when summer time ends: the distance from UTC tells them apart.
    (NEW_YORK, "2026-11-01T05:30", "1 Nov 2026, 01:30 UTC-04:00 America/New_York (1 Nov 2026, 05:30 UTC)"),
    (NEW_YORK, "2026-11-01T06:30", "1 Nov 2026, 01:30 UTC-05:00 America/New_York (1 Nov 2026, 06:30 UTC)"),
]


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-88"])
@pytest.mark.parametrize(("zone", "moment", "written"), ZONES)
def test_a_time_on_a_receipt_names_its_zone_and_its_distance_from_utc(
    case: str, zone: str, moment: str, written: str
) -> None:
    with timezone.override(ZoneInfo(zone)):
        assert stamp(datetime.fromisoformat(f"{moment}Z")) == written


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-88"])
def test_the_page_writes_every_time_the_same_way(shop: Any, client: Any, case: str) -> None:
    order = shop.order()
    shop.network.pay(shop.ask(order))
    shop.block(4)
    client.force_login(shop.customer)
    html = client.get(reverse("payments:receipt", args=[order.number])).content.decode()
    main = re.sub(r"<[^>]+>", " ", html[html.index("<main") : html.index("</main>")])
    times = re.findall(r"\d{1,2}:\d\d\b", main)
    assert len(times) >= 6
    assert len(times) == len(re.findall(r"\d{1,2} \w+ \d{4}, \d\d:\d\d UTC", main))
    assert not re.search(r"(?<![a-z])[ap]\.?m\.?\b", main)


def test_before_any_money_a_receipt_leads_to_the_order(shop: Any, client: Any) -> None:
    order = shop.order()
    client.force_login(shop.customer)
    answer = client.get(reverse("payments:receipt", args=[order.number]))
    assert answer.url == order.get_absolute_url()


def test_the_page_shows_due_received_and_credited_each_with_its_unit(shop: Any, client: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    txid = shop.network.pay(intent, intent.amount * 103 // 100)
    shop.block(4)
    client.force_login(shop.customer)
    html = client.get(reverse("payments:receipt", args=[order.number])).content.decode()
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html))
    assert f"{plain(intent.amount, 18)} ETH" in text
    assert f"{plain(intent.amount * 103 // 100, 18)} ETH" in text
    assert f"{plain(intent.amount * 103 // 100 - intent.amount, 18)} ETH" in text
    assert f"${(10_000 + shop.balance()) / 100:.2f}" in text
    assert txid in text
    assert reverse("payments:receipt_json", args=[order.number]) in html and "verify_receipt.py" in html
    assert text.count("Together") == 2
