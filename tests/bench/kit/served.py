"""Two sites behind gunicorn as `manage.py serve` sets it up, each in processes of its own: Gridlot's and the floor.

`Served` starts one, asks it over HTTP, and knows the processor time of its processes. Gridlot's runs no tasks, which
would be measured with the requests.
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db import connection as database

from config.serving import gunicorn_settings

from .asking import TOKEN, Answer

START_SECONDS = 60
SITE, FLOOR = "config.wsgi", "bench.servers.floor"


@dataclass
class Served:
    """A site that runs. A request takes a connection of its own, as in the measurements that the bounds come from."""

    pid: int
    port: int

    def get(self, path: str, cookies: str = "", **headers: str) -> Answer:
        return self._ask("GET", path, b"", {"Cookie": cookies, **headers})

    def post(self, path: str, cookies: str = "", **form: str) -> Answer:
        """Send a form as a browser does."""
        body = urlencode({"csrfmiddlewaretoken": TOKEN, **form}).encode()
        cookies = f"{settings.CSRF_COOKIE_NAME}={TOKEN}; {cookies}"
        return self._ask("POST", path, body, {"Cookie": cookies, "Content-Type": "application/x-www-form-urlencoded"})

    def _ask(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def seconds(self) -> float:
        """Return the processor seconds of all threads of its processes, to the nanosecond."""
        return sum(
            int(path.read_text().split()[0]) / 1e9
            for pid in (self.pid, *children(self.pid))
            for path in Path(f"/proc/{pid}/task").glob("*/schedstat")
        )


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextmanager
def site() -> Iterator[Served]:
    """Serve Gridlot on the database of this process."""
    with running(SITE, {}, warm="/healthz") as served:
        yield served


@contextmanager
def floor() -> Iterator[Served]:
    """Make the floor's tables in the database of this process and serve it."""
    environment = {"FLOOR_DATABASE": json.dumps(floor_database())}
    subprocess.run([sys.executable, "-m", FLOOR], env=os.environ | environment, check=True)
    with running(FLOOR, environment, warm="/hello") as served:
        yield served


def floor_database() -> dict[str, Any]:
    """Return the floor's settings of this database: only where it is; on SQLite also how it writes, which must be as
    safe as ours."""
    given = database.settings_dict
    named = {name: given[name] for name in ("ENGINE", "NAME", "USER", "PASSWORD", "HOST", "PORT")}
    return named | ({"OPTIONS": given["OPTIONS"]} if database.vendor == "sqlite" else {})


@contextmanager
def running(module: str, environment: dict[str, str], *, warm: str) -> Iterator[Served]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    how = gunicorn_settings(f"127.0.0.1:{port}", 1, embedded=False)
    command = [sys.executable, "-m", "bench.servers.start", module, json.dumps(how)]
    process = subprocess.Popen(command, env=os.environ | environment)
    try:
        served = Served(process.pid, port)
        wait_for(served, process, warm)
        yield served
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def wait_for(served: Served, process: subprocess.Popen[bytes], warm: str) -> None:
    """Ask until it answers, and then as often as makes every thread load all."""
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            answer = served.get(warm)
            break
        except OSError:
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("the server did not start") from None
            time.sleep(0.1)
    if answer.status != HTTPStatus.OK:
        raise RuntimeError(f"{warm}: {answer.status}")
