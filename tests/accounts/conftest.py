from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from accounts.models import User

PASSWORD = "correct horse battery staple"


@pytest.fixture
def password() -> str:
    return PASSWORD


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user("ada@example.com", PASSWORD, first_name="Ada", last_name="Lovelace")


@pytest.fixture
def person() -> dict[str, Any]:
    """What somebody types who registers."""
    return {"first_name": "Grace", "last_name": "Hopper", "email": "grace@example.com", "password1": PASSWORD}


@pytest.fixture
def dead() -> Callable[[str | None], bool]:
    """Return a way to ask whether a session id opens nothing: another browser tries it."""

    def opens_nothing(session_key: str | None) -> bool:
        thief = Client()
        thief.cookies[settings.SESSION_COOKIE_NAME] = str(session_key)
        return thief.get(reverse("account")).status_code == 302

    return opens_nothing


@pytest.fixture
def enter() -> Callable[..., Client]:
    """Return a way to sign in with the password, in a browser of its own or a given one; `sure` proves it once more."""

    def sign_in(user: User, client: Client | None = None, *, sure: bool = False) -> Client:
        client = client or Client()
        client.post(reverse("account_login"), {"login": user.email, "password": PASSWORD})
        if sure:
            client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
        return client

    return sign_in
