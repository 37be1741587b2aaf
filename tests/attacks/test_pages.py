"""Pages that must not be kept, framed, shown to others, or shown at all."""

import uuid

import pytest
from attackers import Browse
from django.urls import reverse
from pytest_django.fixtures import Settings
from story import Network, ask, give, make_customer, save_order

from accounts.actions.guests import holder_of
from accounts.models import User
from catalog.models import Offer
from journal.actions import create_card
from payments.actions import inquiries
from payments.actions.payouts import request_payout
from provisioning.models import Rental

pytestmark = pytest.mark.django_db


@pytest.fixture
def pages(network: Network, customer: User, offer: Offer) -> list[str]:
    """Return the pages of a customer that nobody else may see."""
    order = save_order(customer, offer)
    intent = ask(order)
    network.pay(intent)
    network.settle()
    assert Rental.objects.get().order == order
    inquiry = inquiries.ask("0" * 64, intent=intent, actor=customer)
    give(customer, 10_000)
    payout = request_payout(customer, "eth", 5_000, "0x" + "ab" * 20, shown_amount=1, form_key=uuid.uuid4())
    card = create_card(holder=holder_of(customer), facts={"question": "Why"})
    return [
        *(reverse(f"orders:{name}", args=[order.number]) for name in ("detail", "status", "cancel")),
        *(reverse(f"payments:{name}", args=[order.number]) for name in ("choose", "balance")),
        *(reverse(f"payments:{name}", args=[intent.pk]) for name in ("intent", "status", "declare", "cancel")),
        *(reverse(f"payments:{name}", args=[inquiry.pk]) for name in ("inquiry", "inquiry_status", "inquiry_claim")),
        *(reverse(f"conversations:{name}", args=[order.number]) for name in ("messages", "thread", "recent")),
        *(reverse(f"conversations:{name}", args=[order.number]) for name in ("read", "ask_date")),
        *(reverse(f"payments:{name}", args=[payout.number]) for name in ("payout", "payout_status", "cancel_payout")),
        reverse("provisioning:access", args=[order.number]),
        *(reverse(f"journal:{name}", args=[card.pk]) for name in ("card", "edit")),
    ]


def test_nothing_of_a_person_is_kept_in_a_cache(pages: list[str], customer: User, browse: Browse) -> None:
    client = browse(customer)
    own = [
        "/orders/",
        "/balance/",
        "/journal/",
        "/demo/wallet/",
        "/sent/",
        "/accounts/2fa/",
        "/accounts/sessions/",
        "/",
    ]
    for page in [*pages, *own]:
        answer = client.get(page)
        assert "no-store" in answer.headers["Cache-Control"] and "private" in answer.headers["Cache-Control"], page


@pytest.mark.parametrize("verb", ["get", "post"])
def test_other_people_find_nothing(pages: list[str], browse: Browse, verb: str) -> None:
    """In no page, whatever is sent: the same 404 as for what does not exist."""
    other = browse(make_customer("eve@example.com"))
    for page in pages:
        answer = getattr(other, verb)(page, {"method": "eth", "form_key": str(uuid.uuid4()), "question": "Mine now"})
        assert answer.status_code in (404, 405), page
        assert getattr(browse(None), verb)(page).status_code in (302, 405), page


def test_writing_needs_a_post_with_the_token(pages: list[str], customer: User, browse: Browse) -> None:
    client = browse(customer)
    client.handler.enforce_csrf_checks = True
    for page in pages:
        assert client.post(page, {"question": "From elsewhere"}).status_code in (403, 405), page
    assert client.get(pages[2]).status_code == 405  # cancelling an order


@pytest.mark.parametrize("page", ["/", "/admin/login/", "/nowhere/", "/accounts/login/", "/gpus/", "/healthz"])
def test_every_answer_is_guarded(page: str, browse: Browse) -> None:
    headers = browse(None).get(page, follow=True).headers
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"] and headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_where_money_is_real(settings: Settings, customer: User, browse: Browse) -> None:
    """There is no wallet of demo money, and no page of components with an address that nobody owns."""
    settings.NETWORKS_KIND = "real"
    for verb in ("get", "post"):
        assert getattr(browse(customer), verb)("/demo/wallet/", {"action": "mine"}).status_code == 404
    assert browse(customer).get("/components/").status_code == 404
