"""The words are the person's: they are in the download, and they go with the contact data (ACC-7)."""

import json
from datetime import timedelta

import pytest
import time_machine
from conversing import Enter, Say
from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from accounts.actions.people import close_account
from accounts.models import User
from conversations.actions import forget_texts
from conversations.models import Message
from orders.models import Order

pytestmark = pytest.mark.django_db


def test_acc_7_the_download_has_both_sides_of_the_conversation(
    order: Order, ada: User, enter: Enter, say: Say, reply: Say
) -> None:
    say(order, "Where?")
    reply(order, "Here.")
    data = json.loads(enter(ada).get(reverse("account_export")).content)
    assert [(row["side"], row["kind"], row["body"]) for row in data["messages"]] == [
        ("customer", "question", "Where?"),
        ("staff", "answer", "Here."),
    ]
    assert "sam@example.com" not in json.dumps(data)


def test_acc_7_the_words_of_a_closed_account_are_removed_after_the_retention(
    order: Order, ada: User, support: User, enter: Enter, say: Say, reply: Say
) -> None:
    say(order, "My address is 1 Analytical Street")
    reply(order, "Thank you, Ada.")
    close_account(ada)
    assert forget_texts() == 0
    with time_machine.travel(timezone.now() + timedelta(days=settings.CONTACT_RETENTION_DAYS, hours=1)):
        assert forget_texts() == 2
        assert forget_texts() == 0
    assert set(Message.objects.values_list("body", flat=True)) == {""}
    assert [one.kind for one in Message.objects.all()] == ["question", "answer"]  # that they wrote stays
    page = enter(support).get(reverse("conversations:answer", args=[order.number])).content.decode()
    assert page.count("The words were removed after the account was closed.") == 2


def test_acc_7_nobody_elses_words_go(order: Order, say: Say) -> None:
    say(order, "Where?")
    with time_machine.travel(timezone.now() + timedelta(days=10 * settings.CONTACT_RETENTION_DAYS)):
        assert forget_texts() == 0
    assert Message.objects.get().body == "Where?"
