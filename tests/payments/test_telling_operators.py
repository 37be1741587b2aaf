"""Operators are told when something needs a person (OPS-8): by mail and webhook, once, without a flood, never lost."""

import json
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from post import PostOffice, post_office
from story import ask, make_operator, save_order

from config import channels, mailing
from config.events import HANDLERS, TELL
from config.tasks import look_around, tell_operators
from config.telling import TOLD, always
from events import notices
from events.models import Alarm, Event, Heartbeat, Notice
from events.notices import note
from events.relay import drain
from events.tasks import beat
from orders.actions import ask_for_help
from orders.models import Hold, Order
from payments.actions.by_hand import approve, settle_by_hand, withdraw
from payments.actions.reviews import open_review
from payments.models import NetworkCursor, ReviewItem
from provisioning import actions as rentals
from provisioning.models import Rental

pytestmark = pytest.mark.django_db
NOW = 5  # minutes: the pause between two messages


@pytest.fixture
def office(settings: Any) -> Iterator[PostOffice]:
    """Yield the operators' mail server."""
    settings.OPERATOR_EMAILS = ["olga@shop.example", "oleg@shop.example"]
    settings.SITE_URL = "https://shop.example"
    settings.EMAIL_FROM = "Shop <shop@shop.example>"
    with post_office() as office:
        settings.MAILERS = {"default": {"BACKEND": "config.mailing.Backend", "OPTIONS": office.options}}
        yield office


@pytest.fixture
def hook(settings: Any, httpserver: Any) -> Any:
    """Return the operators' webhook, which takes everything."""
    httpserver.expect_request("/news", method="POST").respond_with_data("", status=204)
    settings.OPERATOR_WEBHOOK = httpserver.url_for("/news")
    return httpserver


def review(reason: str = "books_differ", of: Any = None) -> ReviewItem:
    """Put something before a person, and let the relay run."""
    with transaction.atomic():
        open_review(ReviewItem.Reason(reason), subject=of or NetworkCursor.objects.get(pk="ethereum"), suggestion="")
    drain()
    return ReviewItem.objects.latest("pk")


def text_of(mail: Any) -> str:
    return str(mail.get_content())


def posted(hook: Any) -> list[dict[str, Any]]:
    return [json.loads(request.data) for request, _ in hook.log]


# --- what is told, and what a message says ------------------------------------------------------------------------
def test_a_mail_says_number_reason_and_page_and_no_more(shop: Any, office: PostOffice) -> None:
    """No personal data and no sums leave the house."""
    order = shop.order()
    shop.network.pay(shop.ask(order))
    Hold.objects.filter(order=order).update(state="released", released_at=timezone.now())
    shop.offer.taken, shop.offer.lots = 0, 0
    shop.offer.save(update_fields=["taken", "lots"])
    shop.network.settle()
    tell_operators()
    (mail,) = office.mails
    assert mail["To"] == "olga@shop.example, oleg@shop.example" and mail["Auto-Submitted"] == "auto-generated"
    assert mail["Subject"] == f"Gridlot: {order.number}, paid, and no lots are left: it waits for stock"
    assert f"https://shop.example/admin/orders/order/{order.pk}/change/" in text_of(mail)
    assert "All that needs a person now: https://shop.example/admin/" in text_of(mail)
    for secret in (shop.customer.email, "Lovelace", "100.00", "0x"):
        assert secret not in mail.as_string()


def test_a_paid_order_is_told_once_and_not_when_an_operator_queues_it_again(shop: Any, office: PostOffice) -> None:
    shop.network.pay(shop.ask(shop.order()))
    shop.network.settle()
    drain()
    tell_operators()
    assert "its machine is to be prepared" in text_of(office.mails[0])
    rental, operator = Rental.objects.get(), make_operator()
    for state in ("preparing", "queued"):
        rentals.move(rental.pk, state, actor=operator)
    drain()
    assert Notice.objects.count() == 1


def test_only_a_settlement_that_waits_for_a_second_person_is_told(shop: Any, office: PostOffice) -> None:
    operator, second = make_operator(), make_operator("second@example.com")
    shop.offer.lots = 30
    shop.offer.save(update_fields=["lots"])
    settle_by_hand(shop.order().pk, reason="wire", evidence="letter", actor=operator)
    large = settle_by_hand(shop.order(lots=6).pk, reason="wire", evidence="letter", actor=operator)
    taken_back = settle_by_hand(shop.order(lots=6).pk, reason="wire", evidence="letter", actor=operator)
    withdraw(taken_back.pk, actor=second)
    drain()
    told = Event.objects.filter(notices__isnull=False, kind="order.hand_proposed")
    assert [event.thread for event in told] == [f"order:{large.order_id}"]
    approve(large.pk, actor=second)


