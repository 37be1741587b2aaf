"""Celery's worker and beat as threads of the one web process: the way without Redis.

Both go on only as long as their process. A thread that ends before it was told to is logged and started again, and
`/healthz` and every staff page show when the worker last reported.
"""

import logging
import threading
from collections.abc import Callable
from typing import Any

from celery import beat
from celery.worker import state

from payments.actions import watching

from .beat import Scheduler
from .celery import app

logger = logging.getLogger(__name__)
RESTART_SECONDS = 1.0
STOP_SECONDS = 5.0


class Keeper(threading.Thread):
    """Run `work` in a daemon thread, and again whenever it ends before `stopping` is set."""

    def __init__(self, name: str, work: Callable[[], None], stopping: threading.Event) -> None:
        super().__init__(name=name, daemon=True)
        self.work = work
        self.stopping = stopping

    def run(self) -> None:
        while not self.stopping.is_set():
            try:
                self.work()
            except BaseException:  # a SystemExit ends a thread just as silently
                logger.exception("The embedded %s failed", self.name)
            if not self.stopping.is_set():
                logger.error("The embedded %s ended; it is started again", self.name)
                self.stopping.wait(RESTART_SECONDS)


class Tasks:
    """Worker (solo pool: one task at a time, in its own thread) and beat of this process."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self.beat: Any = None
        self.keepers = [Keeper("worker", self._work, self.stopping), Keeper("beat", self._tick, self.stopping)]

    def start(self) -> None:
        for keeper in self.keepers:
            keeper.start()

    def stop(self) -> None:
        """Let the running task end, for at most STOP_SECONDS; what is cut off then is found again by the schedule."""
        self.stopping.set()
        state.should_stop = 0  # the worker's own loop looks at it and leaves in good order
        if self.beat:
            self.beat.stop()
        for keeper in self.keepers:
            keeper.join(STOP_SECONDS / len(self.keepers))

    def _work(self) -> None:
        watching.free_leases()  # of the worker before this one: a killed process, or a thread that died
        worker = app.WorkController(
            pool="solo",
            hostname="embedded@localhost",
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        )
        worker.start()

    def _tick(self) -> None:
        self.beat = beat.Service(app, scheduler_cls=Scheduler)
        self.beat.start()
