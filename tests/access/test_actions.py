"""Every action above a list of the admin is really sent as every role, and does what the table says or nothing."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import pytest
from access.conftest import Browsers
from access.table import ACTIONS, ADMIN
from django.apps import apps
from django.contrib import admin
from django.db.models import Model
from django.test import Client
from django.urls import get_resolver, reverse
from django.utils import timezone
from story import Network, ask, make_customer, make_offer, save_order

from accounts.actions import lost
from accounts.actions.roles import set_role
from accounts.models import Recovery
from catalog.actions import set_stock
from catalog.models import Offer
from events.models import Event
from orders.actions import ask_for_help
from orders.models import Hold, Order
from orders.tasks import end_holds
from payments.models import NetworkCursor

pytestmark = [pytest.mark.access, pytest.mark.django_db]
STAFF = ("support", "operator", "owner")
Scene = Callable[[Network], Model]


def person(network: Network) -> Model:
    return make_customer("target@example.com")


def staff_member(network: Network) -> Model:
    found = make_customer("target@example.com")
    set_role(found, "support", actor=None)
    return found


def recovery(network: Network) -> Model:
    """Return a recovery of a lost account that may be completed now."""
    opened = lost.open_recovery(make_customer("target@example.com"), proof="x", actor=None)
    past = timezone.now() - timedelta(days=8)
    Recovery.objects.filter(pk=opened.pk).update(opened_at=past, due_at=past + timedelta(days=7))
    return opened


def hidden(network: Network) -> Model:
    offer = make_offer()
    Offer.objects.filter(pk=offer.pk).update(published=False)
    return offer


def shown(network: Network) -> Model:
    return make_offer()


def paid(network: Network) -> Order:
    order = save_order(make_customer("target@example.com"), make_offer())
    network.pay(ask(order))
    network.settle()
    return order


def waiting(network: Network) -> Model:
    """Return a paid order that had no lots left, and there are some again."""
    order = save_order(make_customer("target@example.com"), make_offer())
    intent = ask(order)
    Hold.objects.update(until=timezone.now() - timedelta(days=2))
    end_holds()
    set_stock(offer=order.offer, lots=0)
    network.pay(intent)
    network.settle()
    set_stock(offer=order.offer, lots=5)
    return order


def needs_help(network: Network) -> Model:
    order = paid(network)
    ask_for_help(Order.objects.get(pk=order.pk))
    return order


def stopped(network: Network) -> Model:
    NetworkCursor.objects.filter(pk="ethereum").update(state="stopped", error="another chain")
    return NetworkCursor.objects.get(pk="ethereum")


SCENES: dict[str, Scene] = {
    "accounts_user.make_support": person,
    "accounts_user.make_operator": person,
    "accounts_user.make_owner": person,
    "accounts_user.take_role": staff_member,
    "accounts_user.end_sessions": person,
    "accounts_user.open_recovery": person,
    "accounts_recovery.complete": recovery,
    "accounts_recovery.cancel": recovery,
    "catalog_offer.show": hidden,
    "catalog_offer.hide": shown,
    "orders_order.take_stock": waiting,
    "orders_order.help_given": needs_help,
    "payments_networkcursor.resume": stopped,
}


def own_actions() -> set[str]:
    """Return every action of every list; loading the addresses takes lists of libraries out of the admin."""
    assert get_resolver().url_patterns
    return {
        f"{model._meta.app_label}_{model._meta.model_name}.{action.name}"
        for model, one in admin.site._registry.items()
        for action in cast(Any, one)._get_base_actions()
        if action.name != "delete_selected"
    }


def send(client: Client, model: str, name: str, row: Model) -> int:
    facts = {"action": name, "_selected_action": [str(row.pk)], "reason": "talked to them", "proof": "a letter"}
    answer = client.post(reverse(f"admin:{model}_changelist"), facts)
    url = urlsplit(answer.headers.get("Location", ""))
    if url.path.startswith(reverse("admin:catalog_pause_changelist")):  # a page that asks for the reason
        return client.post(url.path, {**parse_qs(url.query), "reason": facts["reason"]}).status_code
    return answer.status_code


def test_every_action_has_a_line() -> None:
    """A new action stands in tests/access/table.py and has a scene here, and nothing stands there that is gone."""
    assert own_actions() == set(ACTIONS) == set(SCENES)


@pytest.mark.parametrize("who", STAFF)
@pytest.mark.parametrize("action", ACTIONS)
def test_action(action: str, who: str, network: Network, browser_of: Browsers) -> None:
    """What an action does is written as an event: none is written for whoever may not."""
    may = dict(zip(STAFF, ACTIONS[action].split(), strict=True))[who] == "y"
    model, _, name = action.partition(".")
    row = SCENES[action](network)
    client = browser_of(who)
    before = Event.objects.count()
    status = send(client, model, name, row)
    done = Event.objects.count() > before
    assert done == may, status
    assert status == 302 if may else status in (200, 302, 403)  # 200: the list without this action


@pytest.mark.parametrize("who", ["nobody", "other"])
def test_who_is_not_of_the_staff_does_nothing(who: str, network: Network, browser_of: Browsers) -> None:
    row, client = needs_help(network), browser_of(who)
    before = Event.objects.count()
    for action in ACTIONS:
        model, _, name = action.partition(".")
        assert send(client, model, name, row) == 302
    assert Event.objects.count() == before


def test_delete_selected_follows_the_table_of_models(world: dict[str, Any], browser_of: Browsers) -> None:
    for place, who in enumerate(STAFF):
        client = browser_of(who)
        for model, rights in ADMIN.items():
            app, _, name = model.partition("_")
            rows = apps.get_model(app, name)._base_manager
            row = rows.order_by("-pk").first()
            assert row is not None
            facts = {"action": "delete_selected", "_selected_action": [str(row.pk)], "post": "yes"}
            client.post(reverse(f"admin:{model}_changelist"), facts)
            assert rows.filter(pk=row.pk).exists() == ("d" not in rights.split()[place]), (who, model)
