"""Kill a process at a chosen step of its work with the database, as a power cut would."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import connection, connections
from together import Work, ended, leave_with

KILLED = -signal.SIGKILL


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended, and the steps it began: SQL statements and COMMITs. The last one of a killed child is the one
    it was killed before."""

    status: int
    steps: list[str]

    @property
    def commits(self) -> list[int]:
        """Return the numbers of the steps that were commits."""
        return [number for number, step in enumerate(self.steps, 1) if step == "COMMIT"]


class Steps:
    """Counts the steps of this process, notes each in a file, and kills the process before the fatal one."""

    def __init__(self, notes: Path, fatal: int | None) -> None:
        self.notes = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        self.fatal = fatal
        self.count = 0

    def watch(self) -> None:
        """Look at everything the connection is asked from now on."""
        connection.ensure_connection()
        connection.execute_wrappers.append(self._statement)
        commit = connection._commit  # type: ignore[attr-defined]  # a commit passes through no wrapper

        def counted_commit() -> Any:
            self.step("COMMIT")
            return commit()

        connections["default"]._commit = counted_commit  # type: ignore[attr-defined]

    def _statement(self, execute: Any, sql: str, *arguments: Any) -> Any:
        self.step(sql)
        return execute(sql, *arguments)

    def step(self, text: str) -> None:
        self.count += 1
        os.write(self.notes, text.replace("\n", " ")[:120].encode() + b"\n")
        if self.count == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)


def in_a_child(work: Work, notes: Path, *, killed_before: int | None = None) -> Ended:
    """Do the work in a process of its own, killed before the step with this number (from 1); none: it lives."""
    connections.close_all()
    pid = os.fork()
    if pid == 0:
        leave_with(lambda: watched(work, notes, killed_before))
    status = ended(pid)
    return Ended(status, notes.read_text().splitlines())


def watched(work: Work, notes: Path, fatal: int | None) -> None:
    Steps(notes, fatal).watch()
    work()
    connections.close_all()
