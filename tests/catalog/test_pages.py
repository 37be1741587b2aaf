import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from catalog.actions import take_lots
from catalog.figures import Figures
from catalog.models import Offer, Price

pytestmark = pytest.mark.django_db


def text_of(client: Client, url: str, **query: str | int) -> str:
    """Return a page as words, white space made single."""
    response = client.get(url, query)
    assert response.status_code == 200
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def names(client: Client, **query: str | int) -> list[str]:
    return [offer.name for offer in client.get(reverse("catalog:list"), query).context["offers"]]


def test_cat_4_total_is_price_times_lots_never_cards() -> None:
    two = Figures(term_days=7, lots=2, cards_per_lot=2, unit_price_cents=180_000)
    assert (two.lots, two.cards, two.total_cents) == (2, 4, 360_000)


def test_cat_5_the_three_figures_stand_on_the_offer_page_without_scripts(client: Client, b200: Offer) -> None:
    page = text_of(client, b200.get_absolute_url(), term=7, lots=2)
    assert "Lots 2 Cards in total 4 Total $40.00" in page
    assert "Update figures" in page
    assert "two lots of B200 are 4 cards at twice the price of a lot" in page
    assert "A lot is hardware; your program's batch size is set in your program." in page


def test_cat_5_the_same_figures_come_alone_for_a_page_that_is_open(client: Client, b200: Offer) -> None:
    part = text_of(client, reverse("catalog:figures", args=[b200.slug]), term=30, lots=3)
    assert "Lots 3 Cards in total 6 Total $180.00" in part
    assert "Term" not in part


def test_cat_9_several_cards_are_said_not_to_be_pooled(client: Client, b200: Offer, rtx: Offer) -> None:
    assert "Memory is not pooled: a program sees 4 cards of 180 GB each" in text_of(
        client, b200.get_absolute_url(), lots=2
    )
    assert "Several cards in one order are not pooled" in text_of(client, rtx.get_absolute_url())


@pytest.mark.parametrize("lots", ["0", "11", "-1", "1.5", "", "two", "9" * 40])
def test_cat_3_other_lots_than_1_to_10_are_explained(client: Client, rtx: Offer, lots: str) -> None:
    for url in (rtx.get_absolute_url(), reverse("catalog:figures", args=[rtx.slug])):
        page = text_of(client, url, term=3, lots=lots)
        assert "An order takes 1 to 10 lots" in page
        assert "Cards in total" not in page


@pytest.mark.parametrize("term", ["5", "0", "x", ""])
def test_cat_3_other_terms_than_3_7_or_30_days_are_explained(client: Client, rtx: Offer, term: str) -> None:
    assert "3, 7 or 30 days" in text_of(client, reverse("catalog:figures", args=[rtx.slug]), term=term, lots=1)


def test_a_term_without_a_price_is_not_offered(client: Client, rtx: Offer) -> None:
    Price.objects.filter(offer=rtx, term_days=30).delete()
    assert "not offered for this term" in text_of(client, reverse("catalog:figures", args=[rtx.slug]), term=30, lots=1)
    assert "not offered" in text_of(client, reverse("catalog:list"))


def test_s6_a_sold_out_offer_cannot_be_configured_further(client: Client, rtx: Offer) -> None:
    take_lots(rtx.pk, 5)
    page = client.get(rtx.get_absolute_url()).content.decode()
    assert re.search(r"<button[^>]* disabled>Sold out at the moment", page)


def test_fewer_lots_than_were_chosen_are_said_beside_the_figures(client: Client, rtx: Offer) -> None:
    take_lots(rtx.pk, 3)
    assert "Fewer are available than you chose 2 cards available" in text_of(client, rtx.get_absolute_url(), lots=3)


def test_ord_1_the_configurator_leads_to_the_checkout_with_the_choice(client: Client, rtx: Offer) -> None:
    page = client.get(rtx.get_absolute_url(), {"term": "7", "lots": "4", "environment": "pytorch"}).content.decode()
    assert f'method="get" action="{reverse("orders:checkout")}"' in page
    assert 'name="offer" value="rtx-4090"' in page
    assert re.search(r'name="term" value="7" checked', page)
    assert re.search(r'name="lots"[^>]* value="4"', page)
    assert re.search(r'name="environment"[^>]*value="pytorch"[^>]*checked', page)


