"""Every page of the site is opened as everybody, and answers as the table says."""

from collections.abc import Iterator
from typing import Any

import pytest
from access.conftest import WHO, Browsers
from access.table import ADMIN, PAGES
from django.apps import apps
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import URLResolver, get_resolver, reverse

pytestmark = [pytest.mark.access, pytest.mark.django_db]
KINDS = ("changelist", "download", "add", "change", "history", "delete")  # of pages that each model has
UNPAID = {"orders:cancel", "payments:choose", "payments:balance"}  # pages of an order that still waits for payment
PAYOUTS = {"payments:payout", "payments:payout_status", "payments:cancel_payout"}
TOPUPS = {"payments:topup", "payments:topup_status", "payments:choose_topup"}


def names(resolver: Any, spaces: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the full name of every page that the resolver knows."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from names(pattern, (*spaces, pattern.namespace) if pattern.namespace else spaces)
        elif pattern.name:
            yield ":".join((*spaces, pattern.name))


def arguments(name: str, world: dict[str, Any]) -> dict[str, Any]:
    """Return what stands in the address of a page, by the names that its pattern has."""
    *spaces, last = name.split(":")
    resolver: Any = get_resolver()
    for space in spaces:
        resolver = resolver.namespace_dict[space][1]
    wanted = resolver.reverse_dict.getlist(last)[0][0][0][1]
    found = {argument: world[argument] for argument in wanted}
    if name in UNPAID | TOPUPS:
        found["number"] = world["unpaid_number" if name in UNPAID else "topup_number"]
    if name in PAYOUTS:
        found["number"] = world["payout_number"]
    return found


def read(answer: HttpResponseBase) -> str:
    """Return an answer in the words of the table."""
    if answer.status_code != 302:
        return str(answer.status_code)
    to = answer.headers["Location"].partition("?")[0]
    ways = {"login": "account_login", "again": "account_reauthenticate", "gate": "admin:login"}
    return next((word for word, page in ways.items() if to == reverse(page)), "away")


def send(client: Client, verb: str, address: str) -> str:
    return read(client.post(address) if verb == "POST" else client.get(address))


def test_every_page_has_a_line() -> None:
    """A new page stands in tests/access/table.py, and nothing stands there that is gone."""
    admin = {f"admin:{model}_{action}" for model in ADMIN for action in KINDS}
    assert set(names(get_resolver())) == set(PAGES) | admin


@pytest.mark.parametrize("name", PAGES)
def test_page(name: str, world: dict[str, Any], browser_of: Browsers) -> None:
    """The person it belongs to comes last: that answer may change something."""
    verb, *answers = PAGES[name].split()
    expected = dict(zip(WHO, [*answers, *answers[-1:] * (len(WHO) - len(answers))], strict=True))
    address = reverse(name, kwargs=arguments(name, world)) if name != "api_not_found" else "/api/v1/nowhere"
    order = sorted(WHO, key=lambda who: who == "own")
    assert {who: send(browser_of(who), verb, address) for who in order} == expected


@pytest.mark.parametrize("model", ADMIN)
def test_admin_of_model(model: str, world: dict[str, Any], browser_of: Browsers) -> None:
    app, _, name = model.partition("_")
    row = apps.get_model(app, name)._base_manager.order_by("pk").first()
    assert row is not None, f"the world has no {model}"
    rights = dict(zip(("support", "operator", "owner"), ADMIN[model].split(), strict=True))
    for who in WHO:
        client, may = browser_of(who), rights.get(who, "")
        for action, right in zip(KINDS, ("v", "v", "a", "v", "v", "d"), strict=True):
            needs_row = action in ("change", "history", "delete")
            address = reverse(f"admin:{model}_{action}", args=[row.pk] if needs_row else [])
            expected = ("200" if right in may else "403") if who in rights else "gate"
            assert send(client, "GET", address) == expected, (who, action)
        change = client.post(reverse(f"admin:{model}_change", args=[row.pk]), {"_nothing": "x"})
        allowed = {"200", "away"} if "c" in may else {"403", "gate"}
        assert read(change) in allowed, (who, "change by POST")


@pytest.mark.parametrize("who", ["support", "operator", "owner"])
def test_staff_without_a_second_factor_open_no_page_of_the_admin(
    who: str, world: dict[str, Any], browser_of: Any
) -> None:
    client = browser_of(who, factor=False)
    for name in names(get_resolver()):
        if not name.startswith("admin:"):
            continue
        for verb in (client.get, client.post):
            answer = verb(reverse(name, kwargs=arguments(name, world)))
            assert answer.status_code == 302, name
            assert answer.headers["Location"] == reverse("account_factor_needed"), name
