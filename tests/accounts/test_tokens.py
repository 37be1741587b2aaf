"""API tokens: shown once, kept as digests, scoped, revocable, throttled."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.throttling import SimpleRateThrottle

from accounts.actions import tokens
from accounts.models import ApiToken, User

pytestmark = pytest.mark.django_db
Enter = Callable[..., Client]


@pytest.fixture
def secret(ada: User) -> str:
    return tokens.create_token(ada, name="script", scopes=["account:read"])[1]


def ask(secret: str, word: str = "Bearer", **more: Any) -> Any:
    return Client(**more).get("/api/v1/me", headers={"authorization": f"{word} {secret}"})


def test_a_token_is_made_after_the_password_is_shown_once_and_kept_as_a_digest(ada: User, enter: Enter) -> None:
    client, page = enter(ada), reverse("account_new_token")
    facts = {"name": "notebook", "scopes": ["account:read"]}
    assert client.post(page, facts)["Location"].startswith(reverse("account_reauthenticate"))
    assert not ApiToken.objects.exists()
    enter(ada, client, sure=True)
    shown = client.post(page, facts).context["secret"]
    token = ApiToken.objects.get()
    assert shown.startswith("gridlot_") and shown not in str(ApiToken.objects.values().get())
    listed = client.get(reverse("account_tokens")).content.decode()
    assert shown not in listed and f"…{token.ending}" in listed
    assert ask(shown).json()["email"] == ada.email


def test_a_token_reads_who_it_speaks_for(ada: User, secret: str) -> None:
    answer = ask(secret)
    assert answer.status_code == 200
    assert answer.json() == {
        "email": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace",
        "language": "", "time_zone": "", "scopes": ["account:read"],
    }  # fmt: skip


def test_without_the_scope_a_token_is_refused(ada: User) -> None:
    _token, other = tokens.create_token(ada, name="other", scopes=[])
    assert ask(other).status_code == 403


@pytest.mark.parametrize("wrong", ["", "x", "gridlot_" + "x" * 43, "\N{GRINNING FACE}".encode().decode("latin-1")])
def test_a_wrong_token_and_none_open_nothing(db: None, wrong: str) -> None:
    for answer in (ask(wrong), Client().get("/api/v1/me"), ask(wrong, word="Basic")):
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_session_is_no_token(ada: User, enter: Enter) -> None:
    assert enter(ada).get("/api/v1/me").status_code == 401


def test_a_revoked_token_opens_nothing(ada: User, secret: str, enter: Enter) -> None:
    token = ApiToken.objects.get()
    enter(ada).post(reverse("account_revoke_token", args=[token.pk]))
    assert ask(secret).status_code == 401
    token.refresh_from_db()
    assert token.revoked_at


def test_a_token_of_a_closed_account_opens_nothing(ada: User, secret: str) -> None:
    User.objects.filter(pk=ada.pk).update(is_active=False)
    assert ask(secret).status_code == 401


def test_nobody_revokes_a_strangers_token(secret: str, enter: Enter, password: str) -> None:
    eve = User.objects.create_user("eve@example.com", password, first_name="E", last_name="M")
    assert enter(eve).post(reverse("account_revoke_token", args=[ApiToken.objects.get().pk])).status_code == 404
    assert ask(secret).status_code == 200


def test_the_last_use_is_noted_to_five_minutes(ada: User, secret: str) -> None:
    ask(secret)
    first = ApiToken.objects.get().used_at
    assert first
    ask(secret)
    assert ApiToken.objects.get().used_at == first
    with time_machine.travel(timezone.now() + timedelta(minutes=6)):
        ask(secret)
    assert ApiToken.objects.get().used_at != first


def test_requests_of_a_token_are_counted(ada: User, secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", {"token": "3/min"})
    assert [ask(secret).status_code for _ in range(4)] == [200, 200, 200, 429]
    other = tokens.create_token(ada, name="other", scopes=["account:read"])[1]
    assert ask(other).status_code == 200


def test_what_is_not_there_is_said_in_json(db: None) -> None:
    answer = Client().get("/api/v1/nowhere")
    assert answer.status_code == 404 and answer.headers["Content-Type"] == "application/json"