def test_what_a_customer_writes_is_told_and_what_staff_write_is_not(shop: Any, office: PostOffice) -> None:
    order = shop.order()
    for actor in (shop.customer, make_operator()):
        event = Event.objects.create(
            kind="message.sent", thread=f"order:{order.pk}", subject="message:1", actor=actor, data={}
        )
        assert TOLD["message.sent"].when(event) is (actor == shop.customer)
    note(Event.objects.filter(actor=shop.customer).latest("pk"))
    tell_operators()
    assert f"{order.number}, a customer wrote" in office.mails[0]["Subject"]


def test_every_kind_in_the_table_is_handled_and_the_other_way_round() -> None:
    assert {kind for kind, handlers in HANDLERS.items() if TELL in handlers} == set(TOLD)
    assert TOLD["order.needs_help"].when is always


def test_nobody_named_nothing_is_kept(shop: Any, settings: Any) -> None:
    """Whoever names an address later is not flooded with what is long done."""
    review()
    assert not Notice.objects.exists()
    tell_operators()


# --- a digest, not a flood ----------------------------------------------------------------------------------------
def test_the_first_news_go_at_once_and_what_follows_gathers(shop: Any, office: PostOffice) -> None:
    review()
    tell_operators()
    assert len(office.mails) == 1
    for place in range(30):
        review(of=Event(pk=place))
        tell_operators()
    review("claim")
    assert len(office.mails) == 1
    shop.wait(NOW + 1)
    tell_operators()
    tell_operators()
    assert len(office.mails) == 2
    text = text_of(office.mails[1])
    assert office.mails[1]["Subject"] == "Gridlot: 31 things need a person"
    assert text.count("Chain and books differ:") == 1 and "and 10 more" in text and "A customer claims" in text
    assert not Notice.objects.filter(sent_at=None).exists()


def test_lines_cost_the_same_number_of_queries_for_one_and_for_thirty(shop: Any, office: PostOffice) -> None:
    costs = []
    for count in (1, 30):
        for place in range(count):
            review(of=Event(pk=count * 100 + place))
        with CaptureQueriesContext(connection) as queries:
            tell_operators()
        costs.append(len(queries))
        shop.wait(NOW + 1)
    assert costs[0] == costs[1] and len(office.mails) == 2


def test_an_event_delivered_twice_is_told_once(shop: Any, office: PostOffice) -> None:
    review()
    note(Event.objects.get(kind="review.opened"))
    assert Notice.objects.count() == 1


# --- dead, slow, lying servers ------------------------------------------------------------------------------------
def test_a_dead_mail_server_loses_and_blocks_nothing(shop: Any, office: PostOffice, hook: Any) -> None:
    office.mood = "busy"
    review()
    tell_operators()
    assert len(posted(hook)) == 1 and not office.mails
    pauses = []
    for _ in range(4):
        due = Notice.objects.filter(channel="mail").order_by("pk")[0].due_at
        pauses.append(round((due - timezone.now()).total_seconds()))
        review(of=Event(pk=len(pauses)))
        tell_operators()  # not time yet
        shop.clock.move_to(due)
        tell_operators()
    assert pauses == [30, 60, 120, 240]
    waiting = Notice.objects.filter(channel="mail")
    assert waiting.count() == 5 and "try later" in waiting[0].error
    office.mood = "well"
    shop.wait(60)
    tell_operators()
    assert len(office.mails) == 1 and office.mails[0]["Subject"].endswith("5 things need a person")


