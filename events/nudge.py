"""Wake a task. Only a hint: the schedule finds all work without it.

A thread of its own speaks to the broker, so no page waits for it; and it sends what was asked for several times in
a moment once, since a task that runs sees all that was committed before it.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

from celery import Celery, current_app

logger = logging.getLogger(__name__)

# One attempt of one second each way, over a connection of its own: the pooled one of a publisher tries again for six
# seconds when the broker refuses, and waits for ever when it accepts and says nothing.
AT_ONCE = {"max_retries": 0, "socket_connect_timeout": 1.0, "socket_timeout": 1.0}
GAP_SECONDS = 0.05  # between two messages of this process


def nudge(task: str = "events.tasks.relay") -> None:
    """Ask a worker to run a task now; a broker that is away is no reason to fail the page or to keep it waiting."""
    caller.ask(task)


class Caller:
    """Sends the tasks that are asked for, from a thread that starts with the first."""

    def __init__(self, app: Celery = current_app) -> None:
        self.app = app
        self.wanted: SimpleQueue[str] = SimpleQueue()
        self.lock = threading.Lock()
        self.thread: threading.Thread | None = None

    def ask(self, task: str) -> None:
        self.wanted.put(task)
        if self.thread is None:
            with self.lock:
                if self.thread is None:
                    self.thread = started(self.send_all)

    def send_all(self) -> None:
        while True:
            for task in self.gathered():
                try:
                    self.send(task)
                except Exception as error:  # whatever a broker does: the schedule finds the work
                    logger.warning("no worker could be woken for %s: %s", task, error)
            time.sleep(GAP_SECONDS)

    def gathered(self) -> set[str]:
        """Return what was asked for, each once; wait until something is."""
        tasks = {self.wanted.get()}
        while not self.wanted.empty():
            tasks.add(self.wanted.get())
        return tasks

    def send(self, task: str) -> None:
        with self.app.connection_for_write() as broker:
            broker.transport_options = {**broker.transport_options, **AT_ONCE}
            self.app.send_task(task, ignore_result=True, expires=5, connection=broker)


def started(work: Callable[[], None]) -> threading.Thread | None:
    """Start a thread; none if the system gives no more of them now, or the process ends: the next who asks tries
    again."""
    thread = threading.Thread(target=work, name="nudge", daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        logger.warning("no thread could be started to wake a worker: %s", error)
        return None
    return thread


caller = Caller()


def begin_anew() -> None:
    """Forget the thread in a process that was forked: it did not come along."""
    global caller  # one per process
    caller = Caller()


os.register_at_fork(after_in_child=begin_anew)
