"""OPS-3, A10, ACC-8: no story without a row of the log; who may look, how often, for how long; nothing is changed."""

import uuid
from typing import Any

import pytest
from desk import text_of
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings
from story import books_are_right, make_customer, save_order

from accounts.models import User
from events.models import Event
from orders.models import Order
from support.models import Lookup

pytestmark = pytest.mark.django_db


def test_ops_3_each_look_up_is_logged_also_when_nothing_is_found(shop: Any, desk: Any) -> None:
    order = shop.order()
    for text in (order.number, "GL-0000-0000", "what is this", "nobody@example.com"):
        desk.look_up(text)
    rows = list(Lookup.objects.order_by("pk").values_list("actor", flat=True))
    assert rows == [desk.person.pk] * 4
    found = Lookup.objects.get(outcome="found")
    assert (found.text, found.kind, found.hits) == (order.number, "order", [f"order:{order.pk}"])
    assert found.customer == shop.customer and found.at == timezone.now()
    assert set(Lookup.objects.exclude(pk=found.pk).values_list("outcome", flat=True)) == {"nothing"}


def test_no_get_writes_and_none_looks_anything_up(shop: Any, desk: Any) -> None:
    order = shop.order()
    page = desk.post(order.number)
    for url in ("/support/", page, f"/support/?text={order.number}", f"{page}?subject=order:{order.pk}"):
        with CaptureQueriesContext(connection) as queries:
            desk.client.get(url)
        assert not [q["sql"] for q in queries if not q["sql"].upper().startswith(("SELECT", "SAVEPOINT", "RELEASE"))]
    for name in ("support:look_up", "support:follow"):
        url = reverse(name, args=[desk.last.pk] if "follow" in name else [])
        assert desk.client.get(url, {"text": order.number, "subject": f"order:{order.pk}"}).status_code == 405
    assert Lookup.objects.count() == 1


def test_a_forged_post_without_the_secret_of_the_form_is_refused(shop: Any, desk: Any) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(desk.person)
    assert client.post("/support/look-up/", {"text": shop.order().number}).status_code == 403
    assert not Lookup.objects.exists()


def test_a10_the_log_keeps_no_email(shop: Any, desk: Any) -> None:
    """The row is never deleted, contact data is: whom it was about says `customer`."""
    desk.look_up(f"mail of {shop.customer.email}")
    html = desk.look_up(shop.customer.email)
    assert desk.last.text == "a…@example.com" and desk.last.customer == shop.customer
    assert shop.customer.email in html
    assert not Lookup.objects.filter(text__contains=shop.customer.email).exists()


def test_a10_anybody_elses_look_up_is_not_there(shop: Any, desk: Any, desk_of: Any) -> None:
    order = shop.order()
    page = desk.post(order.number)
    for role in ("operator", "owner"):
        other = desk_of(role)
        other.page(page, status=404)
        assert other.follow(f"order:{order.pk}", of=desk.last).status_code == 404
    desk.page(f"/support/{uuid.uuid4()}/", status=404)
    assert desk.client.get("/support/1/").status_code == 404


def test_a10_a_button_leads_only_to_the_same_customer(shop: Any, desk: Any) -> None:
    """Keys of rows are counted up: without this bound, whoever can look up one order could read through all."""
    order, second = shop.order(), shop.order()
    stranger = make_customer("stranger@example.com")
    foreign = save_order(stranger, shop.offer)
    desk.look_up(order.number)
    first = desk.last
    for subject in (
        f"order:{foreign.pk}",
        f"user:{stranger.pk}",
        "order:999",
        "",
        "order:",
        "x:1",
        "order:1e3",
        "9" * 90,
    ):
        assert desk.follow(subject, of=first).status_code == 404, subject
    assert desk.follow(f"user:{shop.customer.pk}", of=first).status_code == 302
    assert desk.follow(f"order:{second.pk}", of=first).status_code == 302
    assert set(Lookup.objects.values_list("subject", flat=True)) == {
        f"order:{order.pk}", f"user:{shop.customer.pk}", f"order:{second.pk}",
    }  # fmt: skip


def test_nothing_is_followed_from_a_look_up_that_found_nothing(shop: Any, desk: Any) -> None:
    desk.look_up("GL-0000-0000")
    assert desk.follow(f"order:{shop.order().pk}").status_code == 404


def test_a_story_is_over_after_some_hours_and_can_be_looked_up_again(shop: Any, desk: Any, settings: Settings) -> None:
    order, second = shop.order(), shop.order()
    page = desk.post(order.number)
    first = desk.last
    shop.wait(60 * settings.SUPPORT_LOOKUP_HOURS - 1)
    assert "The whole story" in desk.page(page)
    shop.wait(1)
    text = text_of(desk.page(page, status=410))
    assert "This look-up is over" in text and shop.customer.email not in text and "H100" not in text
    assert desk.follow(f"order:{second.pk}", of=first).status_code == 404
    answer = desk.follow(first.subject, of=first)
    assert "The whole story" in desk.page(answer["Location"])
    assert Lookup.objects.filter(subject=first.subject).count() == 2


