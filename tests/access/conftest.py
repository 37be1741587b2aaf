"""A shop in which one customer has one of everything, and a browser for each kind of person."""

import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings
from story import Network, ask, give, make_customer, make_offer, save_order

from accounts.actions import lost, tokens
from accounts.actions.guests import holder_of
from accounts.actions.roles import set_role
from accounts.models import User
from balance.models import Account, Movement
from catalog.models import Pause
from conversations import actions as conversations
from journal.actions import create_card
from orders.choice import Choice
from orders.drafts import keep
from orders.models import Draft
from payments.actions import inquiries
from payments.actions.adjusting import give_goodwill
from payments.actions.by_hand import settle_by_hand
from payments.actions.payouts import request_payout
from payments.actions.topups import make_topup
from payments.models import ChainTransfer, Checkup, RateSourceHealth, Reconciliation, ReviewItem
from provisioning.models import Rental
from support.actions import look_up

WHO = ("nobody", "own", "other", "support", "operator", "owner")
Browsers = Callable[[str], Client]


@pytest.fixture
def customer(db: None) -> User:
    made: User = make_customer("own@example.com")
    return made


@pytest.fixture
def world(network: Network, customer: User) -> dict[str, Any]:
    """Return what stands in the addresses of pages: things of one customer, by the name of the argument."""
    offer = make_offer()
    paid, unpaid = save_order(customer, offer), save_order(customer, offer)
    network.pay(ask(paid))
    network.settle()
    intent = ask(unpaid)
    keep(holder_of(customer), Choice(offer.slug, 7, 1), offer)
    card = create_card(holder=holder_of(customer), facts={"question": "Why"})
    token, _secret = tokens.create_token(customer, name="script", scopes=[])
    session = UserSession.objects.create(user=customer, ip="192.0.2.1", session_key="x" * 32, user_agent="Firefox")
    passkey = Authenticator.objects.create(user=make_customer("key@example.com"), type="webauthn", data={"name": "key"})
    lost.open_recovery(make_customer("lost@example.com"), proof="x", actor=None)
    Account.objects.get_or_create(customer=customer)
    Pause.objects.create(subject=Pause.ORDERS)
    RateSourceHealth.objects.create(source="kraken")
    Checkup.objects.create(waits=False, done_at=timezone.now())
    Reconciliation.objects.create(network="ethereum", agrees=True)
    topup = make_topup(customer, 10_000, form_key=uuid.uuid4())
    inquiry = inquiries.ask("0" * 64, intent=intent, actor=customer)
    review = ReviewItem.objects.create(reason="other_asset", subject="x:1")
    conversations.send(paid, kind="question", body="When?", form_key=uuid.uuid4(), actor=customer)
    wired = save_order(customer, offer, lots=6)
    hand = settle_by_hand(wired.pk, reason="wire", evidence="statement", actor=make_customer("wire@example.com"))
    give(customer, 10_000)
    payout = request_payout(customer, "eth", 5_000, "0x" + "ab" * 20, shown_amount=1, form_key=uuid.uuid4())
    seen = look_up(paid.number, admitted=True, actor=make_customer("support@example.com"))
    staff = make_customer("staff@example.com")
    large = give_goodwill(customer.pk, 100_000, reason="a long wait", form_key=uuid.uuid4(), actor=staff)
    return {
        "lookup_id": seen.pk,
        "adjustment_id": large.pk,
        "customer_id": customer.pk,
        "movement_id": Movement.objects.get(kind="transfer").pk,
        "slug": offer.slug,
        "number": paid.number,
        "unpaid_number": unpaid.number,
        "intent_id": intent.pk,
        "topup_number": topup.number,
        "payout_number": payout.number,
        "payout_id": payout.pk,
        "transfer_id": ChainTransfer.objects.get().pk,
        "inquiry_id": inquiry.pk,
        "order_id": unpaid.pk,
        "item_id": review.pk,
        "settlement_id": hand.pk,
        "draft_id": Draft.objects.get().pk,
        "card_id": card.pk,
        "token_id": token.pk,
        "session_id": session.pk,
        "pk": passkey.pk,
        "rental_id": Rental.objects.get().pk,
        "id": customer.pk,
        "content_type_id": "1",
        "object_id": "999999",
        "app_label": "orders",
        "url": "x",
    }


@pytest.fixture
def browser_of(customer: User, settings: Settings) -> Browsers:
    """Return a way to open a browser of one of WHO; staff have shown their second factor in it."""
    settings.STAFF_SECOND_FACTOR = True

    def start(who: str, *, factor: bool = True) -> Client:
        client = Client(raise_request_exception=False)
        if who == "nobody":
            return client
        user = customer if who == "own" else User.objects.filter(email=f"{who}@example.com").first()
        user = user or make_customer(f"{who}@example.com")
        if who in ("support", "operator", "owner"):
            set_role(user, who, actor=None)
            user.refresh_from_db()
        client.force_login(user)
        if factor:
            show_factor(client, user)
        return client

    return start


def show_factor(client: Client, user: User) -> None:
    """Note in the session, as allauth does, that a second factor was shown at sign-in."""
    session = client.session
    session["account_authentication_methods"] = [{"method": "mfa", "at": time.time(), "type": "totp"}]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()
