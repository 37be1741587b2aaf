"""The administration's first page: what needs a person, on top what stands still; the rest as calm facts (OPS-2)."""

import re
from html import unescape
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import ResolverMatch
from django.utils import timezone
from story import give, make_customer, make_offer, save_order

from accounts.actions.roles import set_role
from accounts.models import User
from accounts.second_factor import staff_page
from catalog.models import Offer
from config import todo
from events.actions import record
from events.models import Heartbeat
from events.relay import drain
from events.tasks import beat
from orders.actions import ask_for_help
from orders.models import Hold
from payments import reconciling
from payments.actions.by_hand import settle_by_hand
from payments.actions.deciding import decide
from payments.actions.intents import pay_from_balance
from payments.actions.reviews import open_review
from payments.models import NetworkCursor, RateSourceHealth, Reconciliation, ReviewItem
from provisioning import actions as rentals
from provisioning.access import Access
from provisioning.models import Rental

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _roomy(settings: Any) -> None:
    """Let one customer order as much as these stories need, and staff in by password alone."""
    settings.HELD_LOTS_LIMIT = 1000
    settings.STAFF_SECOND_FACTOR = False


@pytest.fixture
def operator(shop: Any) -> Client:
    """Return the browser of an operator of a shop with plenty of lots and credit, whose worker lives."""
    Offer.objects.update(lots=1000)
    give(shop.customer, 100_000_000)
    beat()
    user = make_customer("operator@example.com")
    set_role(user, "operator", actor=None)
    client = Client()
    client.force_login(user)
    return client


def home(client: Client) -> str:
    answer = client.get("/admin/")
    assert answer.status_code == 200
    return unescape(answer.content.decode()).replace("\xa0", " ")


def list_of(page: str) -> str:
    """Return the work list without the facts and the records."""
    return page.partition("data-worklist")[2].partition('class="calm"')[0]


def paid(shop: Any, lots: int = 1) -> Rental:
    """Pay an order from credit; return its queued rental."""
    order = save_order(shop.customer, shop.offer, lots=lots)
    pay_from_balance(order.pk, actor=shop.customer)
    drain()
    return Rental.objects.get(order=order)


def review(of: Any) -> ReviewItem:
    with transaction.atomic():
        open_review(ReviewItem.Reason.BOOKS, subject=of, suggestion="")
    return ReviewItem.objects.latest("pk")


def fill(shop: Any, operator: Any, place: int) -> None:
    """Let one more of each thing wait for a person."""
    review(shop.offer.prices.model(pk=place))
    settle_by_hand(shop.order(lots=6).pk, reason="wire", evidence="letter", actor=operator)
    paid(shop)
    gone = shop.order()
    with transaction.atomic():
        ask_for_help(gone)
    waiting = paid(shop)
    Hold.objects.filter(order=waiting.order).update(state="released", released_at=waiting.order.created_at)
    RateSourceHealth.objects.create(source=f"source{place}", error="timed out")
    make_offer(name=f"short {place}", lots=1)
    Offer.objects.filter(name=f"short {place}").update(taken=3, short=2)
    make_offer(name=f"low {place}", lots=1)


# --- rentals ------------------------------------------------------------------------------------------------------
def test_a_rental_without_an_event_for_twelve_hours_stands_on_top(shop: Any, operator: Client) -> None:
    """E15. Words of a customer do not make it younger."""
    still = paid(shop)
    shop.wait(60 * 11)
    with transaction.atomic():
        record("message.sent", subject=still.order, actor=shop.customer)
    failed, fresh = paid(shop), paid(shop)
    rentals.move(failed.pk, "failed", actor=shop.customer)
    shop.wait(61)
    beat()
    text = list_of(home(operator))
    order = re.findall(r"GL-[\w-]+", text.partition("Rentals to prepare")[2])
    assert order == [still.order.number, failed.order.number, fresh.order.number]
    assert "nothing has happened for 12 hours, queued, 1 × H100 SXM" in text
    assert text.count("nothing has happened") == 1 and "failed, 1 × H100 SXM" in text
    rentals.move(still.pk, "preparing", actor=shop.customer)
    assert "nothing has happened" not in home(operator)


