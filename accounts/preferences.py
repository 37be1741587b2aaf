"""The language and the time zone that a person has chosen, on every page of theirs (ACC-11)."""

import zoneinfo
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation

from .models import User

Answer = Callable[[HttpRequest], HttpResponse]


def preferences(answer: Answer) -> Answer:
    """Activate what the signed-in person has chosen. The admin keeps UTC: its forms say no zone beside a time."""

    def middleware(request: HttpRequest) -> HttpResponse:
        try:
            return answer(request)
        finally:
            timezone.deactivate()

    def process_view(request: HttpRequest, _view: Any, _args: Any, _kwargs: Any) -> None:
        if not request.user.is_authenticated:
            return
        user = request.user
        if user.language:
            translation.activate(user.language)
            request.LANGUAGE_CODE = translation.get_language()
        match = request.resolver_match
        if user.time_zone and match and "admin" not in match.namespaces:
            timezone.activate(zoneinfo.ZoneInfo(user.time_zone))

    middleware.process_view = process_view  # type: ignore[attr-defined]  # how Django finds the hook
    return middleware


def zone_of(user: User) -> zoneinfo.ZoneInfo:
    """Return the time zone that a person has chosen, else UTC: for pages of the admin that say the zone."""
    return zoneinfo.ZoneInfo(user.time_zone or "UTC")
