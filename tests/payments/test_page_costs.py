"""What a page costs does not depend on how much it shows: the same queries for one thing and for three, and few."""

import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from story import give

from payments.actions.intents import open_topup_intent
from payments.actions.topups import make_topup
from payments.models import PaymentIntent
from payments.queries import credited_cents

pytestmark = pytest.mark.django_db
MOST = 13  # the page of an order shows money, machine and conversation


def cost(client: Any, url: str, **headers: str) -> int:
    client.get(url)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(url, headers=headers).status_code == 200
    assert len(queries) <= MOST, [query["sql"][:120] for query in queries]
    return len(queries)


def costs(client: Any, order: Any, intent: PaymentIntent) -> dict[str, int]:
    urls = {
        "order": reverse("orders:detail", args=[order.number]),
        "order part": reverse("orders:status", args=[order.number]),
        "instructions": reverse("payments:intent", args=[intent.pk]),
        "instructions part": reverse("payments:status", args=[intent.pk]),
        "methods": reverse("payments:choose", args=[order.number]),
        "orders": reverse("orders:list"),
        "balance": reverse("balance:statement"),
    }
    return {name: cost(client, url, **({"hx-request": "true"} if "part" in name else {})) for name, url in urls.items()}


def test_pages_cost_the_same_for_one_and_for_three_instructions_and_transfers(shop: Any, client: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent, intent.amount // 10)
    shop.block(1)
    give(shop.customer, 1_000)
    client.force_login(shop.customer)
    one = costs(client, order, intent)
    for _ in range(2):
        intent = shop.ask(order, "usdt-ethereum")
        shop.network.pay(intent, intent.amount // 10)
        shop.network.pay(intent, intent.amount // 10)
    shop.block(1)
    assert costs(client, order, intent) == one


def test_lists_cost_the_same_for_one_and_for_three_orders_and_entries(shop: Any, client: Any) -> None:
    client.force_login(shop.customer)

    def pay_one() -> None:
        order = shop.order()
        intent = shop.ask(order)
        shop.network.pay(intent, intent.amount * 12 // 10)
        shop.block(3)

    def both() -> tuple[int, int]:
        return cost(client, reverse("orders:list")), cost(client, reverse("balance:statement"))

    pay_one()
    one = both()
    pay_one()
    pay_one()
    assert both() == one


def test_pages_of_a_top_up_cost_the_same_for_one_and_for_three_instructions(shop: Any, client: Any) -> None:
    client.force_login(shop.customer)
    topup = make_topup(shop.customer, 50_000, form_key=uuid.uuid4())

    def pay_a_part() -> PaymentIntent:
        shop.network.price()
        shop.network.watch()
        intent = open_topup_intent(topup.pk, "usdt-ethereum", form_key=uuid.uuid4(), actor=shop.customer)
        shop.network.pay(intent, intent.amount // 10)
        shop.block(4)
        return intent

    def all_pages(intent: PaymentIntent) -> list[int]:
        urls = [reverse(f"payments:{n}", args=[topup.number]) for n in ("topup", "choose_topup", "receipt")]
        parts = [reverse("payments:topup_status", args=[topup.number]), reverse("payments:status", args=[intent.pk])]
        urls += [reverse("payments:intent", args=[intent.pk]), reverse("balance:statement")]
        return [cost(client, url) for url in urls] + [cost(client, part, **{"hx-request": "true"}) for part in parts]

    one = all_pages(pay_a_part())
    pay_a_part()
    make_topup(shop.customer, 10_000, form_key=uuid.uuid4())
    assert all_pages(pay_a_part()) == one


def test_what_was_credited_is_read_by_one_query(shop: Any, django_assert_num_queries: Any) -> None:
    """Also for instructions that nobody has read, and by none where it is known that there are none."""
    order = shop.order()
    shop.ask(order)
    with django_assert_num_queries(1):
        credited_cents(order.intents.all())
    with django_assert_num_queries(0):
        credited_cents([])


def test_a_pass_of_the_watcher_reads_the_same_for_one_and_for_three_waiting_instructions(shop: Any) -> None:
    def reads() -> int:
        with CaptureQueriesContext(connection) as queries:
            shop.network.watch()
        return len(queries)

    shop.ask(shop.order())
    one = reads()
    shop.ask(shop.order())
    shop.ask(shop.order())
    assert reads() == one
