"""OPS-8: operators pause an offer, a method or all new orders, at once; what exists goes on and is honoured."""

import uuid
from html import unescape
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import translation
from story import Network, ask, books_are_right, make_customer, make_offer, make_operator, save_order

from accounts.models import User
from catalog.models import Offer, Pause
from catalog.pausing import NoReason, pause, resume
from events.models import Event
from orders.errors import OfferPaused, OrdersPaused
from orders.models import Draft, Hold, Order
from payments import errors
from payments.actions import intents
from payments.actions.topups import make_topup
from payments.models import PaymentIntent

pytestmark = pytest.mark.django_db(transaction=True)
SAID = {"en": "We move to another hall until Monday.", "ru": "До понедельника мы переезжаем."}


@pytest.fixture
def operator(network: Network) -> User:
    made: User = make_operator()
    return made


@pytest.fixture
def ada(network: Network) -> User:
    made: User = make_customer()
    return made


@pytest.fixture
def h100(network: Network) -> Offer:
    made: Offer = make_offer()
    return made


def stop(subject: str, operator: User) -> None:
    pause([subject], reason="the hall moves", sentences=SAID, actor=operator)


def page(user: User | None, address: str, **data: str) -> str:
    client = Client()
    if user:
        client.force_login(user)
    answer = client.get(address, data, follow=True)
    return unescape(" ".join(answer.content.decode().split()))


# --- all new orders -----------------------------------------------------------------------------------------------
def test_no_new_order_is_saved_while_orders_are_paused_and_those_that_exist_go_on(
    network: Network, operator: User, ada: User, h100: Offer
) -> None:
    key = uuid.uuid4()
    order = save_order(ada, h100, form_key=key)
    intent = ask(order)
    stop(Pause.ORDERS, operator)
    with pytest.raises(OrdersPaused, match="another hall"):
        save_order(ada, h100)
    assert save_order(ada, h100, form_key=key) == order  # a double click on what was saved before
    assert Hold.objects.filter(state="held").count() == 1
    ask(order)
    network.pay(intent)
    network.settle()
    order.refresh_from_db()
    assert order.state == Order.State.SETTLED
    resume([Pause.ORDERS], reason="moved", actor=operator)
    assert save_order(ada, h100).state == Order.State.OPEN
    books_are_right()


@pytest.mark.parametrize("signed_in", [False, True])
def test_catalog_and_checkout_say_plainly_that_no_orders_are_taken_and_why(
    operator: User, ada: User, h100: Offer, signed_in: bool
) -> None:
    choice = {"offer": h100.slug, "term": "7", "lots": "1"}
    pages = [(reverse("catalog:list"), {}), (h100.get_absolute_url(), {}), (reverse("orders:checkout"), choice)]
    reader = ada if signed_in else None
    for address, query in pages:
        assert "No new orders" not in page(reader, address, **query)
    stop(Pause.ORDERS, operator)
    for address, query in pages:
        text = page(reader, address, **query)
        assert "No new orders are taken at the moment." in text and SAID["en"] in text, address


def test_nothing_typed_is_lost_when_orders_are_paused_meanwhile(operator: User, ada: User, h100: Offer) -> None:
    client = Client()
    client.force_login(ada)
    typed = {
        "offer": h100.slug, "term": "7", "lots": "2", "first_name": "Augusta", "last_name": "King",
        "email": "ada@work.example", "form_key": str(uuid.uuid4()), "expected_total_cents": "20000",
    }  # fmt: skip
    stop(Pause.ORDERS, operator)
    answer = client.post(reverse("orders:checkout"), typed)
    text = unescape(answer.content.decode())
    assert answer.status_code == 503
    assert "the order was not saved" in text and SAID["en"] in text
    assert 'value="Augusta"' in text and typed["form_key"] in text
    assert "Keep the choice for later" in text and "Try to save the order" in text
    client.post(reverse("orders:keep"), typed)
    assert Draft.objects.get().lots == 2
    resume([Pause.ORDERS], reason="moved", actor=operator)
    assert client.post(reverse("orders:checkout"), typed).status_code == 302
    assert Order.objects.get().first_name == "Augusta"


