"""What every template knows about the installation, and those of staff pages about what needs a person."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import User
from accounts.second_factor import is_for_staff
from events import heartbeat

from . import todo


def site(request: HttpRequest) -> dict[str, Any]:
    return {
        "BRAND": settings.BRAND,
        "DEMO": settings.NETWORKS_KIND == "simulated",
        "SUPPORT_CONTACT": settings.SUPPORT_CONTACT,
    }


@dataclass(frozen=True, slots=True)
class Silence:
    """No worker reports; `since` is when one last did, none: never. `embedded`: it is a thread of the web process."""

    since: datetime | None
    embedded: bool


class Operator:
    """What the head of a staff page says. It asks the database only where a template names it."""

    def __init__(self, user: User) -> None:
        self.user = user

    def needs(self) -> int:
        """Return how many things need a person."""
        return todo.count(self.user, timezone.now())

    def silence(self) -> Silence | None:
        """Return since when no worker reports; none while one does (OPS-8)."""
        at = heartbeat.last_beat()
        return Silence(at, settings.EMBEDDED_TASKS) if heartbeat.is_old(at, timezone.now()) else None


def staff(request: HttpRequest) -> dict[str, Any]:
    """Give staff pages their head. Every other page gets nothing, for no query."""
    match = request.resolver_match
    if not match or not is_for_staff(request, match.func) or not request.user.is_staff:
        return {}
    return {"OPERATOR": Operator(request.user)}
