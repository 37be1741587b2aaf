"""Guests and what they hold: begun in a session, claimed exactly once, forgotten when the session is over (ACC-6)."""

import uuid
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from events.actions import record

from ..models import Holder, User


def begin_guest() -> Holder:
    """Make the holder of a guest's work; it lives as long as a session does."""
    now = timezone.now()
    return Holder.objects.create(created_at=now, expires_at=now + timedelta(seconds=settings.SESSION_COOKIE_AGE))


def holder_of(user: User) -> Holder:
    """Return the holder of a person's own work, made at its first use."""
    return Holder.objects.filter(user=user).order_by("pk").first() or Holder.objects.create(user=user)


def claim(token: uuid.UUID, user: User) -> bool:
    """Give a guest's work to a person. Only the first claim while it is valid does: two tabs, one winner."""
    now = timezone.now()
    with transaction.atomic():
        if not Holder.objects.filter(token=token, user=None, expires_at__gt=now).update(user=user):
            return False
        record("guest_work.claimed", subject=Holder.objects.get(token=token), thread=user, actor=user)
    return True


def forget_guests(at_once: int = 20) -> int:
    """Delete what guests left whose session is over; return how many holders.

    A few in each transaction: on SQLite everybody else who writes waits for it.
    """
    expired = Holder.objects.filter(user=None, expires_at__lte=timezone.now())
    forgotten = 0
    while chosen := list(expired.values_list("pk", flat=True)[:at_once]):
        _rows, kinds = expired.filter(pk__in=chosen).delete()
        forgotten += kinds.get(Holder._meta.label, 0)
    return forgotten
