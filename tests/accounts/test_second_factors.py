"""Second factors: what they add, what they change, and that staff pages open with one only (ACC-8)."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import translation
from pytest_django.fixtures import Settings

from accounts.actions.roles import set_role
from accounts.checks import check_staff_gate
from accounts.forms import RenamePasskeyForm
from accounts.models import User
from events.models import Event

pytestmark = pytest.mark.django_db
Enter = Callable[..., Client]


def code_of(secret: str) -> str:
    return str(totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // 30)))


def with_app(user: User) -> str:
    """Set up an authenticator app and return its secret."""
    secret = str(totp.generate_totp_secret())
    totp.TOTP.activate(user, secret)
    return secret


def set_up(client: Client) -> str:
    """Set up an app as a person does; return the secret."""
    secret: str = client.get(reverse("mfa_activate_totp")).context["form"].secret
    client.post(reverse("mfa_activate_totp"), {"code": code_of(secret)})
    return secret


def test_sign_in_with_a_code_works_as_hard_for_a_wrong_password_as_for_a_wrong_code(ada: User, password: str) -> None:
    """Guesses are not counted per account there: what takes longer would tell who has guessed the password."""
    with_app(ada)
    wrong, asked = "wrong horse battery staple", []
    for place, typed in enumerate([password, *[wrong] * 12]):  # however many were wrong before
        client = Client(REMOTE_ADDR=f"192.0.2.{place}")
        with CaptureQueriesContext(connection) as queries:
            client.post(reverse("account_login_with_code"), {"login": ada.email, "password": typed, "code": "000000"})
        asked.append(sum("mfa_authenticator" in query["sql"] for query in queries))
    assert asked == [1] * 13


def test_setting_up_an_app_ends_the_other_sessions_and_gives_this_one_a_new_id(
    ada: User, enter: Enter, dead: Callable[[str | None], bool]
) -> None:
    here, there = enter(ada, sure=True), enter(ada)
    before = here.session.session_key
    set_up(here)
    assert Authenticator.objects.filter(user=ada, type="totp").exists()
    assert here.session.session_key != before
    assert dead(before)
    assert here.get(reverse("account")).status_code == 200
    assert there.get(reverse("account")).status_code == 302
    sessions = here.get(reverse("usersessions_list")).context["sessions"]
    assert [session.session_key for session in sessions] == [here.session.session_key]


def test_sign_in_then_asks_for_the_code_and_each_code_works_once(ada: User, enter: Enter) -> None:
    secret = with_app(ada)
    client = enter(ada)
    assert "_auth_user_id" not in client.session
    code = code_of(secret)
    assert client.post(reverse("mfa_authenticate"), {"code": code}).status_code == 302
    assert client.session["_auth_user_id"] == str(ada.pk)
    other = enter(ada)
    assert "_auth_user_id" not in other.session
    assert other.post(reverse("mfa_authenticate"), {"code": code}).status_code == 200


def test_with_a_second_factor_it_is_the_factor_that_is_asked_for_again(ada: User, enter: Enter) -> None:
    secret = with_app(ada)
    client = enter(ada)
    client.post(reverse("mfa_authenticate"), {"code": code_of(secret)})
    answer = client.post(reverse("account_recovery_codes"))
    assert answer["Location"].startswith(reverse("mfa_reauthenticate"))
    assert client.get(reverse("account_reauthenticate")).status_code == 302  # the password alone does not do


def test_removing_a_factor_asks_again_is_told_and_ends_the_other_sessions(ada: User, enter: Enter) -> None:
    here = enter(ada, sure=True)
    secret = set_up(here)
    there = enter(ada)
    with time_machine.travel(time.time() + 60):
        there.post(reverse("mfa_authenticate"), {"code": code_of(secret)})
        assert there.get(reverse("account")).status_code == 200
    here.post(reverse("mfa_deactivate_totp"))
    assert not Authenticator.objects.filter(user=ada).exists()
    assert there.get(reverse("account")).status_code == 302
    assert Event.objects.filter(kind="factor.removed", actor=ada).count() == 1


def test_a_passkey_is_renamed_in_the_language_of_the_page(ada: User) -> None:
    key = Authenticator.objects.create(user=ada, type=Authenticator.Type.WEBAUTHN, data={"name": "phone"})
    with translation.override("ru"):
        html = RenamePasskeyForm(instance=key).as_p()
    assert "Название" in html and 'value="phone"' in html


def test_a_throttle_that_strangers_fill_is_passed_with_password_and_code(ada: User, password: str) -> None:
    secret = with_app(ada)
    for guess in range(11):
        stranger = Client(REMOTE_ADDR=f"192.0.2.{guess}")
        stranger.post(reverse("account_login"), {"login": ada.email, "password": "wrong" * 4})
    ada_elsewhere = Client(REMOTE_ADDR="198.51.100.9")
    locked = ada_elsewhere.post(reverse("account_login"), {"login": ada.email, "password": password})
    assert "Too many failed" in locked.content.decode()
    way = {"login": ada.email, "password": password, "code": code_of(secret)}
    assert ada_elsewhere.post(reverse("account_login_with_code"), way).status_code == 302
    assert ada_elsewhere.session["_auth_user_id"] == str(ada.pk)


def test_that_way_says_the_same_for_a_wrong_password_a_wrong_code_and_nobody(ada: User, password: str) -> None:
    secret = with_app(ada)
    plain = User.objects.create_user("bob@example.com", password, first_name="B", last_name="O")
    tries = [
        {"login": ada.email, "password": password, "code": "000000"},
        {"login": ada.email, "password": "wrong" * 4, "code": code_of(secret)},
        {"login": "nobody@example.com", "password": password, "code": "000000"},
        {"login": plain.email, "password": password, "code": "000000"},
    ]
    said = set()
    for number, data in enumerate(tries):
        client = Client(REMOTE_ADDR=f"203.0.113.{number}")
        answer = client.post(reverse("account_login_with_code"), data)
        said.add((answer.status_code, str(answer.context["form"].errors)))
        assert "_auth_user_id" not in client.session
    assert len(said) == 1


def test_codes_cannot_be_tried_without_end_by_who_knows_the_password(ada: User, password: str) -> None:
    secret = with_app(ada)
    for number in range(11):
        client = Client(REMOTE_ADDR=f"203.0.113.{number}")
        client.post(
            reverse("account_login_with_code"), {"login": ada.email, "password": password, "code": f"{number:06}"}
        )
    right = {"login": ada.email, "password": password, "code": code_of(secret)}
    client = Client(REMOTE_ADDR="203.0.113.99")
    assert client.post(reverse("account_login_with_code"), right).status_code == 200
    assert "_auth_user_id" not in client.session


@pytest.fixture
def operator(ada: User) -> User:
    set_role(ada, "operator", actor=None)
    ada.refresh_from_db()
    return ada


PAGES = ["admin:index", "admin:orders_order_changelist", "admin:jsi18n", "admin:password_change"]


@pytest.mark.parametrize("name", PAGES)
def test_staff_without_a_second_factor_see_no_staff_page(
    operator: User, enter: Enter, settings: Settings, name: str
) -> None:
    settings.STAFF_SECOND_FACTOR = True
    client = enter(operator)
    for verb in (client.get, client.post):
        assert verb(reverse(name))["Location"] == reverse("account_factor_needed")
    assert client.get(reverse("account_factor_needed")).status_code == 200


def test_staff_who_set_one_up_go_on_in_this_session(operator: User, enter: Enter, settings: Settings) -> None:
    settings.STAFF_SECOND_FACTOR = True
    client = enter(operator, sure=True)
    set_up(client)
    assert client.get(reverse("admin:index")).status_code == 200


def test_a_session_that_has_never_shown_the_factor_is_asked_for_it(
    operator: User, enter: Enter, settings: Settings
) -> None:
    settings.STAFF_SECOND_FACTOR = True
    client = enter(operator)
    secret = with_app(operator)  # by a way that ended no session
    page = reverse("admin:index")
    assert client.get(page)["Location"] == f"{reverse('mfa_reauthenticate')}?next=%2Fadmin%2F"
    before = client.session.session_key
    client.post(reverse("mfa_reauthenticate"), {"code": code_of(secret), "next": page})
    assert client.get(page).status_code == 200
    assert client.session.session_key != before


def test_the_sums_of_the_shop_need_the_factor_too(operator: User, enter: Enter, settings: Settings) -> None:
    """The proof is a page for everybody: what only staff see there is a staff page all the same."""
    settings.STAFF_SECOND_FACTOR = True
    client, page = enter(operator, sure=True), reverse("payments:proof")
    assert not client.get(page).context["sums_shown"]
    set_up(client)
    assert client.get(page).context["sums_shown"]


def test_the_factor_counts_for_a_working_day(operator: User, enter: Enter, settings: Settings) -> None:
    settings.STAFF_SECOND_FACTOR = True
    client = enter(operator, sure=True)
    set_up(client)
    with time_machine.travel(time.time() + timedelta(hours=settings.STAFF_PROOF_HOURS).total_seconds() + 1):
        assert client.get(reverse("admin:index"))["Location"].startswith(reverse("mfa_reauthenticate"))


def test_the_demo_lets_staff_in_without_and_real_money_does_not(
    settings: Settings, operator: User, enter: Enter
) -> None:
    assert settings.NETWORKS_KIND == "simulated" and not settings.STAFF_SECOND_FACTOR
    assert enter(operator).get(reverse("admin:index")).status_code == 200


def test_customers_are_not_sent_to_set_one_up(enter: Enter, settings: Settings, ada: User) -> None:
    settings.STAFF_SECOND_FACTOR = True
    answer: Any = enter(ada).get(reverse("admin:index"), follow=True)
    assert answer.status_code == 403


def test_a_shop_with_real_money_and_no_gate_is_told(settings: Settings) -> None:
    settings.NETWORKS_KIND = "real"
    assert [message.id for message in check_staff_gate(None)] == ["accounts.W001"]
    settings.STAFF_SECOND_FACTOR = True
    assert not check_staff_gate(None)
