"""Reads of accounts used in more than one place."""

from django.db.models import QuerySet

from events.actions import subject_of
from events.models import Event

from .models import User


def unused_codes(user: User) -> int:
    """Return how many recovery codes still set a password."""
    return user.recovery_codes.filter(used_at=None).count()


def history(user: User) -> QuerySet[Event]:
    """Return what happened to an account, newest first."""
    return Event.objects.filter(thread=subject_of(user)).order_by("-id")
