"""Amounts in pages, payment texts, JSON and CSV: ASCII digits and a dot, in every language, however small or large."""

import json
import re
import urllib.parse
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.urls import reverse
from django.utils import translation
from story import ask, give

from balance.export import statement_csv
from balance.queries import statement
from events.models import Event
from money import units
from payments.models import PaymentIntent
from payments.networks.base import Asset, Family
from payments.networks.simulated import Simulated
from payments.pages import page_of
from payments.registry import REAL, methods
from payments.statement import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.cases]
NUMBER = re.compile(r"\d+(\.\d+)?", re.ASCII)
AMOUNTS = {"one-unit": None, "546": "0.00000546", "hundred": "100", "huge": str(10**18)}
LANGUAGES = ["en", "ru", "de", "ar", "fa"]


def real_families() -> list[Family]:
    return [real.make_family() for real in REAL.values()]


def base_units(asset: Asset, text: str | None) -> int:
    """Return an amount in base units; of one that is smaller than a unit, one unit."""
    return 1 if text is None else max(int(Decimal(text) * 10**asset.decimals), 1)


def pairs() -> list[Any]:
    """Return every asset of every network, real and simulated."""
    real = real_families()
    simulated = [Simulated(f.network, f.name, f.assets, 3.0) for f in real]
    return [(family, asset) for family in (*real, *simulated) for asset in family.assets]


def numbers_in(uri: str) -> list[str]:
    """Return the amounts of a payment text, as they stand in it."""
    query = urllib.parse.parse_qs(uri.partition("?")[2], strict_parsing=bool(uri.partition("?")[2]))
    return [value for name in ("amount", "value", "uint256") for value in query.get(name, [])]


@pytest.mark.parametrize("language", [pytest.param(code, id=f"case-85-{code}") for code in LANGUAGES])
@pytest.mark.parametrize("amount", [pytest.param(text, id=f"case-84-{name}") for name, text in AMOUNTS.items()])
def test_payment_texts_hold_plain_numbers_in_every_language(amount: str | None, language: str) -> None:
    address = "0x9858effd232b4033e47d90003d41ec34ecaeda94"
    seen = 0
    for family, asset in pairs():
        due = base_units(asset, amount)
        with translation.override(language):
            uris = (family.payment_uri(address, asset, due), family.wallet_uri(address, asset, due) or "")
        for number in [n for uri in uris for n in numbers_in(uri)]:
            seen += 1
            assert NUMBER.fullmatch(number), (family, asset, number)
            assert number in (str(due), units.plain(due, asset.decimals))
    assert seen >= len(pairs())


@pytest.mark.parametrize(
    "language", [pytest.param(code, id=f"case-85-{code}") for code, _ in django_settings.LANGUAGES]
)
@pytest.mark.parametrize("amount", [pytest.param(text, id=f"case-84-{name}") for name, text in AMOUNTS.items()])
def test_pages_show_and_copy_plain_numbers_in_every_language(
    shop: Any, client: Any, amount: str | None, language: str
) -> None:
    client.force_login(shop.customer)
    client.cookies[django_settings.LANGUAGE_COOKIE_NAME] = language
    for method in methods():
        intent = shop.ask(shop.order(), method.code)
        due = base_units(method.asset, amount)
        PaymentIntent.objects.filter(pk=intent.pk).update(amount=due)
        text = units.plain(due, method.asset.decimals)
        html = client.get(reverse("payments:intent", args=[intent.pk])).content.decode()
        assert f'lang="{language}"' in html
        assert f'<span class="copy-value">{text}</span>' in html
        copied = re.findall(r'data-copy="([^"]*)"', html)
        assert text in copied
        assert all(NUMBER.fullmatch(value) for value in copied if value[0] in "0123456789.,-" and "x" not in value)
        for page in ("orders:detail", "payments:choose"):
            for shown in amounts_on(client.get(reverse(page, args=[intent.order.number])).content.decode()):
                assert NUMBER.fullmatch(shown), shown


def amounts_on(html: str) -> list[str]:
    """Return the amounts of coins on a page."""
    return [text.split()[0] for text in re.findall(r'<span class="amount">([^<]+)</span>', html)]


@pytest.mark.parametrize("case", ["case-84"])
def test_amounts_in_json_are_strings_of_plain_numbers(shop: Any, case: str) -> None:
    intent = shop.ask(shop.order())
    event = Event.objects.get(kind="intent.opened")
    evidence = json.loads(json.dumps(intent.rate_evidence))
    stored = [event.data["amount"], evidence["market_e8"], *(s["price_e8"] for s in evidence["samples"])]
    for number in stored:
        assert isinstance(number, str)
        assert NUMBER.fullmatch(number)
    assert event.data["amount"] == str(intent.amount)


@pytest.mark.parametrize("language", [pytest.param(code, id=f"case-85-{code}") for code in LANGUAGES])
def test_the_statement_as_a_file_holds_plain_numbers_in_every_language(shop: Any, language: str) -> None:
    for cents in (1, 123_456_789, 10**13):
        give(shop.customer, cents)
    rows = statement(shop.customer)
    with translation.override(language):
        lines = statement_csv(rows, dict(words_of(row.movement for row in rows))).splitlines()[1:]
    numbers = [number for line in lines for number in line.split(",")[-2:]]
    assert len(numbers) == 6
    assert all(re.fullmatch(r"-?\d+\.\d\d", number, re.ASCII) for number in numbers), numbers


def test_the_rate_on_the_page_is_exact_enough_for_a_coin_of_cents(shop: Any) -> None:
    intent = ask(shop.order(), "usdt-ethereum")
    assert page_of(intent).rate_text == "0.997"