def test_cat_11_a_mac_says_what_it_is_not(client: Client, make_offer: Callable[..., Offer]) -> None:
    mac = make_offer("Mac Studio", vendor="Apple", architecture="Apple M3 Ultra", backend="Metal", memory_gb=512)
    page = text_of(client, mac.get_absolute_url())
    assert "shared with the system" in page
    assert "does not replace CUDA" in page


def test_cat_7_related_cards_are_of_the_same_memory(client: Client, make_offer: Callable[..., Offer]) -> None:
    ada = make_offer("RTX 4090")
    cards: dict[str, dict[str, Any]] = {
        "L4": {"architecture": "Ada"},
        "New 24": {"architecture": "Blackwell"},
        "Old 24": {"architecture": "Ampere"},
        "Other 24": {"architecture": "RDNA 4", "backend": "ROCm"},
        "Big": {"architecture": "Ada", "memory_gb": 48},
    }
    for name, facts in cards.items():
        make_offer(name, **facts)
    related = client.get(ada.get_absolute_url()).context["related"]
    assert [(kind, other.name) for kind, other in related] == [("same", "L4"), ("newer", "New 24")]


def test_an_offer_that_is_not_published_does_not_exist(client: Client, make_offer: Callable[..., Offer]) -> None:
    hidden = make_offer(published=False)
    assert client.get(hidden.get_absolute_url()).status_code == 404
    assert client.get(reverse("catalog:figures", args=[hidden.slug])).status_code == 404
    assert names(client) == []


@pytest.fixture
def shelf(make_offer: Callable[..., Offer]) -> None:
    make_offer("A40", memory_gb=48, architecture="Ampere", position=1)
    make_offer("MI300X", memory_gb=192, vendor="AMD", backend="ROCm", architecture="CDNA 3", position=2)
    make_offer("T4", memory_gb=16, architecture="Turing", lots=0, position=3)
    Price.objects.filter(offer__name="T4").update(unit_price_cents=100)
    Price.objects.filter(offer__name="MI300X", term_days=7).delete()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["A40", "MI300X", "T4"]),
        ({"vendor": "AMD"}, ["MI300X"]),
        ({"backend": "CUDA"}, ["A40", "T4"]),
        ({"memory": 48}, ["A40", "MI300X"]),
        ({"available": "on"}, ["A40", "MI300X"]),
        ({"sort": "price"}, ["T4", "A40", "MI300X"]),
        ({"sort": "price", "term": 7}, ["T4", "A40", "MI300X"]),
        ({"sort": "memory"}, ["MI300X", "A40", "T4"]),
        ({"sort": "name", "backend": "CUDA", "memory": 16}, ["A40", "T4"]),
        ({"vendor": "Nobody", "memory": "lots", "sort": "luck", "term": "5"}, ["A40", "MI300X", "T4"]),
    ],
)
def test_cat_8_the_list_filters_and_sorts_by_its_address(
    client: Client, shelf: None, query: dict[str, str | int], expected: list[str]
) -> None:
    assert names(client, **query) == expected


def test_cat_8_a_list_without_a_match_says_what_to_do(client: Client, shelf: None) -> None:
    assert "Ask for less memory" in text_of(client, reverse("catalog:list"), vendor="AMD", backend="CUDA")


def test_htmx_gets_the_results_alone(client: Client, shelf: None) -> None:
    response = client.get(reverse("catalog:list"), headers={"HX-Request": "true"})
    assert b"<html" not in response.content
    assert b"A40" in response.content
    assert "HX-Request" in response["Vary"]


@pytest.mark.parametrize("offers", [1, 12])
def test_the_list_takes_as_many_queries_for_one_offer_as_for_many(
    client: Client, make_offer: Callable[..., Offer], offers: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(offers):
        make_offer(f"Card {number}")
    with django_assert_num_queries(4):  # the fourth: whether new orders are paused
        client.get(reverse("catalog:list"))


def test_pages_of_the_catalog_write_nothing_and_allow_no_post(client: Client, rtx: Offer) -> None:
    assert client.post(rtx.get_absolute_url()).status_code == 405
    assert client.post(reverse("catalog:list")).status_code == 405


def test_the_catalog_has_no_inline_script_or_style(client: Client, rtx: Offer) -> None:
    for url in (reverse("catalog:list"), rtx.get_absolute_url()):
        page = client.get(url).content.decode()
        assert " style=" not in page
        assert "<style" not in page
        assert not re.search(r"<script(?![^>]*\bsrc=)", page)
        assert not re.search(r"\son[a-z]+=", page)
