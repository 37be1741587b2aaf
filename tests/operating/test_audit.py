"""The audit log: who did what, when, why; filters, pages without a count, and its file (OPS-2)."""

import csv
import io
import re
import uuid
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
import time_machine
from django.conf import settings as site
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from operating.conftest import Staff
from story import PASSWORD, Network, ask, make_customer, make_offer, make_operator, save_order

from accounts.actions.people import sign_out_everywhere
from accounts.actions.roles import set_role
from accounts.models import User
from config.audit.asking import Before, Question
from config.audit.groups import GROUPS, LOOKED_UP, WORDS
from config.audit.sources import events, newest
from events.actions import record
from events.models import Event
from payments.actions.by_hand import settle_by_hand
from payments.actions.deciding import decide
from payments.models import ReviewItem
from support.actions import look_up

pytestmark = pytest.mark.django_db
LOG = "admin:events_event_changelist"
# What customers and networks do: kinds of these stories need no place in the log.
NOT_OF_STAFF = {"intent", "transfer", "topup", "order", "guest_work", "review", "rental", "alarm", "worker"}


def log(client: Client, **query: str) -> str:
    answer = client.get(reverse(LOG), query)
    assert answer.status_code == 200
    return " ".join(unescape(re.sub(r"<(?!a )[^>]*>", " ", answer.content.decode())).split())


def lines(client: Client, **query: str) -> list[dict[str, str]]:
    answer: Any = client.get(reverse("admin:events_event_download"), query)
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


@pytest.fixture
def shop_story(network: Network) -> dict[str, Any]:
    """An operator settles by hand and decides, an owner hands out a role, a customer pays."""
    operator, customer = make_operator("olga@example.com"), make_customer()
    offer = make_offer()
    paid, wired = save_order(customer, offer), save_order(customer, offer)
    network.pay(ask(paid))
    network.settle()
    settle_by_hand(wired.pk, reason="=cmd wire came", evidence="bank statement 7", actor=operator)
    item = ReviewItem.objects.create(reason="other_asset", subject="x:1")
    decide(item.pk, ReviewItem.Outcome.NOTED, reason="seen in an explorer", actor=operator)
    set_role(make_customer("new@example.com"), "support", actor=operator)
    return {"operator": operator, "customer": customer, "paid": paid, "wired": wired}


def test_it_says_who_did_what_to_what_and_why(shop_story: dict[str, Any], staff: Staff) -> None:
    page = log(staff("operator"))
    for words in (
        "olga@example.com", "Settled an order by hand", shop_story["wired"].number, "=cmd wire came",
        "evidence: bank statement 7", "Decided a review item", "seen in an explorer", "decision: noted", "Set a role",
        "role: support", "A transfer was credited", "the system",
    ):  # fmt: skip
        assert words in page, words
    assert "Payment instructions made" not in page  # a customer's doing
    assert "Payment instructions made" in log(staff("owner"), group="everything")


def test_filters_narrow_it(shop_story: dict[str, Any], staff: Staff) -> None:
    client, wired, paid = staff("operator"), shop_story["wired"], shop_story["paid"]
    kinds = {row["kind"] for row in lines(client, group="decisions")}
    assert kinds == {"review.decided", "order.hand_proposed", "order.hand_settled"}
    assert {row["who"] for row in lines(client, person="olga")} == {"olga@example.com"}
    spelled = wired.number.lower().replace("-", " ")
    assert {row["about"] for row in lines(client, about=spelled)} == {wired.number}
    assert {row["about"] for row in lines(client, about=f"order:{paid.pk}")} == {paid.number}
    assert [row["kind"] for row in lines(client, about="new@example.com")] == ["role.set"]
    assert lines(client, about="GL-0000-0000") == [] and lines(client, person="nobody@") == []
    assert "Nothing fits." in log(client, about="GL-0000-0000")
    proposed = next(row for row in lines(client, group="decisions") if row["kind"] == "order.hand_proposed")
    assert proposed["reason"] == "'=cmd wire came"  # from the settlement itself, and no formula


def test_ops_3_look_ups_of_the_support_desk_stand_in_it_too(shop_story: dict[str, Any], staff: Staff) -> None:
    order, seeker = shop_story["paid"], make_customer("sue@example.com")
    look_up(order.number, admitted=True, actor=seeker)
    look_up("GL-0000-0000", admitted=True, actor=seeker)
    client = staff("operator")
    found = lines(client, group="desk")
    assert [(row["who"], row["about"]) for row in found] == [("sue@example.com", ""), ("sue@example.com", order.number)]
    assert len(lines(client, about=order.number, group="everything", person="sue@example.com")) == 1
    assert lines(client, group="decisions", person="sue@example.com") == []


def test_the_period_is_in_the_readers_time_zone(staff: Staff, settings: Any) -> None:
    person = make_customer()
    with time_machine.travel(datetime(2026, 5, 1, 23, 30, tzinfo=UTC), tick=False):
        sign_out_everywhere(person, actor=person)
    warsaw = staff("operator", time_zone="Europe/Warsaw")
    utc = staff("owner")
    assert len(lines(warsaw, group="people", first="2026-05-02", last="2026-05-02", person="ada")) == 1
    assert len(lines(utc, group="people", first="2026-05-01", last="2026-05-01", person="ada")) == 1
    assert lines(utc, group="people", first="2026-05-02", last="2026-05-02", person="ada") == []
    assert "2 May 2026, 01:30:00" in log(warsaw, person="ada") and "CEST" in log(warsaw, person="ada")


