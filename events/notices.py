"""What operators are told, by mail and webhook: written with the event's delivery, claimed, sent, settled.

Each channel goes its own way, so that a dead mail server holds no webhook back. What waits goes out together: the first
news at once, whatever follows within NOTICE_PAUSE_SECONDS in one message after it.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F

from .models import Event, Notice

LEASE = timedelta(minutes=3)  # to send one message: several times the deadlines of both channels
FIRST_DELAY, LONGEST_DELAY = timedelta(seconds=30), timedelta(hours=1)
MOST = 1000  # news in one message; more wait for the next


@dataclass(frozen=True, slots=True)
class Batch:
    """News that go out in one message. Its id stays the same if it must be sent again."""

    id: uuid.UUID
    channel: str
    attempt: int
    events: Sequence[Event]


def open_channels() -> list[str]:
    """Return the channels that the settings name."""
    wanted = {Notice.Channel.MAIL: settings.OPERATOR_EMAILS, Notice.Channel.WEBHOOK: settings.OPERATOR_WEBHOOK}
    return [str(channel) for channel, target in wanted.items() if target]


def note(event: Event) -> None:
    """Let operators be told of an event by every open channel; a second time changes nothing."""
    rows = [Notice(event=event, channel=channel) for channel in open_channels()]
    Notice.objects.bulk_create(rows, ignore_conflicts=True)


def claim(channel: str, now: datetime) -> Batch | None:
    """Take what is to be sent now, for as long as LEASE; none: nothing waits, or it is not time yet.

    The oldest that waits says when the channel is tried next, so a failure holds back all of it. A batch whose sender
    died comes again as it was, without what came later.
    """
    with transaction.atomic(durable=True):
        waiting = Notice.objects.filter(channel=channel, sent_at=None).order_by("id")
        first = waiting.select_for_update(of=("self",), no_key=True).first()
        if first is None or first.due_at > now or (not first.batch and in_pause(channel, now)):
            return None
        rows = list(waiting.filter(batch=first.batch).select_related("event")[:MOST])
        batch = first.batch or uuid.uuid4()
        taken = Notice.objects.filter(pk__in=[row.pk for row in rows])
        taken.update(batch=batch, due_at=now + LEASE, attempts=F("attempts") + 1)
        return Batch(batch, channel, first.attempts + 1, [row.event for row in rows])


def in_pause(channel: str, now: datetime) -> bool:
    """Tell whether a message went out so lately that what waits should gather for a while."""
    since = now - timedelta(seconds=settings.NOTICE_PAUSE_SECONDS)
    return Notice.objects.filter(channel=channel, sent_at__gt=since).exists()


def settle(batch: Batch, now: datetime) -> None:
    """Note that a batch was sent."""
    Notice.objects.filter(batch=batch.id, channel=batch.channel, sent_at=None).update(sent_at=now, error="")


def put_off(batch: Batch, error: Exception, now: datetime) -> None:
    """Keep the error and try again later, with all that waits by then: after a long silence one message is enough."""
    delay = min(FIRST_DELAY * 2 ** min(batch.attempt - 1, 16), LONGEST_DELAY)
    rows = Notice.objects.filter(batch=batch.id, channel=batch.channel, sent_at=None)
    rows.update(batch=None, due_at=now + delay, error=f"{type(error).__name__}: {error}"[:500])
