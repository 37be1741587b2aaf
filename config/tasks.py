"""What a worker process looks at before it starts, the timers that need all apps, and the check-up that is asked for.

Celery imports it in workers, as it does any `tasks.py`.
"""

import logging
import sys
from typing import Any

from celery import shared_task
from celery.signals import worker_init
from django.utils import timezone

from events import alarms, notices
from payments.actions import checkups
from payments.installation import NotThisKind

from . import channels, checkup, todo
from .preflight import CannotStart, fit_for_work, in_one_sentence

log = logging.getLogger(__name__)


@worker_init.connect
def look(**_: Any) -> None:
    """End the worker with one sentence when its settings do not fit the database, or when it could not ask any node.

    A worker that was started without NETWORKS=real beside a real installation would write demo prices into it.
    """
    try:
        with in_one_sentence():
            fit_for_work()
    except (CannotStart, NotThisKind) as refusal:
        sys.exit(str(refusal))


@shared_task
def look_around() -> None:
    """Raise the alarms of what needs a person and lasts."""
    now = timezone.now()
    alarms.look(todo.alarms(now), now)


@shared_task
def tell_operators() -> None:
    """Send what waits, by each channel: claim, send, settle."""
    for channel in notices.open_channels():
        batch = notices.claim(channel, timezone.now())
        if batch:
            tell(batch)


def tell(batch: notices.Batch) -> None:
    """Send one batch; whatever goes wrong is kept with it, and it is tried again."""
    try:
        channels.send(batch)
    except Exception as error:
        log.warning("Operators could not be told by %s: %s", batch.channel, error)
        notices.put_off(batch, error, timezone.now())
    else:
        notices.settle(batch, timezone.now())


@shared_task
def examine() -> None:
    """Make the check-up that was asked for. A page nudges it; the timer asks again."""
    if asked := checkups.claim():
        checkups.settle(asked, checkup.findings())
