"""Download of everything, and closing the account (ACC-7)."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from story import Network, ask, books_are_right, give, make_offer, save_order

from accounts.actions import codes, tokens
from accounts.actions.guests import holder_of
from accounts.models import ApiToken, Holder, User
from balance.models import Movement
from config.export import SECTIONS
from events.relay import drain
from journal.actions import create_card
from journal.models import Card
from orders.actions import cancel_order
from orders.errors import AccountClosed
from orders.forgetting import forget_contacts
from orders.models import Order
from provisioning import actions as rentals
from provisioning.access import Access
from provisioning.models import Rental

pytestmark = pytest.mark.django_db
Enter = Callable[..., Client]


def close(client: Client) -> Any:
    return client.post(reverse("account_close"))


def test_the_download_has_everything_of_theirs_and_no_secret(ada: User, network: Network, enter: Enter) -> None:
    order = save_order(ada, make_offer())
    intent = ask(order)
    txid = network.pay(intent)
    network.settle()
    create_card(holder=holder_of(ada), facts={"question": "Does it fit?"})
    shown = codes.new_set(ada, actor=ada)
    _token, secret = tokens.create_token(ada, name="script", scopes=["account:read"])
    client = enter(ada)
    TOTP.activate(ada, "JBSWY3DPEHPK3PXP")
    answer = client.get(reverse("account_export"))
    assert "attachment" in answer.headers["Content-Disposition"]
    text, data = answer.content.decode(), json.loads(answer.content)
    assert data["orders"][0]["symbols"] == order.symbols
    assert data["transfers"][0]["txid"] == txid
    assert data["payment_instructions"][0]["amount"] == str(intent.amount)
    assert {row["kind"] for row in data["balance"]} and data["rentals"][0]["order_id"] == order.pk
    assert data["journal_cards"][0]["question"] == "Does it fit?"
    assert data["sessions"] and len(data["recovery_codes"]) == len(shown)
    assert {row["kind"] for row in data["history"]} >= {"token.created", "recovery_codes.made"}
    ada.refresh_from_db()
    secrets = [ada.password, secret, *shown, str(client.session.session_key), "digest", '"seed"', "JBSWY3DP"]
    assert not [word for word in secrets if word in text]


def test_the_download_has_nothing_of_others(ada: User, network: Network, enter: Enter, password: str) -> None:
    eve = User.objects.create_user("eve@example.com", password, first_name="Eve", last_name="Moriarty")
    network.pay(ask(save_order(eve, make_offer())))
    network.settle()
    create_card(holder=holder_of(eve), facts={"question": "Mine"})
    data = json.loads(enter(ada).get(reverse("account_export")).content)
    filled = {name for name, _rows, _columns in SECTIONS if data[name]}
    assert filled == {"account", "sessions"}


def test_a_closed_account_keeps_the_books_and_no_person(ada: User, network: Network, enter: Enter) -> None:
    offer = make_offer()
    order = save_order(ada, offer)
    network.pay(ask(order))
    network.settle()
    rental = Rental.objects.get()
    for step in ("preparing", "ready"):
        rentals.move(rental.pk, step, actor=ada)
    rentals.hand_over(rental.pk, Access(ssh_host="gpu-17.example.net"), actor=ada)
    rentals.end(rental.pk, actor=ada)
    rentals.confirm_wipe(rental.pk, actor=ada)
    create_card(holder=holder_of(ada), facts={"question": "Does it fit?"})
    tokens.create_token(ada, name="script", scopes=[])
    there, here = enter(ada), enter(ada, sure=True)
    assert close(here)["Location"] == reverse("home")
    drain()
    assert not EmailAddress.objects.exists()  # allauth's own table of addresses is never filled
    ada.refresh_from_db()
    assert (ada.email, ada.first_name, ada.is_active) == (f"closed-{ada.pk}@account.invalid", "", False)
    assert not ada.has_usable_password() and not ApiToken.objects.exists()
    assert there.get(reverse("account")).status_code == here.get(reverse("account")).status_code == 302
    assert not Card.objects.exists() and not Holder.objects.exists()
    assert Rental.objects.values_list("access", flat=True).get() == ""
    order.refresh_from_db()
    assert order.email == "ada@example.com" and order.state == "settled" and Movement.objects.exists()
    books_are_right()
    forget_contacts()
    order.refresh_from_db()
    assert order.email == "ada@example.com"
    with time_machine.travel(timezone.now() + timedelta(days=settings.CONTACT_RETENTION_DAYS, hours=1)):
        assert forget_contacts() == 1
    order.refresh_from_db()
    assert (order.email, order.first_name, order.last_name) == ("", "", "")
    assert order.total_cents == 10_000
    books_are_right()


def test_the_address_of_a_closed_account_is_free_again(ada: User, enter: Enter, person: dict[str, Any]) -> None:
    close(enter(ada, sure=True))
    Client().post(reverse("account_signup"), person | {"email": "ada@example.com"})
    assert User.objects.get(email="ada@example.com").pk != ada.pk


def test_closing_asks_for_the_password_again(ada: User, enter: Enter) -> None:
    assert close(enter(ada))["Location"].startswith(reverse("account_reauthenticate"))
    assert User.objects.get(pk=ada.pk).is_active


def test_it_is_refused_kindly_while_money_is_there(ada: User, enter: Enter) -> None:
    give(ada, 500)
    page = close(enter(ada, sure=True)).content.decode()
    assert "There is money in the balance" in page and "so that nothing of yours is lost" in page
    assert User.objects.get(pk=ada.pk).is_active


def test_it_is_refused_while_an_order_is_open_and_not_after_cancelling(ada: User, enter: Enter) -> None:
    order = save_order(ada, make_offer())
    client = enter(ada, sure=True)
    assert "An order is open" in close(client).content.decode()
    cancel_order(order.pk, actor=ada)
    assert close(client).status_code == 302


def test_it_is_refused_while_money_is_on_its_way_and_while_a_rental_runs(
    ada: User, network: Network, enter: Enter
) -> None:
    order = save_order(ada, make_offer())
    network.pay(ask(order))
    network.mine()
    client = enter(ada, sure=True)
    assert "A payment is on its way" in close(client).content.decode()
    network.settle()
    assert "A rental has not ended" in close(client).content.decode()
    assert User.objects.get(pk=ada.pk).is_active


def test_staff_do_not_close_their_account(admin_client: Client, admin_user: User, enter: Enter) -> None:
    User.objects.filter(pk=admin_user.pk).update(email="boss@example.com")
    admin_user.refresh_from_db()
    admin_user.set_password("correct horse battery staple")
    admin_user.save(update_fields=["password"])
    page = close(enter(admin_user, sure=True)).content.decode()
    assert "This account works for the site" in page


def test_an_order_that_is_being_saved_while_the_account_closes_is_refused(ada: User, enter: Enter) -> None:
    offer = make_offer()
    close(enter(ada, sure=True))
    with pytest.raises(AccountClosed):
        save_order(ada, offer)
    assert not Order.objects.exists()
