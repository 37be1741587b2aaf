"""What a customer writes about an order, and reads (ORD-12, ORD-9, ORD-11, PRV-3, PAY-9)."""

import uuid
from datetime import timedelta

import pytest
import time_machine
from conversing import Enter, Say, form, page_of
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings
from story import Network, ask, kinds, make_customer, save_order

from accounts.models import User
from conversations import actions, queries
from conversations.errors import NothingToCancel, TooManyMessages
from conversations.models import Message, Side
from events.models import Event
from orders.models import Order
from provisioning import actions as rentals
from provisioning.models import Rental

pytestmark = pytest.mark.django_db


def test_ord_12_a_message_needs_nothing_but_its_text(order: Order, ada: User, enter: Enter) -> None:
    client = enter(ada)
    answer = client.post(page_of(order), form())
    message = Message.objects.get()
    assert answer["Location"] == f"{page_of(order)}#m{message.pk}"
    assert (message.side, message.kind, message.author, message.context) == ("customer", "question", ada, {})
    shown = client.get(page_of(order)).content.decode()
    assert "Where is my machine?" in shown and "You</span>" in shown


def test_ord_12_the_order_page_has_the_short_form_and_it_sends(order: Order, ada: User, enter: Enter) -> None:
    client = enter(ada)
    text = client.get(order.get_absolute_url()).content.decode()
    assert f'action="{page_of(order)}"' in text and 'name="body"' in text
    client.post(page_of(order), {"form_key": str(uuid.uuid4()), "body": "Hello"})
    assert "Hello" in client.get(order.get_absolute_url()).content.decode()
    assert Message.objects.get().context == {}


def test_ord_12_the_form_asks_what_helps_with_a_run(order: Order, ada: User, enter: Enter) -> None:
    client, filled = enter(ada), {
        "gpu": "H100 SXM",
        "time": "14:00 UTC",
        "stage": "first step",
        "versions": "torch==2.3.1",
        "command": "python train.py",
        "input_format": "JSONL",
        "error": "RuntimeError: CUDA error",
        "example": "torch.ones(1).cuda()",
        "expected": "no error",
    }  # fmt: skip
    empty = client.get(page_of(order)).content.decode()
    assert all(f'name="{name}"' in empty for name in filled) and 'value="H100 SXM"' in empty
    assert 'type="file"' not in empty
    client.post(page_of(order), form(**filled))
    assert Message.objects.get().context == filled
    shown = client.get(page_of(order)).content.decode()
    assert '<pre class="message-code" tabindex="0">RuntimeError: CUDA error</pre>' in shown


def test_the_card_alone_which_we_filled_in_is_no_detail(order: Order, ada: User, enter: Enter) -> None:
    enter(ada).post(page_of(order), form(gpu="H100 SXM"))
    assert Message.objects.get().context == {}


def test_a_double_click_sends_once(order: Order, ada: User, enter: Enter) -> None:
    client, sent = enter(ada), form()
    assert client.post(page_of(order), sent)["Location"] == client.post(page_of(order), sent)["Location"]
    assert Message.objects.count() == 1 and kinds(order).count("message.sent") == 1


def test_the_event_has_side_and_kind_and_never_the_words(order: Order, say: Say, reply: Say) -> None:
    say(order, "a very private matter")
    reply(order, "another private matter")
    events = Event.objects.filter(kind="message.sent").order_by("id")
    assert [event.data for event in events] == [
        {"side": "customer", "about": "question"},
        {"side": "staff", "about": "answer"},
    ]
    assert {event.thread for event in events} == {f"order:{order.pk}"}


def test_the_timeline_says_it_in_words(order: Order, ada: User, enter: Enter, say: Say, reply: Say) -> None:
    say(order)
    reply(order)
    text = enter(ada).get(order.get_absolute_url()).content.decode()
    assert "Message to support." in text and "Answer from support." in text


def test_plain_text_is_shown_as_it_is(order: Order, ada: User, enter: Enter, say: Say) -> None:
    """No markup, no link that can be clicked; what stands between fences is code."""
    say(order, "<script>alert(1)</script> https://evil.example/\nsecond line\n```python\nx = '<b>'\n```\nend")
    text = enter(ada).get(page_of(order)).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; https://evil.example/\nsecond line</p>" in text
    assert '<pre class="message-code" tabindex="0">x = &#x27;&lt;b&gt;&#x27;</pre>' in text
    assert "<script>alert" not in text and 'href="https://evil' not in text