def test_rentals_to_end_and_to_wipe_are_named_until_their_lots_are_free(shop: Any, operator: Client) -> None:
    rental, actor = paid(shop), shop.customer
    for state in ("preparing", "ready"):
        rentals.move(rental.pk, state, actor=actor)
    rentals.hand_over(rental.pk, Access(ssh_host="10.0.0.1"), actor=actor)
    assert rental.order.number not in list_of(home(operator))
    shop.wait(8 * 24 * 60)
    assert "the term is over: end it" in home(operator)
    rentals.end(rental.pk, actor=actor)
    assert "confirm the wipe" in home(operator)
    rentals.confirm_wipe(rental.pk, actor=actor)
    assert rental.order.number not in list_of(home(operator))


# --- stock --------------------------------------------------------------------------------------------------------
def test_a_shortfall_is_red_with_its_numbers_and_above_all(shop: Any, operator: Client) -> None:
    """S16."""
    paid(shop)
    Offer.objects.update(lots=2, taken=5, short=3)
    text = list_of(home(operator))
    assert text.index("5 held and in use, 2 exist: 3 short") < text.index("Rentals to prepare")
    assert re.search(r'class="todo bad"[^>]*>\s*<h2[^>]*><a[^>]*>More lots are held', text)


def test_few_lots_are_good_to_know_and_count_as_nobodys_work(shop: Any, operator: Client) -> None:
    before = needed(home(operator))
    Offer.objects.update(lots=4, taken=3)
    page = home(operator)
    assert "1 of 4 left" in page and needed(page) == before
    Offer.objects.update(published=False)
    assert "1 of 4 left" not in home(operator)


# --- networks, prices, books --------------------------------------------------------------------------------------
def test_a_network_that_is_not_watched_says_why_how_far_and_what_rests(shop: Any, operator: Client) -> None:
    shop.network.watch()
    page = home(operator)
    assert re.search(r"Ethereum at height \d+, read 0 s ago", page)
    shop.wait(5)
    NetworkCursor.objects.filter(pk="ethereum").update(head=500, error="The node does not answer.")
    text = list_of(home(operator))
    assert "The node does not answer.; no instructions are made for ETH, USDT, USDC" in text
    assert re.search(r"Read up to height \d+ of 500, \d+ behind", text)


def test_a_price_that_got_old_names_the_methods_that_rest_and_since_when(shop: Any, operator: Client) -> None:
    shop.network.watch()
    shop.network.price()
    assert "Assets without payment instructions" not in home(operator) and "Oldest price in use: 0 s" in home(operator)
    shop.wait(4)
    shop.network.watch()
    text = list_of(home(operator)).partition("Assets without payment instructions")[2]
    assert "USDT (Ethereum)" in text and "4 minutes ago" in text
    assert "no source has a price younger than 120 s" in text
    shop.network.price({"USDC": "0.91"})
    text = list_of(home(operator)).partition("Assets without payment instructions")[2]
    assert (
        "USDC (Ethereum): its price is outside $0.98 to $1.02" in text and "USDT" not in text.partition("</section>")[0]
    )


def test_books_say_when_they_balanced_and_when_they_never_were_compared(shop: Any, operator: Client) -> None:
    assert "Chain and books were not compared yet" in home(operator)
    reconciling.reconcile("ethereum")
    reconciling.reconcile_ledger()
    page = home(operator)
    assert "Books balanced at 1 May 2026, 12:00 UTC" in page and "Chain and books</a>" not in page
    shop.wait(60 * 4)
    assert "not compared since then" in list_of(home(operator))
    Reconciliation.objects.filter(network="").update(agrees=False)
    page = home(operator)
    assert "they differ: run verifyledger" in list_of(page) and "Chain and books differ" in page


# --- what it costs, who sees it -----------------------------------------------------------------------------------
def test_the_page_costs_the_same_for_one_and_for_thirty_of_each(shop: Any, operator: Client) -> None:
    user = make_customer("second@example.com")
    fill(shop, user, 0)
    costs = []
    for places in (range(1, 31), ()):
        with CaptureQueriesContext(connection) as queries:
            page = home(operator)
        costs.append(len(queries))
        for place in places:
            fill(shop, user, place)
    assert needed(page) >= 31 * 8 and "See all 31" in page
    assert page.count("data-row") < 8 * 22
    by_reason = 1  # so many review items are counted by reason instead of listed
    assert costs[0] + by_reason == costs[1] <= 40, costs


def test_staff_without_a_role_are_shown_no_work(shop: Any) -> None:
    user = make_customer("new@example.com")
    user.is_staff = True
    user.save(update_fields=["is_staff"])
    client = Client()
    client.force_login(user)
    page = home(client)
    assert 'class="todo' not in page and "Ethereum" not in page


