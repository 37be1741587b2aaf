"""Cut the power before the n-th statement, within one process: what was not committed is gone, nobody cleans up.

`tests/killing.py` does it for real, with a process; this is its cheap model for thousands of steps. A durable
transaction is a savepoint here, so the cut before its COMMIT is one before its RELEASE.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection


class Killed(BaseException):
    """The process died here. No code of ours may catch it."""


class Fuse:
    """Counts statements and raises Killed before the fatal one."""

    def __init__(self, fatal: int) -> None:
        self.fatal = fatal
        self.count = 0

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.count += 1
        if self.count == self.fatal:
            if sql.startswith("RELEASE SAVEPOINT"):
                execute(sql.replace("RELEASE", "ROLLBACK TO", 1), params, many, context)
            raise Killed(sql)
        return execute(sql, params, many, context)


class Writes:
    """Notes whether a statement wrote."""

    def __init__(self) -> None:
        self.seen = True

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.seen = self.seen or sql.startswith(("INSERT", "UPDATE", "DELETE", "ROLLBACK"))
        return execute(sql, params, many, context)


@contextmanager
def cut_before(statement: int | None) -> Iterator[None]:
    """Run what is inside up to this statement (from 1); none: to its end."""
    if statement is None:
        yield
        return
    with connection.execute_wrapper(Fuse(statement)):
        yield