def test_the_first_page_names_a_channel_that_fails(shop: Any, office: PostOffice, client: Any, settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    office.mood = "busy"
    review()
    tell_operators()
    client.force_login(make_operator())
    page = client.get("/admin/").content.decode()
    assert "News to the operators that can" in page and "try later" in page


def test_a_server_that_hangs_up_after_it_took_the_mail_gets_it_once(shop: Any, office: PostOffice) -> None:
    office.mood = "hasty"
    review()
    for _ in range(3):
        tell_operators()
        shop.wait(60)
    assert len(office.mails) == 1


def test_a_server_that_drips_is_cut_by_the_deadline(
    shop: Any, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailing, "DEADLINE", 0.3)
    office.mood = "slow"
    review()
    begun = time.monotonic()
    tell_operators()
    assert time.monotonic() - begun < 5
    assert Notice.objects.get().error


def test_a_redirect_of_the_webhook_is_not_followed(shop: Any, httpserver: Any, settings: Any) -> None:
    httpserver.expect_request("/news").respond_with_data("", status=307, headers={"Location": "/elsewhere"})
    httpserver.expect_request("/elsewhere").respond_with_data("")
    settings.OPERATOR_WEBHOOK = httpserver.url_for("/news")
    review()
    tell_operators()
    assert [request.path for request, _ in httpserver.log] == ["/news"]
    assert "307" in Notice.objects.get().error


def test_a_webhook_says_what_the_mail_says_and_has_a_name_to_know_it_by(shop: Any, hook: Any, settings: Any) -> None:
    settings.SITE_URL = "https://shop.example"
    item = review()
    tell_operators()
    (document,) = posted(hook)
    request = hook.log[0][0]
    assert request.headers["Idempotency-Key"] == document["id"]
    assert document["text"].startswith("Gridlot: Ethereum, chain and books differ")
    assert document["news"][0]["url"] == f"https://shop.example/admin/payments/reviewitem/{item.pk}/change/"
    assert Notice.objects.get().sent_at


def test_a_batch_whose_sender_died_comes_again_under_the_same_name_and_then_no_more(
    shop: Any, office: PostOffice
) -> None:
    """Killed between send and settle: sent at most twice, never lost (the kill itself: tests/faults)."""
    review()
    batch = notices.claim("mail", timezone.now())
    assert batch
    channels.send(batch)  # and the process dies here
    review(of=Event(pk=1))
    tell_operators()
    assert len(office.mails) == 1  # the lease holds
    shop.clock.move_to(timezone.now() + notices.LEASE + timedelta(seconds=1))
    tell_operators()
    assert [mail["Message-ID"] for mail in office.mails] == [f"<{batch.id}@shop.example>"] * 2
    shop.wait(NOW + 1)
    tell_operators()
    assert len(office.mails) == 3 and not Notice.objects.filter(sent_at=None).exists()


# --- states that last, and workers that stood still ---------------------------------------------------------------
def test_a_network_that_is_not_watched_is_told_once_it_lasts_and_again_only_after_it_was_well(
    shop: Any, office: PostOffice
) -> None:
    look_around()
    shop.wait(3)  # nobody reads the network
    look_around()
    assert not Alarm.objects.get(key="network:ethereum").raised_at
    for _ in range(3):
        shop.wait(2)
        look_around()
    drain()
    tell_operators()
    raised = Event.objects.filter(kind="alarm.raised")
    assert {event.data["key"] for event in raised} >= {"network:ethereum"}
    assert raised.filter(data__key="network:ethereum").count() == 1
    assert "Ethereum" in text_of(office.mails[0]) and "payments on it are not seen" in text_of(office.mails[0])
    shop.network.watch()
    look_around()
    assert Alarm.objects.get(key="network:ethereum").cleared_at
    assert Event.objects.filter(kind="alarm.cleared", data__key="network:ethereum").count() == 1


def test_what_is_over_soon_is_no_alarm(shop: Any) -> None:
    NetworkCursor.objects.update(last_pass_at=timezone.now() - timedelta(hours=1))
    look_around()
    shop.wait(0.5)
    look_around()
    assert not Alarm.objects.get(key="network:ethereum").raised_at
    shop.wait(1)
    shop.network.watch()
    look_around()
    assert not Alarm.objects.filter(key="network:ethereum").exists()
    assert not Event.objects.filter(kind__startswith="alarm.", data__key="network:ethereum").exists()


def test_few_addresses_are_told(shop: Any, office: PostOffice) -> None:
    """The reserve of this shop holds 20 addresses; fewer than 50 are few."""
    for _ in range(2):
        look_around()
        shop.wait(2)
    look_around()
    drain()
    tell_operators()
    assert "Few receiving addresses are ready" in text_of(office.mails[0])


def test_a_worker_that_stood_still_is_told_once_it_runs_again(shop: Any, office: PostOffice) -> None:
    beat()
    shop.wait(0.5)
    beat()
    assert not Event.objects.filter(kind="worker.resumed").exists()
    shop.wait(10)
    beat()
    beat()
    drain()
    tell_operators()
    resumed = Event.objects.get(kind="worker.resumed")
    assert resumed.data["seconds"] == 600 and Heartbeat.objects.count() == 1
    assert "no worker had run for a while" in office.mails[0]["Subject"]


def test_an_order_that_needs_help_is_told(shop: Any, office: PostOffice) -> None:
    order: Order = save_order(shop.customer, shop.offer)
    ask(order)
    with transaction.atomic():
        ask_for_help(order)
    drain()
    tell_operators()
    assert office.mails[0]["Subject"].startswith(f"Gridlot: {order.number}, the network took its payment back")
