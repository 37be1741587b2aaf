"""One form sent many times at once is one message, the limit holds, and no answer hides a question."""

import uuid

import pytest
from pytest_django.fixtures import Settings
from story import kinds, make_customer, make_offer, make_operator, save_order
from together import at_once, errors

from conversations import actions
from conversations.models import Conversation, Message

pytestmark = [pytest.mark.races, pytest.mark.django_db(transaction=True)]


def test_a_message_sent_many_times_at_once_is_one_message() -> None:
    customer = make_customer()
    order, key = save_order(customer, make_offer()), uuid.uuid4()
    sent = at_once([lambda: actions.send(order, kind="question", body="Where?", form_key=key, actor=customer).pk] * 8)
    assert errors(sent) == {"": 8} and len({one.value for one in sent}) == 1
    assert Message.objects.count() == 1 and kinds(order).count("message.sent") == 1


def test_a_date_asked_for_many_times_at_once_is_asked_for_once() -> None:
    customer = make_customer()
    order = save_order(customer, make_offer())
    assert errors(at_once([lambda: actions.ask_for_date(order, "start", actor=customer).pk] * 8)) == {"": 8}
    assert Message.objects.count() == 1


def test_the_limit_holds_over_several_orders_at_once(settings: Settings) -> None:
    settings.MESSAGES_PER_HOUR = 3
    customer, offer = make_customer(), make_offer()
    orders = [save_order(customer, offer) for _ in range(8)]
    sent = at_once(
        [
            lambda order=order: (
                actions.send(order, kind="question", body="Where?", form_key=uuid.uuid4(), actor=customer).pk
            )
            for order in orders
        ]
    )
    assert errors(sent) == {"": 3, "TooManyMessages": 5} and Message.objects.count() == 3


def test_a_question_beside_an_answer_waits() -> None:
    """Support answers what it has seen while the customer writes once more: that one still waits, in either order."""
    customer, support = make_customer(), make_operator()
    order = save_order(customer, make_offer())
    first = actions.send(order, kind="question", body="Where?", form_key=uuid.uuid4(), actor=customer)
    outcomes = at_once(
        [
            lambda: (
                actions.answer(order.pk, body="Here.", form_key=uuid.uuid4(), read_up_to=first.pk, actor=support).pk
            ),
            lambda: actions.send(order, kind="question", body="And?", form_key=uuid.uuid4(), actor=customer).pk,
        ]
    )
    assert errors(outcomes) == {"": 2}
    state = Conversation.objects.get()
    assert state.waiting_since == Message.objects.get(body="And?").at and state.unread