def many(count: int, kind: str = "role.set", actor: User | None = None) -> None:
    """Record events of which several have the same moment."""
    person = make_customer(f"{uuid.uuid4()}@example.com")
    with transaction.atomic():
        for number in range(count):
            with time_machine.travel(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number // 3), tick=False):
                record(kind, subject=person, actor=actor, role=str(number))


@pytest.mark.parametrize("group", ["people", "", "everything"])
def test_pages_follow_each_other_without_a_gap_a_repeat_or_a_count(staff: Staff, group: str) -> None:
    many(130)
    client, url, seen, pages = staff("operator"), reverse(LOG) + f"?group={group}&person=", [], 0
    while url:
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(url)
        counted = [query["sql"] for query in queries if query["sql"].upper().startswith("SELECT COUNT(")]
        assert not [sql for sql in counted if "events_event" in sql]
        entries = answer.context["entries"]
        seen += [key for _entry, key in entries]
        further = answer.context["further"]
        url, pages = (f"{reverse(LOG)}?{further}" if further else ""), pages + 1
    everything = Event.objects.all() if group == "everything" else Event.objects.filter(kind__in=WORDS)
    assert seen == list(everything.order_by("-at", "-id").values_list("pk", flat=True))
    assert len(seen) == len(set(seen)) >= 130 and pages == 3


def test_it_costs_the_same_queries_for_few_rows_and_for_many(shop_story: dict[str, Any], staff: Staff) -> None:
    client = staff("operator")
    for query in ({}, {"group": "people"}, {"person": "olga"}, {"group": "everything"}):
        counts = []
        for _ in range(2):
            with CaptureQueriesContext(connection) as queries:
                assert client.get(reverse(LOG), query).status_code == 200
            counts.append(len(queries))
            for _ in range(3):
                many(15, actor=shop_story["operator"])
        assert counts[0] == counts[1] <= 60, query  # with the head of the page, which counts anew after each event


def plan(query: Any) -> str:
    return str(query.explain())


def test_every_question_has_an_index(db: None) -> None:
    """Nothing of the log reads the whole table: neither on PostgreSQL nor on SQLite."""
    many(40)
    names = {index.name for index in Event._meta.indexes}
    assert {"event_kind_at", "event_at", "event_actor_at"} <= names
    if connection.vendor == "sqlite":
        rows = Event.objects.order_by("-at", "-id")
        for narrowed, index in (
            (rows.filter(kind="role.set"), "event_kind_at"),
            (rows.filter(actor__in=[1]), "event_actor_at"),
            (rows.filter(at__gte=datetime(2026, 1, 1, tzinfo=UTC)), "event_at"),
            (rows, "event_at"),
        ):
            assert index in plan(narrowed) and "TEMP B-TREE" not in plan(narrowed), plan(narrowed)


def test_rows_of_several_sources_lie_together(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second source (the look-ups of support) is one more line of the table; pages go through both."""
    many(20)

    def second(question: Question, before: Before | None, limit: int) -> list[Event]:
        from config.audit.sources import narrowed

        return list(narrowed(Event.objects.order_by("-at", "-id"), question, before, "second")[:limit])

    monkeypatch.setattr("config.audit.sources.SOURCES", {"event": events, "second": second})
    question, before, seen = Question(), None, []
    while page := newest(question, before, 7):
        seen += [(name, row.pk) for name, row in page]
        before = Before.parse(str(Before(page[-1][1].at, page[-1][0], page[-1][1].pk)))
    assert len(seen) == len(set(seen)) == 40


@pytest.mark.parametrize("text", ["", "x", "2026-01-01,event", "2026-01-01T00:00:00+00:00,event,zz", "1,2,3,4"])
def test_a_forged_end_of_a_page_is_no_end(text: str, staff: Staff) -> None:
    assert Before.parse(text) is None
    assert staff("operator").get(reverse(LOG), {"before": text}).status_code == 200


def test_nonsense_in_the_filters_is_answered(staff: Staff) -> None:
    client = staff("operator")
    for query in ({"first": "x"}, {"first": "0001-01-01", "last": "9999-12-31"}, {"group": "x"}, {"about": "\x00"}):
        assert client.get(reverse(LOG), query).status_code == 200, query
        assert client.get(reverse("admin:events_event_download"), query).status_code == 200


def test_support_does_not_read_it(staff: Staff) -> None:
    client = staff("support")
    assert client.get(reverse(LOG)).status_code == 403
    assert client.get(reverse("admin:events_event_download")).status_code == 403


def test_a_sign_in_of_the_staff_is_in_it_and_a_customers_is_not(client: Client, staff: Staff, settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    operator = make_operator("signs-in@example.com")
    customer = make_customer()
    for person in (operator, customer):
        client.post(reverse("account_login"), {"login": person.email, "password": PASSWORD})
        client.post(reverse("account_logout"))
    (event,) = Event.objects.filter(kind="staff.signed_in")
    assert event.actor == operator and event.data == {"second_factor": False}
    assert "signs-in@example.com" in log(staff("operator"), group="sign_in")


def test_every_kind_of_event_has_a_place_in_the_log_or_is_not_of_staff() -> None:
    """A new kind of docs/events.md that staff causes stands in config/audit/groups.py."""
    page = (site.BASE_DIR / "docs" / "events.md").read_text()
    kinds = {kind for kind in re.findall(r"`([a-z_]+\.[a-z_]+)`", page)} - {"noun.past_participle"}
    assert WORDS.keys() - {LOOKED_UP} <= kinds
    assert {kind for kind in kinds - WORDS.keys() if kind.partition(".")[0] not in NOT_OF_STAFF} == {"payout.seen"}
    assert sum(len(words) for _label, words in GROUPS.values()) == len(WORDS)
