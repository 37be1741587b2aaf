from typing import Any

import pytest
from django.core import mail
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from accounts.models import User
from accounts.validators import OwnDataValidator

pytestmark = pytest.mark.django_db


def test_acc_1_asks_for_two_names_an_address_and_a_password_and_nothing_else(client: Client) -> None:
    page = client.get(reverse("account_signup")).content.decode()
    assert all(f'name="{field}"' in page for field in ("first_name", "last_name", "email", "password1"))
    assert 'name="username"' not in page
    assert 'name="password2"' not in page
    assert 'autocomplete="new-password"' in page
    assert 'autocomplete="given-name"' in page
    assert "maxlength" not in page.split('name="password1"')[1].split(">")[0]  # a paste would be cut silently


def test_acc_1_registration_signs_in_and_sends_no_mail(
    client: Client, person: dict[str, Any], settings: Settings
) -> None:
    settings.PASSWORD_HASHERS = ["accounts.hashers.Argon2"]
    response = client.post(reverse("account_signup"), person)
    assert response.status_code == 200
    user = User.objects.get(email="grace@example.com")
    assert (user.first_name, user.last_name) == ("Grace", "Hopper")
    assert user.password.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
    assert client.session["_auth_user_id"] == str(user.pk)
    assert mail.outbox == []


@pytest.mark.parametrize("text", ["\N{GRINNING FACE}" * 15, " " + "q w e r t y u i" + " ", "ж" * 15, "x" * 128])
def test_acc_1_any_unicode_of_15_to_128_code_points_is_taken(client: Client, person: dict[str, Any], text: str) -> None:
    client.post(reverse("account_signup"), person | {"password1": text})
    assert User.objects.get(email="grace@example.com").check_password(text)


@pytest.mark.parametrize("text", ["x" * 14, "x" * 129, "e\N{COMBINING ACUTE ACCENT}" * 14, "with a \0 inside it, long"])
def test_a8_other_lengths_and_nul_are_refused(client: Client, person: dict[str, Any], text: str) -> None:
    response = client.post(reverse("account_signup"), person | {"password1": text})
    assert response.status_code == 200
    assert not User.objects.exists()


@pytest.mark.parametrize("text", ["grace@example.com", "GraceHopperGraceHopper", "hopper-grace-1906-12-09!"])
def test_acc_1_a_password_of_own_data_is_refused(text: str) -> None:
    grace = User(first_name="Grace", last_name="Hopper", email="grace@example.com")
    with pytest.raises(ValidationError):
        OwnDataValidator().validate(text, grace)
    OwnDataValidator().validate("grace under pressure and wind", grace)


def test_acc_1_a_common_password_is_refused(client: Client, person: dict[str, Any]) -> None:
    response = client.post(reverse("account_signup"), person | {"password1": "1q2w3e4r5t6y7u8i9o0p"})
    assert [error.code for error in response.context["form"].errors["password1"].as_data()] == ["password_too_common"]
    assert not User.objects.exists()


def test_a_name_holds_no_control_or_direction_characters(client: Client, person: dict[str, Any]) -> None:
    response = client.post(reverse("account_signup"), person | {"first_name": "Grace\u202egnp.exe"})
    assert response.status_code == 200
    assert not User.objects.exists()


def test_acc_3_a_second_registration_changes_nothing_of_the_first(
    client: Client, ada: User, person: dict[str, Any]
) -> None:
    before = User.objects.values().get(pk=ada.pk)
    response = client.post(reverse("account_signup"), person | {"email": "ADA@Example.com"})
    assert response.status_code == 200
    assert "cannot be created with these data" in response.content.decode()
    assert "_auth_user_id" not in client.session
    assert User.objects.values().get() == before


def test_acc_4_a_taken_address_is_refused_like_any_other_data(
    client: Client, ada: User, person: dict[str, Any]
) -> None:
    taken = client.post(reverse("account_signup"), person | {"email": ada.email})
    wrong = client.post(reverse("account_signup"), person | {"password1": "short"})
    fine = Client().post(reverse("account_signup"), person)
    assert taken.status_code == wrong.status_code == fine.status_code == 200
    assert not taken.context["form"].errors.get("email")


def test_acc_4_the_password_is_hashed_before_the_address_is_looked_at(
    client: Client, ada: User, person: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed = []
    original = User.set_password

    def note(user: User, raw: str) -> None:
        hashed.append(raw)
        original(user, raw)

    monkeypatch.setattr(User, "set_password", note)
    client.post(reverse("account_signup"), person | {"email": ada.email})
    assert hashed == [person["password1"]]


def test_ord_1_the_way_back_to_the_checkout_survives_registration(client: Client, person: dict[str, Any]) -> None:
    checkout = "/order/new/?offer=b200-sxm&term=7&lots=2&environment=pytorch"
    page = client.get(reverse("account_signup"), {"next": checkout}).content.decode()
    assert "offer=b200-sxm&amp;term=7" in page
    response = client.post(reverse("account_signup"), person | {"next": checkout})
    assert response.context["onward"] == checkout


def test_a_foreign_way_back_is_not_followed(client: Client, person: dict[str, Any]) -> None:
    response = client.post(reverse("account_signup"), person | {"next": "https://evil.example/"})
    assert response.context["onward"] == reverse("orders:list")


def test_acc_4_registration_is_throttled(client: Client, person: dict[str, Any]) -> None:
    answers = [client.post(reverse("account_signup"), person | {"password1": "x"}).status_code for _ in range(11)]
    assert answers == [200] * 10 + [429]


@pytest.mark.parametrize("path", ["password/reset/", "email/", "confirm-email/", "password/set/", "signup/passkey/"])
def test_acc_3_no_page_resets_by_email(client: Client, path: str) -> None:
    assert client.get(f"/accounts/{path}").status_code == 404
