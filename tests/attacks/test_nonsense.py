"""Whatever is sent, the answer is an answer: never a fault of ours (500)."""

import uuid
from urllib.parse import quote

import pytest
from attackers import Browse
from story import PASSWORD, Network, ask, save_order

from accounts.models import User
from catalog.models import Offer
from conversations.models import Message
from orders.models import Order

pytestmark = pytest.mark.django_db

LONG_EMAIL = "a" * 250 + "@example.com"  # 262: within Django's 320, beyond the column's 254
GROWING_EMAIL = "\u0130" * 60 + "@" + ".".join(["b" * 60] * 3) + ".example"  # each letter is two in lower case
NONSENSE = ["a\x00b", "9" * 5000, "9" * 60, LONG_EMAIL, GROWING_EMAIL]


def checkout(offer: Offer, **other: str) -> dict[str, str]:
    return {
        "offer": offer.slug,
        "term": "7",
        "lots": "1",
        "environment": "other",
        "environment_other": "A container",
        "first_name": "Ada",
        "last_name": "Lovelace",
        "email": "ada@example.com",
        "form_key": str(uuid.uuid4()),
        "expected_total_cents": "10000",
    } | other


@pytest.mark.parametrize("text", NONSENSE)
def test_nonsense_in_any_field(network: Network, offer: Offer, customer: User, browse: Browse, text: str) -> None:
    order = save_order(customer, offer)
    intent = ask(order)
    pages: dict[str, dict[str, str]] = {
        "/order/new/": checkout(offer),
        "/gpus/": {"vendor": "NVIDIA", "memory": "80", "term": "7", "sort": "price", "available": "on"},
        f"/gpus/{offer.slug}/": {"term": "7", "lots": "1", "environment": "x", "environment_other": "y"},
        f"/gpus/{offer.slug}/figures/": {"term": "7", "lots": "1"},
        "/orders/": {"page": "1"},
        "/journal/": {"page": "1"},
        "/journal/new/": {"order": "1", "question": "Why", "hypothesis": "Because", "seeds": "1"},
        f"/orders/{order.number}/pay/": {"method": "eth", "form_key": str(uuid.uuid4())},
        f"/orders/{order.number}/messages/": {
            "form_key": str(uuid.uuid4()), "about": "", "instructions": str(intent.pk), "intent": str(intent.pk),
            "body": "Where?", "gpu": "x", "error": "x", "anyway": "x", "page": "1",
        },
        f"/orders/{order.number}/messages/read/": {"read_up_to": "1"},
        f"/orders/{order.number}/messages/date/": {"topic": "start"},
        "/demo/wallet/": {"intent": "1", "method": "eth", "address": intent.address.address, "amount": "1"},
        "/i18n/setlang/": {"language": "ru", "next": "/"},
        "/accounts/login/": {"login": customer.email, "password": PASSWORD, "next": "/"},
        "/accounts/signup/": {
            "first_name": "A", "last_name": "B", "email": "b@example.com", "password1": "a battery staple", "next": "/",
        },
    }  # fmt: skip
    faults = []
    for page, fields in pages.items():
        client = browse(None if "account" in page else customer)
        for name in fields:
            for verb in (client.get, client.post):
                answer = verb(page, fields | {name: text})
                if answer.status_code >= 500:
                    faults.append(f"{page} {name}: {answer.status_code}")
    assert not faults


def test_ten_megabytes_are_refused_as_a_message(offer: Offer, customer: User, browse: Browse) -> None:
    order = save_order(customer, offer)
    sent = {"form_key": str(uuid.uuid4()), "body": "x" * 10_000_000}
    assert browse(customer).post(f"/orders/{order.number}/messages/", sent).status_code in (400, 413)
    assert not Message.objects.exists()


def test_nonsense_in_addresses(network: Network, customer: User, browse: Browse) -> None:
    texts = ["\x00", "9" * 3000, "\U0001f600", "..", "%"]
    prefixes = ["gpus", "orders", "journal", "pay", "admin", "accounts"]
    for text in texts:
        for prefix in prefixes:
            assert browse(customer).get(f"/{prefix}/{quote(text, safe='')}/").status_code < 500


def test_names_and_wishes_are_kept_clean(offer: Offer, customer: User, browse: Browse) -> None:
    """A wish loses what nobody types; a name with control characters or a turned direction is refused."""
    client = browse(customer)
    assert client.post("/order/new/", checkout(offer, first_name="Ada\u202e")).status_code == 409
    assert client.post("/order/new/", checkout(offer, environment_other="a\x00b\x07\nc")).status_code == 302
    assert Order.objects.get().environment_wish == "ab\nc"
