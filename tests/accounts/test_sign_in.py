from collections.abc import Callable

import pytest
from allauth.mfa.adapter import get_adapter
from django.test import Client
from django.urls import reverse

from accounts import sealed
from accounts.models import User

pytestmark = pytest.mark.django_db
MISMATCH = "email address and/or password you specified are not correct"


def attempt(client: Client, email: str, password: str, **more: str) -> tuple[int, str]:
    response = client.post(reverse("account_login"), {"login": email, "password": password, **more})
    return response.status_code, response.content.decode()


def test_acc_2_an_address_signs_in_in_any_case(client: Client, ada: User, password: str) -> None:
    assert attempt(client, " ADA@example.COM ", password)[0] == 302
    assert client.session["_auth_user_id"] == str(ada.pk)


def test_acc_4_unknown_address_wrong_password_and_closed_account_read_alike(
    client: Client, ada: User, password: str
) -> None:
    closed = User.objects.create_user("closed@example.com", password, first_name="C", last_name="D", is_active=False)
    for email, tried in [(ada.email, "wrong" * 4), ("nobody@example.com", password), (closed.email, password)]:
        status, page = attempt(client, email, tried)
        assert status == 200
        assert MISMATCH in page


@pytest.mark.parametrize("email", ["ada@example.com", "nobody@example.com"])
def test_a8_a_password_that_is_too_long_is_refused_before_hashing(
    client: Client, ada: User, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hashing(*_: object) -> None:
        raise AssertionError("it was hashed")

    monkeypatch.setattr("django.contrib.auth.base_user.make_password", hashing)
    monkeypatch.setattr("django.contrib.auth.base_user.check_password", hashing)
    status, page = attempt(client, email, "x" * 1_000_000)
    assert status == 200
    assert "at most 128" in page


def test_a8_both_spellings_of_a_letter_are_one_password(client: Client, ada: User) -> None:
    ada.set_password("caf\N{LATIN SMALL LETTER E WITH ACUTE} in the morning")
    ada.save(update_fields=["password"])
    assert attempt(client, ada.email, "cafe\N{COMBINING ACUTE ACCENT} in the morning")[0] == 302


def test_a8_spaces_around_a_password_count(client: Client, ada: User, password: str) -> None:
    assert attempt(client, ada.email, f" {password} ")[0] == 200


def test_a6_a_planted_session_id_dies_at_sign_in(
    client: Client, ada: User, password: str, dead: Callable[[str | None], bool]
) -> None:
    session = client.session
    session["planted"] = True
    session.save()
    planted = str(session.session_key)
    client.cookies["sessionid"] = planted
    attempt(client, ada.email, password)
    assert client.session.session_key != planted
    assert dead(planted) and not dead(client.session.session_key)


def test_ord_1_the_way_back_to_the_checkout_survives_sign_in(client: Client, ada: User, password: str) -> None:
    checkout = "/order/new/?offer=b200-sxm&term=7&lots=2&environment=pytorch"
    page = client.get(reverse("account_login"), {"next": checkout}).content.decode()
    assert "offer=b200-sxm&amp;term=7" in page
    response = client.post(reverse("account_login"), {"login": ada.email, "password": password, "next": checkout})
    assert response["Location"] == checkout


def test_acc_4_guessing_is_throttled_per_account_whoever_asks(ada: User, password: str) -> None:
    for guess in range(10):
        attempt(Client(REMOTE_ADDR=f"192.0.2.{guess}"), ada.email, "wrong" * 4)
    status, page = attempt(Client(REMOTE_ADDR="192.0.2.99"), ada.email, password)
    assert status == 200
    assert "Too many failed" in page


def test_acc_4_a_stranger_cannot_lock_out_a_browser_that_signed_in_before(ada: User, password: str) -> None:
    known = Client(REMOTE_ADDR="198.51.100.7")
    attempt(known, ada.email, password)
    known.post(reverse("account_logout"))
    for guess in range(11):
        attempt(Client(REMOTE_ADDR=f"192.0.2.{guess}"), ada.email, "wrong" * 4)
    assert attempt(known, ada.email, password)[0] == 302


def test_acc_4_nor_can_a_stranger_at_the_same_network_address(ada: User, password: str) -> None:
    """Behind one router, or one exit of Tor."""
    known = Client()
    attempt(known, ada.email, password)
    known.post(reverse("account_logout"))
    for _ in range(31):
        attempt(Client(), ada.email, "wrong" * 4)
    assert attempt(Client(), ada.email, password)[0] == 429
    assert attempt(known, ada.email, password)[0] == 302


def test_acc_4_a_known_browser_does_not_guess_without_end(ada: User, password: str) -> None:
    known = Client()
    attempt(known, ada.email, password)
    known.post(reverse("account_logout"))
    for _ in range(10):
        attempt(known, ada.email, "wrong" * 4)
    assert "Too many failed" in attempt(known, ada.email, password)[1]


def test_acc_4_a_known_browser_of_one_person_is_not_known_for_another(ada: User, password: str) -> None:
    User.objects.create_user("eve@example.com", password, first_name="Eve", last_name="M")
    for guess in range(11):
        attacker = Client(REMOTE_ADDR=f"192.0.2.{guess}")
        attempt(attacker, "eve@example.com", password)
        attacker.post(reverse("account_logout"))
        _status, page = attempt(attacker, ada.email, "wrong" * 4)
    assert "Too many failed" in page


def test_acc_5_signing_out_ends_this_session_only(ada: User, password: str) -> None:
    here, there = Client(), Client()
    attempt(here, ada.email, password)
    attempt(there, ada.email, password)
    here.post(reverse("account_logout"))
    assert "_auth_user_id" not in here.session
    assert there.session["_auth_user_id"] == str(ada.pk)


def test_acc_5_all_other_sessions_can_be_ended(ada: User, password: str) -> None:
    here, there = Client(), Client()
    attempt(here, ada.email, password)
    attempt(there, ada.email, password)
    here.post(reverse("usersessions_list"))
    assert "_auth_user_id" not in there.session
    assert here.session["_auth_user_id"] == str(ada.pk)


def test_changing_the_password_ends_other_sessions(ada: User, password: str) -> None:
    here, there = Client(), Client()
    attempt(here, ada.email, password)
    attempt(there, ada.email, password)
    new = "another long passphrase"
    change = {"oldpassword": password, "password1": new, "password2": new}
    assert here.post(reverse("account_change_password"), change).status_code == 302
    page = reverse("account_change_password")
    assert here.get(page).status_code == 200
    assert there.get(page).status_code == 302


def test_a_second_factor_is_encrypted_at_rest(client: Client, ada: User, password: str) -> None:
    stored = get_adapter().encrypt("JBSWY3DPEHPK3PXP")
    assert "JBSWY3DPEHPK3PXP" not in stored
    assert sealed.decrypt(stored) == "JBSWY3DPEHPK3PXP"


def test_enrolling_a_second_factor_asks_for_the_password_first(client: Client, ada: User, password: str) -> None:
    attempt(client, ada.email, password)
    response = client.get(reverse("mfa_activate_totp"))
    assert response["Location"].startswith(reverse("account_reauthenticate"))
    client.post(reverse("account_reauthenticate"), {"password": password})
    assert client.get(reverse("mfa_activate_totp")).status_code == 200


def test_the_admin_has_no_sign_in_of_its_own(client: Client, ada: User) -> None:
    response = client.get("/admin/", follow=True)
    assert response.redirect_chain[-1][0].startswith(reverse("account_login"))