def test_a10_look_ups_are_limited_per_person_and_the_refused_ones_are_logged(
    shop: Any, desk: Any, desk_of: Any, settings: Settings
) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"support_lookup": "2/h/key"}
    order = shop.order()
    desk.look_up(order.number)
    page = desk.url
    assert desk.follow(f"user:{shop.customer.pk}").status_code == 302
    text = text_of(desk.look_up(order.number, status=429))
    assert "Too many look-ups" in text and "The whole story" not in text
    refused = desk.last
    assert (refused.outcome, refused.subject, refused.hits, refused.customer) == ("refused", "", [], None)
    assert "The whole story" in desk.page(page)
    desk.url = page
    assert desk.follow(f"order:{order.pk}").status_code == 302 and desk.last.outcome == "refused"
    assert Lookup.objects.filter(outcome="refused").count() == 2
    assert order.number in desk_of("operator").look_up(order.number)
    shop.wait(61)
    assert "The whole story" in desk.look_up(order.number)


@pytest.mark.parametrize("role", ["support", "operator", "owner"])
def test_acc_8_the_desk_asks_for_a_second_factor_as_other_staff_pages_do(
    shop: Any, desk_of: Any, settings: Settings, role: str
) -> None:
    someone = desk_of(role)
    page = someone.post(shop.order().number)
    settings.STAFF_SECOND_FACTOR = True
    for answer in (
        someone.client.get("/support/"),
        someone.client.get(page),
        someone.client.post("/support/look-up/", {"text": "x"}),
        someone.client.post(f"{page}follow/", {"subject": "order:1"}),
    ):
        assert answer.headers["Location"] == reverse("account_factor_needed")
    assert Lookup.objects.count() == 1


def test_acc_8_a_permission_alone_opens_nothing_to_who_is_not_staff(shop: Any, desk: Any) -> None:
    """The gate of the second factor looks at staff only."""
    User.objects.filter(pk=desk.person.pk).update(is_staff=False)
    assert desk.client.get("/support/").status_code == 403


def test_a13_support_changes_nothing_whatever_it_posts(shop: Any, desk: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent, intent.amount // 2)
    shop.block(1)
    page = desk.post(order.number)
    html = desk.page(page)
    actions = {"/support/look-up/", f"{page}follow/", reverse("account_logout"), reverse("set_language")}
    assert set(part.split('"')[0] for part in html.split('action="')[1:]) <= actions
    before = order_facts(order), Event.objects.count()
    numbers = {"number": order.number}
    for name in ("orders:cancel", "orders:to_balance", "payments:balance"):
        assert desk.client.post(reverse(name, kwargs=numbers)).status_code == 404
    for name in ("payments:declare", "payments:cancel", "payments:late"):
        assert desk.client.post(reverse(name, args=[intent.pk])).status_code == 404
    for url in (page, "/support/", f"{page}settle/", f"{page}?state=settled"):
        assert desk.client.post(url, {"state": "settled", "payment": "paid"}).status_code in (404, 405)
    assert desk.client.post(reverse("admin:order_settle", args=[order.pk]), {"reason": "x"}).status_code == 403
    assert (order_facts(order), Event.objects.count()) == before
    books_are_right()


def order_facts(order: Order) -> Any:
    return Order.objects.filter(pk=order.pk).values().get()


def test_the_log_is_append_only(shop: Any, desk: Any) -> None:
    desk.look_up(shop.order().number)
    for sql in ("UPDATE support_lookup SET text = ''", "DELETE FROM support_lookup"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql)
    assert Lookup.objects.get().text


def test_the_database_refuses_a_row_that_shows_what_it_did_not_find(shop: Any, desk: Any) -> None:
    for facts in (
        {"outcome": "found"},
        {"outcome": "found", "subject": "order:1"},
        {"outcome": "nothing", "subject": "order:1", "customer": shop.customer},
        {"outcome": "refused", "customer": shop.customer},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Lookup.objects.create(actor=desk.person, text="x", **facts)


def test_the_list_of_look_ups_is_for_owners(shop: Any, desk: Any, desk_of: Any) -> None:
    desk.look_up(shop.order().number)
    url = reverse("admin:support_lookup_changelist")
    assert desk.client.get(url).status_code == 403 and desk_of("operator").client.get(url).status_code == 403
    html = desk_of("owner").client.get(url, {"q": desk.person.email}).content.decode()
    assert desk.last.text in html and shop.customer.email in html


def test_an_empty_box_leads_back_and_logs_nothing(desk: Any) -> None:
    assert desk.post("   ") == "/support/"
    assert not Lookup.objects.exists()


def test_the_way_to_the_desk_stands_where_staff_looks(shop: Any, desk: Any, client: Client) -> None:
    link = 'href="/support/"'
    assert link in desk.client.get("/").content.decode() and link in desk.client.get("/admin/").content.decode()
    client.force_login(shop.customer)
    assert link not in client.get("/").content.decode()
