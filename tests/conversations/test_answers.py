"""Support's side: who waits, prepared answers, the answer (ACC-8, ORD-12)."""

import uuid
from datetime import timedelta

import pytest
import time_machine
from conversing import Enter, Say
from django.db import connection
from django.template import Context, Template
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings
from story import kinds, make_customer, save_order

from accounts.actions.people import close_account
from accounts.models import User
from conversations import actions
from conversations.errors import NobodyReads
from conversations.models import BODY_LENGTH, CannedText, Message
from conversations.queries import waiting
from conversations.samples import canned_texts
from conversations.secrets import find
from orders.models import Order

pytestmark = pytest.mark.django_db


def page_of(order: Order) -> str:
    return reverse("conversations:answer", args=[order.number])


def form(order: Order, **fields: str) -> dict[str, str]:
    last = order.messages.order_by("-pk").values_list("pk", flat=True).first() or 0
    return {"form_key": str(uuid.uuid4()), "read_up_to": str(last), "body": "It is being prepared."} | fields


def test_acc_8_support_answers_and_nobody_waits_any_more(
    order: Order, ada: User, support: User, enter: Enter, say: Say
) -> None:
    say(order)
    client = enter(support)
    assert order.number in client.get(reverse("conversations:waiting")).content.decode()
    sent = form(order)
    for _click in range(2):
        assert client.post(page_of(order), sent)["Location"] == page_of(order)
    message = Message.objects.get(side="staff")
    assert (message.kind, message.author) == ("answer", support)
    assert not waiting().exists()
    assert "Nobody waits" in client.get(reverse("conversations:waiting")).content.decode()
    shown = enter(ada).get(reverse("conversations:messages", args=[order.number])).content.decode()
    assert "It is being prepared." in shown and "sam@example.com" not in shown  # support has no name there


def test_acc_8_a_customer_can_forge_no_answer(order: Order, ada: User, enter: Enter) -> None:
    client = enter(ada)
    assert client.get(page_of(order)).status_code == client.post(page_of(order), form(order)).status_code == 403
    own = reverse("conversations:messages", args=[order.number])
    client.post(own, form(order, side="staff", kind="answer", about="answer", author=str(ada.pk)))
    assert [(one.side, one.kind) for one in Message.objects.all()] == [("customer", "question")]


def test_acc_8_without_a_second_factor_no_page_opens(
    order: Order, support: User, enter: Enter, settings: Settings
) -> None:
    client = enter(support)
    settings.STAFF_SECOND_FACTOR = True
    for page in (page_of(order), reverse("conversations:waiting")):
        assert client.get(page)["Location"] == reverse("account_factor_needed")
    assert client.post(page_of(order), form(order))["Location"] == reverse("account_factor_needed")
    assert not Message.objects.exists()


def test_what_came_meanwhile_still_waits(order: Order, support: User, enter: Enter, say: Say) -> None:
    """The customer writes once more while support writes: the answer does not cover that."""
    say(order)
    sent = form(order)
    with time_machine.travel(timezone.now() + timedelta(minutes=5)):
        later = say(order, "And another thing")
    enter(support).post(page_of(order), sent)
    assert waiting().get().waiting_since == later.at


def test_the_longest_waiting_comes_first(order: Order, ada: User, support: User, enter: Enter, say: Say) -> None:
    other = save_order(ada, order.offer)
    say(order, "first")
    with time_machine.travel(timezone.now() + timedelta(minutes=5)):
        say(other, "second")
    with time_machine.travel(timezone.now() + timedelta(minutes=9)):
        say(order, "third")
    assert [row.order for row in waiting()] == [order, other]
    text = enter(support).get(reverse("conversations:waiting")).content.decode()
    assert text.index(order.number) < text.index(other.number) and "third" in text


def test_requests_stand_out_in_the_list_whatever_was_written_after(
    paid: Order, support: User, enter: Enter, say: Say
) -> None:
    say(paid, "", kind="cancellation")
    say(paid, "Are you there?")
    client = enter(support)
    text = client.get(reverse("conversations:waiting")).content.decode()
    assert "Request to cancel" in text and "Are you there?" in text
    page = client.get(page_of(paid)).content.decode()
    assert "The customer has asked to cancel." in page
    assert reverse("admin:orders_order_change", args=[paid.pk]) in page


