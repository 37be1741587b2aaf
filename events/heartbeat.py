"""The heartbeat of the workers: one row that the clock has written every few seconds, and what its age means."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from .actions import record
from .models import Heartbeat


def beat(now: datetime) -> None:
    """Note that a worker lives. After a silence record "worker.resumed": nobody could tell of it while it lasted."""
    with transaction.atomic():
        last = Heartbeat.objects.select_for_update(of=("self",), no_key=True).first()
        Heartbeat.objects.bulk_create(
            [Heartbeat(at=now)], update_conflicts=True, unique_fields=["id"], update_fields=["at"]
        )
        if last and is_old(last.at, now):
            seconds = round((now - last.at).total_seconds())
            record("worker.resumed", subject=last, actor=None, since=last.at, seconds=seconds)


def last_beat() -> datetime | None:
    """Return when a worker last reported; none: never."""
    return Heartbeat.objects.values_list("at", flat=True).first()


def is_old(at: datetime | None, now: datetime) -> bool:
    """Tell whether no worker can be relied on: none has ever reported, or none for HEARTBEAT_OLD_SECONDS."""
    return at is None or now - at > timedelta(seconds=settings.HEARTBEAT_OLD_SECONDS)
