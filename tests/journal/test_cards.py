from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from accounts.actions.guests import holder_of
from accounts.models import User
from journal.models import Card
from orders.models import Order

pytestmark = pytest.mark.django_db
NEW = "/journal/new/"


def test_jrn_1_a_card_needs_only_its_question(as_ada: Client, ada: User) -> None:
    response = as_ada.post(NEW, {"question": "Does it fit?"})
    card = Card.objects.get()
    assert response["Location"] == card.get_absolute_url()
    assert (card.holder.user, card.order, card.hypothesis) == (ada, None, "")
    page = as_ada.get(card.get_absolute_url()).content.decode()
    assert "Does it fit?" in page
    assert "missing" in page


def test_jrn_1_a_card_keeps_what_was_expected_seen_and_decided(as_ada: Client) -> None:
    facts = {
        "question": "Does FP8 change the loss?",
        "hypothesis": "No.",
        "control": "BF16",
        "variants": "FP8",
        "environment": "CUDA 12.8",
        "parameters": "--batch 8",
        "data_version": "v3",
        "seeds": "1 2 3",
        "observations": "Run 2 failed while loading.",
        "conclusion": "Unknown.",
        "decision": "Repeat.",
    }
    as_ada.post(NEW, facts)
    card = Card.objects.get()
    assert {name: getattr(card, name) for name in facts} == facts
    page = as_ada.get(card.get_absolute_url()).content.decode()
    assert all(text in page for text in facts.values())


def test_a_card_without_a_question_comes_back_with_what_was_typed(as_ada: Client) -> None:
    response = as_ada.post(NEW, {"question": "", "hypothesis": "It fits."})
    assert response.status_code == 200
    assert "It fits." in response.content.decode()
    assert not Card.objects.exists()


def test_editing_changes_the_card_and_its_time(as_ada: Client, card: Card) -> None:
    later = card.updated_at + timedelta(hours=1)
    with time_machine.travel(later, tick=False):
        response = as_ada.post(
            reverse("journal:edit", args=[card.pk]), {"question": card.question, "conclusion": "Yes."}
        )
    assert response["Location"] == card.get_absolute_url()
    created = card.created_at
    card.refresh_from_db()
    assert (card.hypothesis, card.conclusion) == ("", "Yes.")
    assert card.updated_at == later
    assert card.created_at == created


def test_the_card_last_changed_comes_first(as_ada: Client, card: Card) -> None:
    as_ada.post(NEW, {"question": "Newer"})
    assert as_ada.get(reverse("journal:list")).context["cards"][0].question == "Newer"
    as_ada.post(reverse("journal:edit", args=[card.pk]), {"question": "Edited"})
    assert as_ada.get(reverse("journal:list")).context["cards"][0].question == "Edited"


@pytest.mark.parametrize("name", ["journal:card", "journal:edit"])
def test_a10_only_the_owner_sees_a_card(client: Client, eve: User, card: Card, name: str) -> None:
    url = reverse(name, args=[card.pk])
    assert client.get(url)["Location"].startswith(reverse("account_login"))
    client.force_login(eve)
    assert client.get(url).status_code == 404
    assert client.get(reverse(name, args=[card.pk + 1])).status_code == 404
    assert client.post(reverse("journal:edit", args=[card.pk]), {"question": "mine"}).status_code == 404
    assert list(client.get(reverse("journal:list")).context["cards"]) == []


def test_jrn_3_a_card_links_to_an_order_of_ones_own(
    as_ada: Client, ada: User, make_order: Callable[[User], Order]
) -> None:
    order = make_order(ada)
    page = as_ada.get(NEW, {"order": order.pk}).content.decode()
    assert f'<option value="{order.pk}" selected>{order.number} · RTX 4090 · 7 days' in page
    as_ada.post(NEW, {"question": "Does it fit?", "order": order.pk})
    assert Card.objects.get().order == order
    assert order.number in as_ada.get(reverse("journal:list")).content.decode()


def test_a10_another_persons_order_cannot_be_named(
    as_ada: Client, eve: User, make_order: Callable[[User], Order]
) -> None:
    order = make_order(eve)
    page = as_ada.get(NEW, {"order": order.pk}).content.decode()
    assert order.number not in page
    response = as_ada.post(NEW, {"question": "Does it fit?", "order": order.pk})
    assert response.status_code == 200
    assert not Card.objects.exists()


@pytest.mark.parametrize("cards", [1, 15])
def test_the_list_takes_as_many_queries_for_one_card_as_for_many(
    as_ada: Client, ada: User, cards: int, django_assert_max_num_queries: DjangoAssertNumQueries,
    make_order: Callable[[User], Order],
) -> None:  # fmt: skip
    order = make_order(ada)
    Card.objects.bulk_create(
        Card(holder=holder_of(ada), order=order, question=f"Question {number}") for number in range(cards)
    )
    with django_assert_max_num_queries(4):
        as_ada.get(reverse("journal:list"))


def test_a_long_journal_has_pages(as_ada: Client, ada: User) -> None:
    Card.objects.bulk_create(Card(holder=holder_of(ada), question=f"Question {number}") for number in range(21))
    assert len(as_ada.get(reverse("journal:list")).context["cards"]) == 20
    assert len(as_ada.get(reverse("journal:list"), {"page": 2}).context["cards"]) == 1
    assert as_ada.get(reverse("journal:list"), {"page": "x"}).status_code == 200


def test_what_is_typed_is_never_markup(as_ada: Client) -> None:
    as_ada.post(NEW, {"question": "<script>alert(1)</script>", "observations": "<img src=x onerror=alert(1)>"})
    page = as_ada.get(Card.objects.get().get_absolute_url()).content.decode()
    assert "<script>alert" not in page
    assert "<img src=x" not in page
