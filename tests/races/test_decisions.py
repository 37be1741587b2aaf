"""Operators act at the same moment in the admin: one of them decides, the others are told, money moves once."""

from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings
from story import Network, ask, books_are_right, make_customer, make_offer, make_operator, save_order
from together import at_once

from balance.models import Movement
from events.models import Event
from payments.models import HandSettlement, ReviewItem
from payments.registry import method

pytestmark = pytest.mark.races


@pytest.fixture
def operators(settings: Settings) -> list[Client]:
    settings.STAFF_SECOND_FACTOR = False
    clients = [Client() for _ in range(4)]
    for place, client in enumerate(clients):
        client.force_login(make_operator(f"op{place}@example.com"))
    return clients


def test_a_review_item_is_decided_by_one_operator_and_the_others_see_it(
    network: Network, operators: list[Client]
) -> None:
    intent = ask(save_order(make_customer(), make_offer()))
    usdt = method("usdt-ethereum").asset
    network.chain.pay(intent.address.address, 101 * 10**6, method=usdt.method, contract=usdt.contract)
    network.settle()
    address = reverse("admin:review_decide", args=[ReviewItem.objects.get().pk])

    def decide(client: Client, outcome: str) -> str:
        page = client.post(address, {"outcome": outcome, "reason": "mine"}, follow=True)
        return unescape(page.content.decode())

    outcomes = ("credited", "kept", "noted", "credited")
    pages = [
        str(one.value)
        for one in at_once([lambda c=c, o=o: decide(c, o) for c, o in zip(operators, outcomes, strict=True)])
    ]
    assert sorted("Decided already by" in page for page in pages) == [False, True, True, True]
    assert sum("Decided and recorded" in page for page in pages) == 1
    assert Event.objects.filter(kind="review.decided").count() == 1


def test_an_order_is_settled_by_hand_once_by_four_operators(network: Network, operators: list[Client]) -> None:
    order = save_order(make_customer(), make_offer())
    address = reverse("admin:order_settle", args=[order.pk])
    grounds = {"reason": "cash", "evidence": "receipt"}
    codes = [one.value for one in at_once([lambda c=c: c.post(address, grounds).status_code for c in operators])]
    assert codes == [302] * 4
    assert HandSettlement.objects.count() == Movement.objects.filter(kind=Movement.Kind.ADJUSTMENT).count() == 1
    books_are_right()