def test_the_sentence_is_read_in_the_reader_s_language_and_never_without_one(operator: User, h100: Offer) -> None:
    stop(Pause.ORDERS, operator)
    with translation.override("ru"):
        assert Pause.objects.get().sentence == SAID["ru"]
    pause([Pause.ORDERS], reason="the hall moves", sentences={"en": SAID["en"]}, actor=operator)
    with translation.override("ru"):
        assert Pause.objects.get().sentence == SAID["en"]
    pause([Pause.ORDERS], reason="the hall moves", actor=operator)
    assert Pause.objects.get().sentence == ""
    assert "No new orders are taken at the moment." in page(None, reverse("catalog:list"))


# --- an offer -----------------------------------------------------------------------------------------------------
def test_a_paused_offer_says_so_on_its_page_and_its_orders_go_on(
    network: Network, operator: User, ada: User, h100: Offer
) -> None:
    order = save_order(ada, h100)
    stop(f"offer:{h100.pk}", operator)
    with pytest.raises(OfferPaused, match="another hall"):
        save_order(ada, h100)
    text = page(None, h100.get_absolute_url())
    assert "This card takes no new orders at the moment." in text and SAID["en"] in text
    assert h100.name not in page(None, reverse("catalog:list"))
    network.pay(ask(order))
    network.settle()
    order.refresh_from_db()
    assert order.state == Order.State.SETTLED


def test_an_offer_that_was_never_published_has_no_page(h100: Offer) -> None:
    Offer.objects.update(published=False)
    assert Client().get(h100.get_absolute_url()).status_code == 404


# --- a method -----------------------------------------------------------------------------------------------------
def test_a_paused_method_gives_no_new_instructions_and_honours_the_live_ones(
    network: Network, operator: User, ada: User, h100: Offer
) -> None:
    order, other = save_order(ada, h100), save_order(ada, h100)
    live = ask(order)
    stop("method:eth", operator)
    with pytest.raises(errors.MethodPaused, match="another hall"):
        ask(other)
    topup = make_topup(ada, 10_000, form_key=uuid.uuid4())
    with pytest.raises(errors.MethodPaused):
        intents.open_topup_intent(topup.pk, "eth", form_key=uuid.uuid4(), actor=ada)
    assert ask(other, "usdt-ethereum").quote == PaymentIntent.Quote.OPEN
    network.pay(live)
    network.settle()
    order.refresh_from_db()
    assert order.state == Order.State.SETTLED
    books_are_right()


def test_a_paused_method_is_listed_with_the_reason(operator: User, ada: User, h100: Offer) -> None:
    order = save_order(ada, h100)
    stop("method:eth", operator)
    text = page(ada, reverse("payments:choose", args=[order.number]))
    assert "is temporarily unavailable" in text and SAID["en"] in text
    assert text.count("Not available now.") == 1 + text.count("We are not watching")


# --- who, when, why -----------------------------------------------------------------------------------------------
def test_pauses_are_kept_with_who_when_and_why(operator: User, h100: Offer) -> None:
    with pytest.raises(NoReason):
        pause([Pause.ORDERS], reason=" ", actor=operator)
    stop(Pause.ORDERS, operator)
    resume([Pause.ORDERS], reason="moved", actor=operator)
    assert not resume([Pause.ORDERS], reason="again", actor=operator)
    began, ended = Event.objects.filter(kind__startswith="pause.").order_by("id")
    assert (began.actor, began.data["what"], began.data["reason"]) == (operator, "orders", "the hall moves")
    assert (ended.actor, ended.data["reason"], ended.data["before"]) == (operator, "moved", "the hall moves")
    with pytest.raises(IntegrityError), transaction.atomic():
        Pause.objects.update(paused_at=began.at)


def test_operators_pause_and_resume_on_one_page_and_support_only_reads(
    operator: User, ada: User, h100: Offer, settings: Any
) -> None:
    settings.STAFF_SECOND_FACTOR = False
    client = Client()
    client.force_login(operator)
    overview = reverse("admin:catalog_pause_changelist")
    text = client.get(overview).content.decode()
    assert "All new orders" in text and "ETH (Ethereum)" in text and h100.name in text
    data = {"subject": "method:eth", "reason": "node upgrade", "sentence_ru": SAID["ru"]}
    assert "at once" in client.post(reverse("admin:pause_begin"), data, follow=True).content.decode()
    assert "node upgrade" in client.get(overview).content.decode()
    assert client.get(reverse("admin:pause_begin"), {"subject": "method:nothing"}).status_code == 404
    client.post(reverse("admin:pause_end"), {"subject": "method:eth", "reason": "done"})
    assert not Pause.objects.on().exists()