def test_all_records_stand_below(shop: Any, operator: Client) -> None:
    page = home(operator)
    for name in ("orders/order", "payments/reviewitem", "catalog/offer", "events/event", "provisioning/rental"):
        assert f'href="/admin/{name}/"' in page.partition("All records")[2]


# --- the head of every staff page ---------------------------------------------------------------------------------
def needed(page: str) -> int:
    """Return the number in the page's head; 0 if there is none."""
    found = re.search(r'class="needs"[^>]*>(\d+)<span class="needs-words"> needs? a person</span>', page)
    return int(found[1]) if found else 0


def test_the_number_in_the_head_is_the_list_s_and_follows_a_decision_at_once(shop: Any, operator: Client) -> None:
    before = needed(home(operator))
    item = review(NetworkCursor.objects.get(pk="ethereum"))
    orders = "/admin/orders/order/"
    assert needed(operator.get(orders).content.decode()) == before + 1 == needed(home(operator))
    decide(item.pk, ReviewItem.Outcome.NOTED, reason="seen", actor=make_customer("d@example.com"))
    assert needed(operator.get(orders).content.decode()) == before


def test_the_number_costs_one_query_while_nothing_happens(shop: Any, operator: Client) -> None:
    user = User.objects.get(email="operator@example.com")
    with CaptureQueriesContext(connection) as first:
        todo.count(user, timezone.now())
    with CaptureQueriesContext(connection) as second:
        todo.count(user, timezone.now())
    assert len(first) > 1 and len(second) == 1
    cache.clear()
    with CaptureQueriesContext(connection) as third:
        todo.count(user, timezone.now())
    assert len(third) > 1


def test_every_staff_page_says_when_no_worker_reports(shop: Any, operator: Client, settings: Any) -> None:
    """OPS-8, by the same row that /healthz reads."""
    pages = ("/admin/", "/admin/orders/order/", "/admin/catalog/offer/")
    assert not any("No worker has" in operator.get(page).content.decode() for page in pages)
    shop.wait(3)
    for page in pages:
        text = operator.get(page).content.decode()
        assert 'role="alert"' in text and re.search(
            r"No worker has reported since.*\(3.minutes\)", unescape(text), re.S
        )
        assert "restart the site, its worker is a thread of it" in text
    settings.EMBEDDED_TASKS = False
    assert "see that a worker and the beat run" in home(operator)
    assert operator.get("/healthz").json() == {"database": True, "worker_seen_seconds_ago": 180}
    beat()
    assert operator.get("/healthz").json()["worker_seen_seconds_ago"] == 0
    assert "No worker has" not in home(operator)
    Heartbeat.objects.all().delete()
    assert "No worker has ever reported." in home(operator)
    assert operator.get("/healthz").json()["worker_seen_seconds_ago"] is None


def test_customers_pay_no_query_for_it_and_see_nothing_of_it(shop: Any, operator: Client) -> None:
    """Also staff on customers' pages are customers."""
    order = shop.order()
    client = Client()
    client.force_login(shop.customer)
    shop.wait(60)
    for browser, path in ((client, f"/orders/{order.number}/"), (client, "/gpus/"), (operator, "/gpus/")):
        with CaptureQueriesContext(connection) as queries:
            text = browser.get(path, follow=True).content.decode()
        asked = " ".join(query["sql"] for query in queries)
        assert "events_heartbeat" not in asked and "payments_reviewitem" not in asked
        assert "No worker has" not in text and 'class="needs"' not in text


def test_staff_pages_outside_the_administration_have_the_same_head(shop: Any, operator: Client) -> None:
    shop.wait(3)
    item = review(NetworkCursor.objects.get(pk="ethereum"))
    request = RequestFactory().get("/support/")
    request.user = User.objects.get(email="operator@example.com")
    for view, is_told in ((staff_page(lambda request: HttpResponse()), True), (lambda request: HttpResponse(), False)):
        request.resolver_match = ResolverMatch(view, (), {})
        text = render_to_string("base.html", request=request)
        assert ("No worker has reported" in text, needed(text) > 0) == (is_told, is_told)
    assert item.decided_at is None


def test_the_age_of_a_row_is_in_words_and_as_an_instant(shop: Any, operator: Client) -> None:
    """E23."""
    rental = paid(shop)
    shop.wait(90)
    text = list_of(home(operator)).partition(rental.order.number)[2]
    assert "an hour ago" in text and 'datetime="2026-05-01T12:00:00Z"' in text
