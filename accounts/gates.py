"""Gates in front of views, made of allauth's: proving once more who one is, and how often something may be tried."""

from collections.abc import Callable
from typing import cast

from allauth.account.decorators import reauthentication_required
from allauth.core import ratelimit
from django.http import HttpRequest, HttpResponse


def proved_again[View: Callable[..., HttpResponse]](view: View) -> View:
    """Open a view only to who has shown a second factor, or else the password, within the last five minutes."""
    return cast(View, reauthentication_required(view))


def allowed(request: HttpRequest, action: str, *, key: str | None = None) -> bool:
    """Count one attempt and tell whether there is room for it; the rates stand in ACCOUNT_RATE_LIMITS."""
    return bool(ratelimit.consume(request, action=action, key=key))


def has_room(request: HttpRequest, action: str, *, key: str) -> bool:
    """Tell whether there is room for one more attempt, without counting it."""
    return bool(ratelimit.consume(request, action=action, key=key, dry_run=True))


def too_many(request: HttpRequest) -> HttpResponse:
    """Return the page that asks to wait."""
    return cast(HttpResponse, ratelimit.respond_429(request))
