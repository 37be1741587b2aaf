"""Browsers in which a person has signed in before.

Wrong guesses are counted per account, or a stranger could try passwords without end; but then a stranger could also
keep the person out. So the guesses of a browser that has proved itself once are counted apart.
"""

import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

COOKIE = "known-browser"
SALT = "accounts.browsers"
ONE_YEAR = 365 * 24 * 3600  # seconds


def remember(response: HttpResponse, email: str) -> None:
    """Leave a signed mark in the browser that has just signed in with `email`."""
    response.set_signed_cookie(
        COOKIE,
        f"{_mark(email)}:{secrets.token_hex(8)}",
        salt=SALT,
        max_age=ONE_YEAR,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def known_as(request: HttpRequest, email: str) -> str:
    """Return the browser's own name when it has signed in with `email` before, else an empty text."""
    mark, _, name = (request.get_signed_cookie(COOKIE, default="", salt=SALT, max_age=ONE_YEAR) or "").partition(":")
    return name if mark == _mark(email) else ""


def _mark(email: str) -> str:
    return salted_hmac(SALT, email, algorithm="sha256").hexdigest()[:32]
