from io import StringIO

import pytest
from allauth.usersessions.models import UserSession
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from accounts.actions.people import ensure_owner, reset_password
from accounts.models import User

pytestmark = pytest.mark.django_db


def test_an_address_is_stored_and_found_in_one_spelling() -> None:
    user = User.objects.create_user(" Zoë@BÜCHER.example ", "x" * 20, first_name="Z", last_name="B")
    assert user.email == "zoë@bücher.example"
    assert User.objects.get_by_natural_key("ZOË@bücher.example") == user
    assert User.objects.get(email="zoe\N{COMBINING DIAERESIS}@BÜCHER.example") == user


def test_the_database_itself_refuses_a_second_spelling(ada: User) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create_user("Ada@Example.com", "x" * 20, first_name="A", last_name="B")


def test_names_are_required(ada: User) -> None:
    ada.first_name = ""
    with pytest.raises(ValidationError):
        ada.full_clean()


def test_the_owner_is_made_once_and_the_password_told_once() -> None:
    password = ensure_owner("Owner@Example.com")
    owner = User.objects.get(email="owner@example.com")
    assert password
    assert len(password) >= 20
    assert owner.is_superuser
    assert owner.is_staff
    assert owner.check_password(password)
    assert ensure_owner("owner@example.com") is None
    assert User.objects.get(pk=owner.pk).password == owner.password


def test_ensuring_an_owner_never_raises_a_customer_to_one(ada: User) -> None:
    assert ensure_owner(ada.email) is None
    ada.refresh_from_db()
    assert not ada.is_superuser


def test_acc_11_a_command_gives_the_owner_a_new_password_and_ends_the_sessions(client: Client) -> None:
    old = ensure_owner("owner@example.com")
    client.post(reverse("account_login"), {"login": "owner@example.com", "password": old})
    client.get(reverse("usersessions_list"))
    out = StringIO()
    call_command("resetowner", stdout=out)
    new = out.getvalue().split()[-1]
    owner = User.objects.get()
    assert owner.check_password(new)
    assert not owner.check_password(str(old))
    assert not UserSession.objects.exists()
    assert "_auth_user_id" not in client.session


def test_the_command_asks_which_of_several_owners() -> None:
    with pytest.raises(CommandError):
        call_command("resetowner")
    ensure_owner("one@example.com")
    ensure_owner("two@example.com")
    with pytest.raises(CommandError):
        call_command("resetowner")
    call_command("resetowner", email="two@example.com", stdout=StringIO())


def test_resetting_an_unknown_address_says_so() -> None:
    with pytest.raises(User.DoesNotExist):
        reset_password("nobody@example.com")


def test_acc_3_nobody_makes_a_person_or_chooses_a_password_in_the_admin(admin_client: Client, ada: User) -> None:
    """People register themselves; an owner then gives them a role."""
    assert admin_client.get(reverse("admin:accounts_user_changelist"), {"q": "ada"}).status_code == 200
    assert admin_client.get(reverse("admin:accounts_user_change", args=[ada.pk])).status_code == 200
    passwords = {"password1": "chosen by an owner 1", "password2": "chosen by an owner 1"}
    assert admin_client.post(reverse("admin:accounts_user_add"), passwords).status_code == 403
    page = reverse("admin:auth_user_password_change", args=[ada.pk])
    assert admin_client.post(page, passwords | {"usable_password": "true"}).status_code == 403
    assert (
        admin_client.post(reverse("admin:accounts_user_change", args=[ada.pk]), {"email": "x@y.z"}).status_code == 403
    )
    before = ada.password
    ada.refresh_from_db()
    assert (ada.password, ada.email) == (before, "ada@example.com")
