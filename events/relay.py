"""Deliver events to handlers, each exactly once: a handler's writes and its "done" mark commit together."""

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from .models import Delivery

log = logging.getLogger(__name__)
FIRST_DELAY, LONGEST_DELAY = timedelta(seconds=5), timedelta(hours=1)


def drain(limit: int = 1000) -> int:
    """Deliver what is due, one transaction each; return how many handlers ran through."""
    done = 0
    for _ in range(limit):
        outcome = deliver_one()
        if outcome is None:
            break
        done += outcome
    return done


def deliver_one() -> bool | None:
    """Deliver the next due event: True = done, False = failed and put off, None = nothing is due."""
    delivery: Delivery | None = None
    try:
        with transaction.atomic():
            delivery = claim(timezone.now())
            if delivery is None:
                return None
            import_string(delivery.handler)(delivery.event)
            Delivery.objects.filter(pk=delivery.pk).update(done_at=timezone.now(), error="")
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
    due = Delivery.objects.select_for_update(skip_locked=True, of=("self",), no_key=True)
    return due.filter(done_at=None, due_at__lte=now).order_by("due_at", "id").first()


def put_off(delivery: Delivery, error: Exception) -> None:
    """Keep the error and try again later, in a transaction of its own: the handler's was rolled back."""
    delay = min(FIRST_DELAY * 2 ** min(delivery.attempts, 16), LONGEST_DELAY)
    Delivery.objects.filter(pk=delivery.pk, done_at=None).update(
        attempts=delivery.attempts + 1, due_at=timezone.now() + delay, error=f"{type(error).__name__}: {error}"[:2000]
    )
