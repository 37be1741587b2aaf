"""Nobody sells a lot twice (S1, S2, S9)."""

import uuid

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings
from story import Network, ask, books_are_right, give, make_customer, make_offer, save_order
from together import at_once, errors

from accounts.models import User
from catalog.models import Offer
from orders import actions
from orders.models import Hold, Order
from payments.actions import intents

pytestmark = [pytest.mark.races, pytest.mark.django_db(transaction=True)]
PEOPLE, LOTS = 50, 10


def submit(client: Client, customer: User, offer: Offer) -> tuple[int, bool]:
    """Send the check form as the browser does; return the status and whether the page says that nothing is left."""
    form = {
        "offer": offer.slug,
        "term": "7",
        "lots": "1",
        "first_name": customer.first_name,
        "last_name": customer.last_name,
        "email": customer.email,
        "form_key": str(uuid.uuid4()),
        "expected_total_cents": "10000",
    }
    response = client.post(reverse("orders:checkout"), form)
    return response.status_code, "No lots are left at the moment, so the order was not saved" in response.text


def signed_in(customer: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(customer)
    return client


def exactly_ten_are_sold(offer: Offer) -> None:
    offer.refresh_from_db()
    assert offer.taken == LOTS
    assert Order.objects.count() == LOTS
    held = Hold.objects.filter(state=Hold.State.HELD)
    assert held.count() == LOTS
    assert not Order.objects.exclude(pk__in=held.values("order")).exists()
    books_are_right()


def test_s1_fifty_people_who_submit_at_once_buy_exactly_the_ten_lots_there_are() -> None:
    offer = make_offer(lots=LOTS)
    people = [make_customer(f"p{n}@example.com") for n in range(PEOPLE)]
    browsers = [signed_in(person) for person in people]
    outcomes = at_once(
        [lambda b=b, p=p: submit(b, p, offer) for b, p in zip(browsers, people, strict=True)], processes=4
    )
    assert errors(outcomes) == {"": PEOPLE}
    answers = [outcome.value for outcome in outcomes]
    assert answers.count((302, False)) == LOTS
    assert answers.count((409, True)) == PEOPLE - LOTS
    exactly_ten_are_sold(offer)


def test_s1_fifty_calls_at_once_sell_ten_and_refuse_forty_with_the_reason() -> None:
    offer = make_offer(lots=LOTS)
    people = [make_customer(f"p{n}@example.com") for n in range(PEOPLE)]
    outcomes = at_once([lambda p=p: save_order(p, offer).pk for p in people], processes=4)
    assert errors(outcomes) == {"": LOTS, "OutOfStock": PEOPLE - LOTS}
    exactly_ten_are_sold(offer)


def test_s9_the_third_of_three_unpaid_orders_for_two_lots_is_refused_when_it_is_saved() -> None:
    offer = make_offer(lots=2)
    people = [make_customer(f"p{n}@example.com") for n in range(3)]
    outcomes = at_once([lambda p=p: save_order(p, offer).pk for p in people])
    assert errors(outcomes) == {"": 2, "OutOfStock": 1}
    books_are_right()


def test_s2_the_last_lot_goes_to_the_balance_or_to_the_new_promise_never_to_both(network: Network) -> None:
    offer = make_offer(lots=1)
    from_balance, by_crypto = (let_go(make_customer(f"{name}@example.com"), offer) for name in ("ada", "ben"))
    give(from_balance.customer, 10_000)
    outcomes = at_once(
        [
            lambda: intents.pay_from_balance(from_balance.pk, actor=from_balance.customer).pk,
            lambda: str(ask(by_crypto).pk),
        ]
    )
    assert errors(outcomes) == {"": 1, "NothingLeft": 1}
    offer.refresh_from_db()
    assert offer.taken == 1
    refused = from_balance if outcomes[0].error else by_crypto
    assert not refused.holds.filter(state=Hold.State.HELD).exists()
    assert not refused.intents.exists()
    books_are_right()


def let_go(customer: User, offer: Offer) -> Order:
    """Return a saved order whose hold has ended."""
    order = save_order(customer, offer)
    hold = order.holds.get()
    assert hold.until is not None
    assert actions.end_hold(order.pk, now=hold.until)
    return order


def test_one_customer_never_holds_more_than_the_limit_by_submitting_at_once(settings: Settings) -> None:
    settings.HELD_LOTS_LIMIT = 2
    offer, ada = make_offer(lots=LOTS), make_customer()
    outcomes = at_once([lambda: save_order(ada, offer).pk for _ in range(8)])
    assert errors(outcomes) == {"": 2, "HeldTooMuch": 6}
    books_are_right()
