"""What a worker process looks at before it starts, and the check-up that somebody asks for. Celery imports it in
workers, as it does any `tasks.py`."""

import sys
from typing import Any

from celery import shared_task
from celery.signals import worker_init

from payments.actions import checkups
from payments.installation import NotThisKind

from . import checkup
from .preflight import CannotStart, fit_for_work, in_one_sentence


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
def examine() -> None:
    """Make the check-up that was asked for. A page nudges it; the timer asks again."""
    if asked := checkups.claim():
        checkups.settle(asked, checkup.findings())
