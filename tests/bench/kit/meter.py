"""Measure processor time: of this process or of a server, and of the PostgreSQL backends that work for it. Clocks lie
on shared machines, processor time hardly; so every bound is a ratio of processor times measured in turns in one run."""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection

BACKENDS = (
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' "
    "AND pid <> pg_backend_pid()"
)
CONTROL = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")
Work = Callable[[], object]


@dataclass(slots=True)
class Cost:
    """What some work took: processor seconds of who did it and of the database, and seconds by the clock."""

    own: float = 0.0
    database: float = 0.0
    wall: float = 0.0

    @property
    def cpu(self) -> float:
        return self.own + self.database


class Meter:
    """Reads the processor time of this database's backends; the server must be on this machine. SQLite has none."""

    def __init__(self) -> None:
        self.server = self._connect() if connection.vendor == "postgresql" else None

    def _connect(self) -> Any:
        """Connect aside, so that reading the meter is work of another backend than the measured ones."""
        params = connection.get_connection_params()
        named = {name: params[name] for name in ("host", "port", "user", "password", "dbname") if name in params}
        return psycopg.connect(**named, autocommit=True)

    def backends(self) -> dict[int, float]:
        """Return the processor seconds of each backend so far."""
        if self.server is None:
            return {}
        return {pid: seconds_of(pid) for (pid,) in self.server.execute(BACKENDS).fetchall()}

    @contextmanager
    def reading(self, own: Callable[[], float] = time.process_time) -> Iterator[Cost]:
        """Yield a cost that holds what the block took once it is left. `own` tells the processor seconds so far of who
        does the work: this process, or a server."""
        cost, before = Cost(), self.backends()
        wall, used = time.perf_counter(), own()
        yield cost
        cost.own, cost.wall = own() - used, time.perf_counter() - wall
        cost.database = sum(spent - before.get(pid, 0.0) for pid, spent in self.backends().items())

    def cost_of(self, work: Work) -> Cost:
        with self.reading() as cost:
            work()
        return cost


def seconds_of(pid: int) -> float:
    """Return the processor seconds of a process of one thread, to the nanosecond; 0 if it is gone."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except FileNotFoundError:
        return 0.0


def in_turns(meter: Meter, works: Sequence[Work], rounds: int) -> list[list[Cost]]:
    """Do the works in turns, so that noise meets all alike; return the costs of each, one per round. A first round
    warms up and is not counted."""
    costs: list[list[Cost]] = [[] for _ in works]
    for number in range(rounds + 1):
        for work, seen in zip(works, costs, strict=True):
            cost = meter.cost_of(work)
            if number:
                seen.append(cost)
    return costs


def median_cpu(costs: Sequence[Cost]) -> float:
    return statistics.median(cost.cpu for cost in costs)


def median_ratio(costs: Sequence[Cost], floor: Sequence[Cost]) -> float:
    """Return the median of the ratios of each pair."""
    return statistics.median(one.cpu / least.cpu for one, least in zip(costs, floor, strict=True))


def compared(costs: Sequence[Cost], floor: Sequence[Cost], times: int) -> dict[str, float]:
    """Return columns of a table: milliseconds of the server and of the database for one of so many requests."""
    sides = {"": costs, "floor_": floor}
    return {
        f"{side}{part}_ms": statistics.median(getattr(cost, name) for cost in seen) / times * 1e3
        for side, seen in sides.items()
        for part, name in (("server", "own"), ("database", "database"))
    }


@dataclass(slots=True)
class Statements:
    """The statements that were sent, without those that only begin and end transactions and savepoints."""

    sent: list[tuple[str, Any, bool]] = field(default_factory=list)
    control: int = 0

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith(CONTROL):
            self.control += 1
        else:
            self.sent.append((sql, params, many))
        return execute(sql, params, many, context)


@contextmanager
def counted() -> Iterator[Statements]:
    statements = Statements()
    with connection.execute_wrapper(statements):
        yield statements
