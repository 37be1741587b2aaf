"""Do work at the same moment: in threads on PostgreSQL, in processes on SQLite, whose locks are between processes."""

import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

from django.db import connection, connections

Work = Callable[[], object]
PATIENCE = 60.0  # seconds; a child that has not ended then is ended, and the test fails


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one piece of work came to: its value, or the name and the sentence of its exception."""

    value: object = None
    error: str = ""
    sentence: str = ""


def at_once(works: Sequence[Work], *, processes: int = 8) -> list[Outcome]:
    """Do all works at the same moment and return what each came to, in their order.

    On PostgreSQL each has a thread and a connection of its own; on SQLite at most `processes` share them out. Values
    travel between processes, so works return plain ones.
    """
    connections.close_all()
    if connection.vendor == "postgresql":
        return in_threads(works)
    shares = [range(first, len(works), processes) for first in range(min(processes, len(works)))]
    outcomes: dict[int, Outcome] = {}
    for share in in_processes([lambda share=share: {i: attempt(works[i]) for i in share} for share in shares]):
        assert isinstance(share.value, dict), share
        outcomes |= share.value
    return [outcomes[place] for place in range(len(works))]


def attempt(work: Work) -> Outcome:
    try:
        return Outcome(value=work())
    except Exception as error:
        return Outcome(error=type(error).__name__, sentence=str(error))


def errors(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Count the outcomes by the name of their exception; those that went well under ""."""
    return dict(Counter(outcome.error for outcome in outcomes))


def in_threads(works: Sequence[Work]) -> list[Outcome]:
    """Run each work in a thread with an open connection of its own; all begin together."""
    start, outcomes = threading.Barrier(len(works)), [Outcome(error="NotRun")] * len(works)

    def run(place: int, work: Work) -> None:
        try:
            connection.ensure_connection()
            start.wait(PATIENCE)
            outcomes[place] = attempt(work)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(place, work)) for place, work in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def in_processes(works: Sequence[Work]) -> list[Outcome]:
    """Run each work in a process of its own; all begin together."""
    gate, opener = os.pipe()
    children = [Child(work, gate, opener) for work in works]
    for child in children:
        child.wait_until_ready()
    os.close(gate)
    os.close(opener)  # the end of the pipe's file is the signal to begin
    return [child.outcome() for child in children]


class Child:
    """A forked process with a connection of its own, which waits at a gate before it works."""

    def __init__(self, work: Work, gate: int, opener: int) -> None:
        connections.close_all()
        self.answers, answer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.answers)
            os.close(opener)
            leave_with(lambda: self._work(work, gate, answer))
        os.close(answer)

    def _work(self, work: Work, gate: int, answer: int) -> None:
        connection.ensure_connection()
        os.write(answer, b"r")
        os.read(gate, 1)
        outcome = attempt(work)
        connections.close_all()
        with os.fdopen(answer, "wb") as file:
            pickle.dump(outcome, file)

    def wait_until_ready(self) -> None:
        assert os.read(self.answers, 1) == b"r", "a child ended before it began"

    def outcome(self) -> Outcome:
        with os.fdopen(self.answers, "rb") as file:
            text = file.read()
        status = ended(self.pid)
        assert status == 0, f"a child ended with {status}"
        outcome = pickle.loads(text)  # noqa: S301  # our own child wrote it
        assert isinstance(outcome, Outcome)
        return outcome


def leave_with(work: Work) -> NoReturn:
    """Do the last thing of a forked child. It leaves without the clean-up of pytest, which belongs to its parent."""
    status = 1
    try:
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def ended(pid: int) -> int:
    """Wait for a child; return its exit status, or minus the signal that ended it."""
    deadline = time.monotonic() + PATIENCE
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise AssertionError(f"a child did not end within {PATIENCE:g} seconds")
        time.sleep(0.005)


@contextmanager
def own_connections() -> Iterator[None]:
    """Give each thread and each child a connection of its own: a pool is smaller than a crowd and survives no fork."""
    options: dict[str, Any] = connection.settings_dict["OPTIONS"]
    pool = options.get("pool")
    connections.close_all()
    if pool:
        connection.close_pool()  # type: ignore[attr-defined]
        options["pool"] = False
    try:
        yield
    finally:
        connections.close_all()
        if pool:
            options["pool"] = pool