def test_what_no_person_types_is_left_out(order: Order, ada: User, enter: Enter) -> None:
    enter(ada).post(page_of(order), form(body="a\x00b\r\nc\u202egnp.exe\x1b[31m", command="ls\x00 -l"))
    message = Message.objects.get()
    assert (message.body, message.context) == ("ab\ncgnp.exe[31m", {"command": "ls -l"})


@pytest.mark.parametrize("name", ["body", "error", "stage"])
def test_a_text_too_long_comes_back_whole(order: Order, ada: User, enter: Enter, name: str) -> None:
    long = "x" * 8_001
    answer = enter(ada).post(page_of(order), form(**{name: long}))
    assert answer.status_code == 400 and long in answer.content.decode() and not Message.objects.exists()
    assert "That is too long by" in answer.content.decode()


def test_length_is_counted_in_code_points(order: Order, ada: User, enter: Enter) -> None:
    enter(ada).post(page_of(order), form(body="\U0001f5a5" * 8_000))
    assert len(Message.objects.get().body) == 8_000


def test_no_customer_writes_more_than_the_limit(order: Order, ada: User, enter: Enter, settings: Settings) -> None:
    settings.MESSAGES_PER_HOUR = 3
    client = enter(ada)
    sent = [form(body=f"text {number}") for number in range(4)]
    assert [client.post(page_of(order), one).status_code for one in sent] == [302, 302, 302, 429]
    assert client.post(page_of(order), sent[0]).status_code == 302  # sent already, so nothing new
    with pytest.raises(TooManyMessages):
        actions.ask_for_date(order, "start", actor=ada)
    kept = client.post(page_of(order), sent[3]).content.decode()
    assert "text 3" in kept and Message.objects.count() == 3
    with time_machine.travel(timezone.now() + timedelta(hours=1, seconds=1)):
        assert client.post(page_of(order), sent[3]).status_code == 302


def test_ord_9_a_paid_order_is_cancelled_by_request(paid: Order, ada: User, enter: Enter) -> None:
    client = enter(ada)
    assert "?about=cancellation" in client.get(paid.get_absolute_url()).content.decode()
    client.post(page_of(paid), form(about="cancellation", body=""))
    assert (Message.objects.get().kind, Message.objects.get().body) == ("cancellation", "")
    paid.refresh_from_db()
    assert paid.state == Order.State.SETTLED  # an operator decides
    assert "Cancellation asked for; an operator decides." in client.get(paid.get_absolute_url()).content.decode()


def test_ord_9_an_unpaid_order_needs_no_request(order: Order, ada: User, enter: Enter, say: Say) -> None:
    with pytest.raises(NothingToCancel):
        say(order, kind="cancellation")
    assert enter(ada).post(page_of(order), form(about="cancellation")).status_code == 409
    assert not Message.objects.exists()


def test_ord_11_a_change_asks_wish_and_deadline(paid: Order, ada: User, enter: Enter) -> None:
    client = enter(ada)
    assert client.post(page_of(paid), form(about="change")).status_code == 400  # no deadline
    client.post(page_of(paid), form(about="change", body="Seven days more", deadline="5 December", error="not asked"))
    message = Message.objects.get()
    assert (message.kind, message.context) == ("change", {"deadline": "5 December"})


def test_prv_3_a_missing_date_is_asked_for_once(paid: Order, ada: User, enter: Enter) -> None:
    client, there = enter(ada), paid.get_absolute_url()
    assert client.get(there).content.decode().count("Ask for this date") == 2
    for _ in range(2):
        assert client.post(page_of(paid, "ask_date"), {"topic": "start"})["Location"] == there
    text = client.get(there).content.decode()
    assert text.count("Ask for this date") == 1 and "asked on" in text and "not set yet" in text
    assert [(one.kind, one.topic) for one in Message.objects.all()] == [("date", "start")]
    client.post(page_of(paid, "ask_date"), {"topic": "lottery"})
    assert Message.objects.count() == 1


def test_prv_3_a_planned_date_is_shown_and_not_asked_for(paid: Order, ada: User, enter: Enter) -> None:
    rental = Rental.objects.get(order=paid)
    start = timezone.now() + timedelta(days=1)
    rentals.plan(rental.pk, host="gpu-1", planned_start_at=start, planned_end_at=None, actor=ada)
    text = enter(ada).get(paid.get_absolute_url()).content.decode()
    assert "planned for" in text and text.count("Ask for this date") == 1


def test_pay_9_order_and_instructions_are_filled_in(network: Network, order: Order, ada: User, enter: Enter) -> None:
    intent = ask(order)
    client = enter(ada)
    page = client.get(f"{page_of(order)}?intent={intent.pk}").content.decode()
    assert f'name="instructions" value="{intent.pk}"' in page and "(ETH)" in page
    client.post(page_of(order), form(instructions=str(intent.pk)))
    assert Message.objects.get().context == {"instructions": str(intent.pk)}


