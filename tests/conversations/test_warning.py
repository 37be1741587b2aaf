"""A text that looks like a secret is asked about before anything is kept (ORD-12)."""

import logging
import re
import uuid
from typing import Any

import pytest
from conversing import Enter, form, page_of
from django.urls import reverse

from accounts.models import User
from conversations.models import Message
from orders.models import Order

pytestmark = pytest.mark.django_db
SECRET = "My password = hunter2!x"


def mark_in(answer: Any) -> str:
    found = re.search(r'name="anyway" value="([0-9a-f]{64})"', answer.content.decode())
    assert found
    return found[1]


def test_ord_12_the_page_comes_back_with_everything_kept_and_nothing_sent(
    order: Order, ada: User, enter: Enter, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    sent = form(body=SECRET, stage="first step", error="key AKIA" + "IOSFODNN7EXAMPLE")
    answer = enter(ada).post(page_of(order), sent)
    text = answer.content.decode()
    assert answer.status_code == 409 and not Message.objects.exists()
    assert SECRET in text and "first step" in text and sent["form_key"] in text
    assert "Text, line 1, character 15" in text and "First complete error, line 1, character 5" in text
    assert "AKIA••••" in text and "<details" in text and " open>" in text
    assert "hunter2" not in caplog.text and "IOSFODNN7" not in caplog.text


def test_ord_12_it_is_sent_when_that_is_confirmed(order: Order, ada: User, enter: Enter) -> None:
    client, sent = enter(ada), form(body=SECRET)
    mark = mark_in(client.post(page_of(order), sent))
    assert client.post(page_of(order), sent | {"anyway": mark}).status_code == 302
    assert Message.objects.get().body == SECRET


def test_ord_12_a_confirmation_is_good_for_what_was_shown_alone(order: Order, ada: User, enter: Enter) -> None:
    client, sent = enter(ada), form(body=SECRET)
    mark = mark_in(client.post(page_of(order), sent))
    for forged in ({"body": f"{SECRET} and token hf_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"}, {"error": SECRET}):
        assert client.post(page_of(order), sent | {"anyway": mark} | forged).status_code == 409
    for nothing in ("", "1", "yes", mark[:-1]):
        assert client.post(page_of(order), sent | {"anyway": nothing}).status_code == 409
    assert not Message.objects.exists()


def test_ord_12_without_the_secret_it_goes(order: Order, ada: User, enter: Enter) -> None:
    client, sent = enter(ada), form(body=SECRET)
    client.post(page_of(order), sent)
    assert client.post(page_of(order), sent | {"body": "My password does not work"}).status_code == 302


def test_ord_12_support_is_asked_too(order: Order, support: User, enter: Enter) -> None:
    client = enter(support)
    page = reverse("conversations:answer", args=[order.number])
    sent = {"form_key": str(uuid.uuid4()), "read_up_to": "0", "body": "Use root, password: Xy7-kkk9"}
    answer = client.post(page, sent)
    assert answer.status_code == 409 and not Message.objects.exists()
    assert client.post(page, sent | {"anyway": mark_in(answer)}).status_code == 302
