"""What a worker process looks at before it starts. Celery imports it in workers, as it does any `tasks.py`."""

import sys
from typing import Any

from celery.signals import worker_init

from .preflight import CannotStart, nodes


@worker_init.connect
def look(**_: Any) -> None:
    """End the worker with one sentence when it could not ask any node."""
    try:
        nodes()
    except CannotStart as refusal:
        sys.exit(str(refusal))