def test_pay_9_nobody_elses_instructions_are_filled_in(network: Network, order: Order, ada: User, enter: Enter) -> None:
    others = ask(save_order(make_customer("eve@example.com"), order.offer))
    client = enter(ada)
    for key in (str(others.pk), "nonsense", "\x00"):
        page = client.get(page_of(order), {"intent": key}).content.decode()
        assert 'name="instructions"' in page and f'value="{key}"' not in page
    client.post(page_of(order), form(instructions=str(others.pk)))
    assert Message.objects.get().context == {}


def test_a_new_answer_is_marked_until_it_is_read(order: Order, ada: User, enter: Enter, say: Say, reply: Say) -> None:
    client, lists = enter(ada), reverse("orders:list")
    say(order)
    assert "New answer" not in client.get(lists).content.decode()
    answer = reply(order)
    assert "New answer" in client.get(lists).content.decode()
    assert "Support has answered." in client.get(order.get_absolute_url()).content.decode()
    page = client.get(page_of(order)).content.decode()
    assert f'name="read_up_to" value="{answer.pk}"' in page and "New answer" in client.get(lists).content.decode()
    assert client.post(page_of(order, "read"), {"read_up_to": answer.pk}).status_code == 302
    assert "New answer" not in client.get(lists).content.decode()


def test_an_answer_that_came_meanwhile_stays_new(order: Order, ada: User, enter: Enter, say: Say, reply: Say) -> None:
    say(order)
    seen = reply(order)
    reply(order, "One more thing.")
    client = enter(ada)
    client.post(page_of(order, "read"), {"read_up_to": seen.pk})
    assert queries.of_order(order).unread
    client.post(page_of(order, "read"), {"read_up_to": "9" * 18})  # no further than what there is
    reply(order, "And another.")
    assert queries.of_order(order).unread


@pytest.mark.parametrize("text", ["", "-1", "9" * 5000, "x", "\x00", "1.5", "²"])
def test_nonsense_as_a_mark_marks_nothing(
    order: Order, ada: User, enter: Enter, say: Say, reply: Say, text: str
) -> None:
    say(order)
    reply(order)
    assert enter(ada).post(page_of(order, "read"), {"read_up_to": text}).status_code == 302
    assert queries.of_order(order).unread


def many(order: Order, ada: User, count: int) -> None:
    Message.objects.bulk_create(
        Message(order=order, author=ada, side=Side.CUSTOMER, kind="question", body=f"line {number}")
        for number in range(count)
    )


def test_a_thousand_messages_are_shown_in_pages(order: Order, ada: User, enter: Enter) -> None:
    many(order, ada, 1_000)
    client = enter(ada)
    first = client.get(page_of(order)).content.decode()
    assert first.count('<li class="message') == 20 and "line 999" in first and "line 979" not in first
    assert first.index("line 980") < first.index("line 999")  # oldest first
    last = client.get(page_of(order), {"page": "50"}).content.decode()
    assert "line 0<" in last and "hx-get" not in last.partition('id="thread"')[2].partition(">")[0]
    assert client.get(page_of(order), {"page": "\x00"}).status_code == 200


@pytest.mark.parametrize("name", ["messages", "thread", "recent"])
def test_the_number_of_queries_does_not_grow(order: Order, ada: User, enter: Enter, name: str, say: Say) -> None:
    client, counts = enter(ada), []
    say(order)
    for more in (1, 15):
        many(order, ada, more)
        with CaptureQueriesContext(connection) as made:
            client.get(page_of(order, name))
        counts.append(len(made))
    assert counts[0] == counts[1] <= 7


def test_the_part_that_polls_changes_nothing(order: Order, ada: User, enter: Enter, say: Say, reply: Say) -> None:
    say(order)
    reply(order)
    client = enter(ada)
    for name in ("messages", "thread", "recent"):
        with CaptureQueriesContext(connection) as made:
            assert client.get(page_of(order, name)).status_code == 200
        assert not [one["sql"] for one in made if one["sql"].split()[0] in ("INSERT", "UPDATE", "DELETE")]
    assert queries.of_order(order).unread


def test_a_number_typed_otherwise_leads_to_the_page(order: Order, ada: User, enter: Enter) -> None:
    typed = page_of(order).replace(order.number, order.number.lower().replace("-", ""))
    assert enter(ada).get(typed)["Location"] == page_of(order)
