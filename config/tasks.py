"""What a worker process looks at before it starts. Celery imports it in workers, as it does any `tasks.py`."""

import sys
from typing import Any

from celery.signals import worker_init

from payments.installation import NotThisKind

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
