"""Run a benchmark once per database, each time in a process of its own: on a new SQLite file, and on a new database of
PostgreSQL if a server is there (TEST_DATABASE_URL names another than the local one)."""

import json
import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
from django.core.management import call_command
from psycopg import sql
from suite import FOREIGN, postgresql

from payments.installation import birth

from .report import Check, Result, arguments, finish, show

HERE = "GRIDLOT_BENCH_HERE"  # in the child: the file for what it found
Measure = Callable[[Namespace], Result]


def run(name: str, measure: Measure, **options: tuple[Any, str]) -> int:
    """Measure on each database, or on the one that --database names, print and write what was found; return the exit
    status. The script is started again for each, with the same arguments. `options`: name=(default, help)."""
    given = arguments(name, database=("", "only this one: SQLite or PostgreSQL"), **options)
    if path := os.environ.get(HERE):
        return measure_here(measure, given, Path(path))
    results = {}
    for title, environment in each():
        if given.database in ("", title):
            results[title] = in_child(environment)
            show(f"{name} on {title}", results[title])
    return finish(name, results, given.json)


def measure_here(measure: Measure, given: Namespace, path: Path) -> int:
    call_command("migrate", interactive=False, verbosity=0)
    birth()
    path.write_text(json.dumps(measure(given).as_json()))
    return 0


def in_child(environment: dict[str, str]) -> Result:
    """Start this script again on one database and return what it found."""
    with tempfile.TemporaryDirectory(prefix="gridlot-bench-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "found.json"
        clean = {name: value for name, value in os.environ.items() if name.removesuffix("_FILE") not in FOREIGN}
        clean |= {"DATA_DIR": f"{folder}/data", HERE: str(path), **environment}
        subprocess.run([sys.executable, *sys.argv], env=clean, check=True)
        found = json.loads(path.read_text())
    return Result(found["rows"], [Check(**check) for check in found["checks"]])


def each() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name of each database and the settings that lead to it."""
    yield "SQLite", {}
    missing: list[str] = []
    with postgresql(missing) as url:
        if url:
            with new_database(url):
                yield "PostgreSQL", {"DATABASE_URL": url}
        else:
            print(f"\nNot measured: {missing[0]}", flush=True)


@contextmanager
def new_database(url: str) -> Iterator[None]:
    """Make the database that a URL names, and drop it afterwards with all copies whose names begin alike."""
    name = urlsplit(url).path.lstrip("/")
    with psycopg.connect(urlunsplit(urlsplit(url)._replace(path="/postgres")), autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield
        finally:
            for (one,) in server.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [name]):
                server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(one)))
