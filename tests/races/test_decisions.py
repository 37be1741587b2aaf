"""Operators act at the same moment in the admin: one of them decides, the others are told, money moves once."""

import time
import uuid
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings
from story import Network, ask, books_are_right, give, make_customer, make_offer, make_operator, save_order
from together import at_once

from balance.models import Movement
from balance.queries import balance_cents
from events.models import Event
from orders.errors import Refused
from payments.actions.adjusting import counter, give_goodwill
from payments.actions.intents import pay_from_balance
from payments.corrections import refusal_of
from payments.models import Adjustment, HandSettlement, ReviewItem
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


def test_an_entry_is_undone_once_by_four_operators(network: Network, operators: list[Client]) -> None:
    """OPS-8: the balance would cover it more often."""
    customer = make_customer()
    movement = give(customer, 300)
    give(customer, 5_000)
    address = reverse("admin:adjustment_counter", args=[movement.pk])
    codes = [
        one.value for one in at_once([lambda c=c: c.post(address, {"reason": "wrong"}).status_code for c in operators])
    ]
    assert codes == [302] * 4
    assert Adjustment.objects.count() == Movement.objects.filter(reference__startswith="counter:").count() == 1
    assert balance_cents(customer) == 5_000
    books_are_right()


def test_a_customer_s_debit_and_a_counter_entry_never_take_the_same_money(network: Network) -> None:
    """Whichever comes first: the other one is refused, and the balance stays above zero."""
    customer, operator = make_customer(), make_operator()
    order = save_order(customer, make_offer())
    movement = give(customer, 10_000)
    outcomes = at_once(
        [
            lambda: str(pay_from_balance(order.pk, actor=customer).pk),
            lambda: str(counter(movement.pk, reason="wrong", actor=operator).pk),
        ]
    )
    assert sorted(one.error for one in outcomes) in (["", "AlreadySpent"], ["", "BalanceTooSmall"])
    assert balance_cents(customer) == 0
    books_are_right()


def test_a_gift_is_given_once_when_it_is_sent_twice_and_the_limit_holds(network: Network) -> None:
    """Eight gifts of $100 from one person at once: $500 of them are theirs to give alone."""
    customer, operator, key = make_customer(), make_operator(), uuid.uuid4()

    def give_100(form_key: uuid.UUID) -> str:
        given = give_goodwill(customer.pk, 10_000, reason="sorry", form_key=form_key, actor=operator)
        return given.state

    keys = [key, key, *(uuid.uuid4() for _ in range(6))]
    at_once([lambda k=k: give_100(k) for k in keys])
    assert Adjustment.objects.count() == 7
    assert Adjustment.objects.filter(state="done").count() == 5
    assert balance_cents(customer) == 50_000
    books_are_right()


def test_the_network_takes_a_credit_back_while_an_operator_undoes_it(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taken once, whoever comes first, although what else the customer has would cover it twice."""

    def look_and_dwell(row: Movement) -> Refused | None:
        found = refusal_of(row)
        time.sleep(1)
        return found

    monkeypatch.setattr("payments.actions.adjusting.refusal_of", look_and_dwell)
    customer, operator = make_customer(), make_operator()
    give(customer, 9_000)
    intent = ask(save_order(customer, make_offer()))
    usdt = method("usdt-ethereum").asset
    network.chain.pay(intent.address.address, 50 * 10**6, method=usdt.method, contract=usdt.contract)
    network.settle()
    movement = Movement.objects.get(kind="transfer")
    network.chain.reorg(4, keep=False)
    network.chain.mine(8)
    outcomes = at_once(
        [network.watch, lambda: str(counter(movement.pk, reason="wrong", actor=operator).pk), network.watch]
    )
    assert outcomes[1].error in ("", "ReversedAlready"), outcomes
    network.watch()
    network.watch()
    assert balance_cents(customer) == 9_000
    books_are_right()
