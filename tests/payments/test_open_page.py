"""An open page of instructions: which parts its looks exchange, and what those say."""

import re
from typing import Any

import pytest
from django.urls import reverse

from payments.models import PaymentIntent

pytestmark = pytest.mark.django_db


class Open:
    """A page as the browser keeps it: each look asks with the marks of what it shows."""

    def __init__(self, client: Any, intent: PaymentIntent) -> None:
        self.client = client
        self.html: str = client.get(reverse("payments:intent", args=[intent.pk])).content.decode()

    def look(self) -> str:
        """Return what the look brings, and keep its marks."""
        asked = re.search(r'hx-get="([^"]+)"', self.html)
        assert asked
        url = asked[1].replace("&amp;", "&")
        self.html = self.client.get(url, headers={"hx-request": "true"}).content.decode()
        return str(self.html)


@pytest.fixture
def page(shop: Any, client: Any) -> Open:
    client.force_login(shop.customer)
    return Open(client, shop.ask(shop.order()))


def newest(shop: Any) -> PaymentIntent:
    return PaymentIntent.objects.latest("created_at")


def test_nothing_moves_while_nothing_changes(page: Open) -> None:
    for _ in range(2):
        html = page.look()
        assert 'id="payment-status"' in html
        assert 'id="send"' not in html
        assert 'id="history"' not in html


def test_a_part_that_was_seen_never_says_that_nothing_more_is_due(shop: Any, page: Open) -> None:
    intent = newest(shop)
    shop.network.pay(intent, intent.amount // 2)
    shop.network.watch()
    html = page.look()
    assert "was seen." in html
    assert "less than the exact amount" in html
    assert "Nothing more is due" not in html


def test_a_part_in_a_block_changes_the_amount_of_the_open_page_to_what_is_missing(shop: Any, page: Open) -> None:
    intent = newest(shop)
    shop.network.pay(intent, intent.amount // 4)
    shop.block(1)
    html = page.look()
    assert 'id="send"' in html
    assert "Send only what is missing, to the same address." in html
    assert 'id="send"' not in page.look()  # it stays while nothing changes


def test_late_money_appears_on_the_open_page_and_is_named_as_credit(shop: Any, page: Open) -> None:
    intent = newest(shop)
    shop.end_of(intent, plus=31)
    assert "Do not send now." in page.look()
    shop.network.price()
    shop.network.pay(intent)
    shop.block(1)
    assert "It becomes credit in your balance" in page.look()
    shop.block(3)
    html = page.look()
    assert re.search(r"What arrived is \$\d+\.\d\d of credit in your balance", html)
    assert 'id="pay-from-balance"' in html  # at the market rate, without our markup, it is worth the price


def test_more_than_the_price_is_named_with_its_sum(shop: Any, page: Open) -> None:
    intent = newest(shop)
    shop.network.pay(intent, intent.amount * 105 // 100)
    shop.block(3)
    html = page.look()
    assert "The order is paid." in html
    assert "More than the price arrived: $5.00 of it is in your balance." in html


def test_superseded_instructions_lead_to_the_newest(shop: Any, page: Open) -> None:
    older = newest(shop)
    shop.wait(1)
    newer = shop.ask(older.order, "usdt-ethereum")
    html = page.look()
    assert f'href="{reverse("payments:intent", args=[newer.pk])}">Open the newest instructions' in html
