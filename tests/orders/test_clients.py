"""ORD-6: the lots that one client may hold unpaid are limited, whatever the number of its accounts."""

import uuid

import pytest
from django.test import Client, RequestFactory
from story import make_customer, make_offer

from orders.clients import client_mark
from orders.models import Order

pytestmark = pytest.mark.django_db


def submit(address: str, email: str, lots: int) -> int:
    browser = Client(REMOTE_ADDR=address)
    browser.force_login(make_customer(email))
    choice = {"offer": "h100-sxm", "term": "7", "lots": str(lots), "environment": "pytorch"}
    contact = {"first_name": "Ada", "last_name": "Lovelace", "email": email}
    keys = {"form_key": str(uuid.uuid4()), "expected_total_cents": str(10_000 * lots)}
    return browser.post("/order/new/", choice | contact | keys).status_code


def test_ord_6_many_accounts_of_one_client_hold_no_more_than_one(transactional_db: None) -> None:
    make_offer(lots=100)
    assert submit("8.8.8.8", "a@example.com", 10) == 302
    assert submit("8.8.8.8", "b@example.com", 10) == 302
    assert submit("8.8.8.8", "c@example.com", 1) == 409
    assert submit("8.8.4.4", "d@example.com", 1) == 302
    assert Order.objects.count() == 3


def test_ord_6_a_private_address_is_a_proxy_and_limits_nobody(transactional_db: None) -> None:
    make_offer(lots=100)
    for n in range(4):
        assert submit("10.0.0.7", f"p{n}@example.com", 10) == 302


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2a00:1450:4001:81b::1", "2a00:1450:4001:81b:ffff::2", True),
        ("2a00:1450:4001:81b::1", "2a00:1450:4001:81c::1", False),
        ("8.8.8.8", "8.8.8.9", False),
    ],
)
def test_a_client_is_a_subscriber(one: str, other: str, same: bool) -> None:
    first, second = (client_mark(RequestFactory(REMOTE_ADDR=a).get("/")) for a in (one, other))
    assert first
    assert "8.8" not in first
    assert (first == second) is same
