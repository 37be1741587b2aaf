"""States that need a person: told once when one has lasted for a while, over when it is gone."""

from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta

from django.db import transaction

from .actions import record
from .models import Alarm

LASTING = timedelta(seconds=60)  # what is over sooner needs nobody: a worker that has just started, a slow node


def look(found: AbstractSet[str], now: datetime) -> None:
    """Compare what needs a person now with the open alarms: raise what lasts, clear what is gone."""
    with transaction.atomic(durable=True):
        known = {alarm.key: alarm for alarm in Alarm.objects.select_for_update(no_key=True).filter(cleared_at=None)}
        fresh = [Alarm(key=key, since=now) for key in sorted(found - known.keys())]
        Alarm.objects.bulk_create(fresh, ignore_conflicts=True)
        for key, alarm in known.items():
            if key not in found:
                clear(alarm, now)
            elif not alarm.raised_at and now - alarm.since >= LASTING:
                alarm.raised_at = now
                alarm.save(update_fields=["raised_at"])
                record("alarm.raised", subject=alarm, actor=None, key=key, since=alarm.since)


def clear(alarm: Alarm, now: datetime) -> None:
    """End an alarm; one that nobody was told of leaves nothing behind."""
    if not alarm.raised_at:
        alarm.delete()
        return
    alarm.cleared_at = now
    alarm.save(update_fields=["cleared_at"])
    record("alarm.cleared", subject=alarm, actor=None, key=alarm.key, since=alarm.since)
