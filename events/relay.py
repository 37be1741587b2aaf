"""Deliver events to handlers, each exactly once: a handler's writes and its "done" mark commit together."""

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from .models import Delivery
from .statements import change_row, kept_row

log = logging.getLogger(__name__)
BATCH = 100  # deliveries that are read at once; each is claimed by itself
FIRST_DELAY, LONGEST_DELAY = timedelta(seconds=5), timedelta(hours=1)


def drain(limit: int = 1000) -> int:
    """Deliver what is due, one transaction each; return how many handlers ran through."""
    done = tried = 0
    while tried < limit and (some := read(timezone.now(), min(BATCH, limit - tried))):
        outcomes = [deliver_one(delivery) for delivery in some]
        done += outcomes.count(True)
        tried += len(some)
        if not any(outcome is not None for outcome in outcomes):
            break  # others are at all of them
    return done


def deliver_one(known: Delivery | None = None) -> bool | None:
    """Deliver this one, or the next due event: True = done, False = failed and put off, None = nothing is due, or
    somebody else is at it."""
    delivery: Delivery | None = None
    try:
        with transaction.atomic():
            delivery = claim_again(known, timezone.now()) if known else claim(timezone.now())
            if delivery is None:
                return None
            import_string(delivery.handler)(delivery.event)
            change_row(delivery, {"done_at": timezone.now(), "error": ""})
        return True
    except Exception as error:
        if delivery is None:
            raise
        log.exception("Delivery %s failed", delivery)
        put_off(delivery, error)
        return False


def claim(now: datetime) -> Delivery | None:
    """Lock the next delivery. Its event is read by its key afterwards: joined, PostgreSQL may read every event there
    ever was to find the one."""
    return due(now).select_for_update(skip_locked=True, of=("self",), no_key=True).first()


def claim_again(known: Delivery, now: datetime) -> Delivery | None:
    """Lock a delivery that was read without a lock, if it is still due. An event never changes, so it is not read
    again."""
    found = still_due(known.pk, now)
    if found:
        found.event = known.event
    return found


@kept_row
def still_due(key: int, now: datetime) -> QuerySet[Delivery]:
    return due(now).select_for_update(skip_locked=True, of=("self",), no_key=True).filter(pk=key)


def read(now: datetime, limit: int) -> list[Delivery]:
    """Return what is due with its events, the oldest first. Nothing is locked."""
    return list(due(now).prefetch_related("event")[:limit])


def due(now: datetime) -> QuerySet[Delivery]:
    return Delivery.objects.filter(done_at=None, due_at__lte=now).order_by("due_at", "id")


def put_off(delivery: Delivery, error: Exception) -> None:
    """Keep the error and try again later, in a transaction of its own: the handler's was rolled back."""
    delay = min(FIRST_DELAY * 2 ** min(delivery.attempts, 16), LONGEST_DELAY)
    Delivery.objects.filter(pk=delivery.pk, done_at=None).update(
        attempts=delivery.attempts + 1, due_at=timezone.now() + delay, error=f"{type(error).__name__}: {error}"[:2000]
    )