def test_no_answer_is_needed(order: Order, support: User, enter: Enter, say: Say) -> None:
    seen = say(order, "Thank you")
    later = say(order, "One more question")
    client, page = enter(support), reverse("conversations:set_aside", args=[order.number])
    client.post(page, {"read_up_to": seen.pk})
    assert waiting().get().waiting_since == later.at
    client.post(page, {"read_up_to": later.pk})
    client.post(page, {"read_up_to": later.pk})
    assert not waiting().exists() and kinds(order).count("message.set_aside") == 2
    say(order, "Hello?")
    assert waiting().exists()


def test_the_list_costs_the_same_for_one_and_for_many(
    order: Order, ada: User, support: User, enter: Enter, say: Say
) -> None:
    client, counts = enter(support), []
    say(order)
    for more in (0, 6):
        for _ in range(more):
            say(save_order(ada, order.offer), "Hello")
        with CaptureQueriesContext(connection) as made:
            client.get(reverse("conversations:waiting"))
        counts.append(len(made))
    assert counts[0] == counts[1]


def test_a_prepared_answer_is_inserted_without_being_sent(order: Order, support: User, enter: Enter) -> None:
    client = enter(support)
    text = CannedText.objects.get(language="en", position=3)
    sent = form(order, body="Dear Ada,", canned=str(text.pk), insert="1")
    page = client.post(page_of(order), sent).content.decode()
    assert page.index("Dear Ada,") < page.index(f"your transfer for order {order.number} came after")
    assert sent["form_key"] in page and "{number}" not in page and not Message.objects.exists()
    kept = client.post(page_of(order), sent | {"canned": "nonsense"}).content.decode()
    assert "Dear Ada," in kept


def test_the_customers_language_comes_first(order: Order, ada: User, support: User, enter: Enter) -> None:
    ada.language = "ru"
    ada.save(update_fields=["language"])
    page = enter(support).get(page_of(order)).content.decode()
    assert page.index('optgroup label="Русский"') < page.index('optgroup label="English"')


def test_the_usual_answers_are_there_in_four_languages_and_stay_as_operators_change_them() -> None:
    texts = list(canned_texts())
    assert len(texts) == CannedText.objects.count() == 32
    for language in ("en", "ru", "pl", "vi"):
        assert CannedText.objects.filter(language=language).count() == 8
    for text in texts:
        assert "{number}" in text.body or text.position == 7
        assert len(text.body) <= BODY_LENGTH and not find(text.body), text.title
    CannedText.objects.filter(language="vi").delete()
    CannedText.objects.filter(language="en").update(body="Ours")
    actions.ensure_canned_texts()
    assert CannedText.objects.count() == 24 and CannedText.objects.filter(body="Ours").count() == 8


def test_nobody_answers_a_closed_account(order: Order, ada: User, support: User, enter: Enter, say: Say) -> None:
    say(order)
    close_account(ada)
    assert not waiting().exists()
    with pytest.raises(NobodyReads):
        actions.answer(order.pk, body="x", form_key=uuid.uuid4(), read_up_to=0, actor=support)
    assert "closed the account" in enter(support).post(page_of(order), form(order)).content.decode()


def test_the_system_may_write_in_a_transaction_of_another_app(order: Order, ada: User, enter: Enter) -> None:
    key = uuid.uuid5(uuid.NAMESPACE_URL, "rental:1:ready")
    for _ in range(2):
        actions.answer(order.pk, body="The machine is ready.", form_key=key, read_up_to=0, actor=None)
    shown = enter(ada).get(reverse("conversations:messages", args=[order.number])).content.decode()
    assert Message.objects.get().author is None and "Automatic message" in shown


@pytest.mark.parametrize(("who", "may"), [("support", True), ("other", False)])
def test_the_tag_for_the_desk_shows_the_thread(order: Order, support: User, say: Say, who: str, may: bool) -> None:
    say(order, "<b>Where</b>")
    request = RequestFactory().get("/")
    request.user = support if who == "support" else make_customer("other@example.com")
    shown = Template("{% load conversations %}{% conversation order %}").render(
        Context({"request": request, "order": order})
    )
    assert "&lt;b&gt;Where&lt;/b&gt;" in shown and (page_of(order) in shown) is may
