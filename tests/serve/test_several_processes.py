"""Gridlot as it is deployed for real: PostgreSQL, Redis, two web processes, workers and the beat in processes of their
own (`docker-compose.yml`). A message is only a hint: workers die and Redis forgets, and nothing is lost or doubled."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx
import psycopg
import pytest
import redis
from django.conf import settings
from django.db import connection
from psycopg import sql
from serve.conftest import free_port
from visiting import answers, filled, hidden, order, until

CELERY = [sys.executable, "-m", "celery", "-A", "config"]
WORKER = [*CELERY, "worker", "--loglevel", "warning", "--concurrency", "2"]
BEAT = [*CELERY, "beat", "--loglevel", "warning", "--pidfile="]


class Deployment:
    """The processes of one installation, on a database of its own."""

    def __init__(self, folder: Path, database: str, broker: str) -> None:
        self.folder, self.port = folder, free_port()
        self.env = os.environ | {"DATA_DIR": str(folder / "data"), "DATABASE_URL": database, "REDIS_URL": broker}
        self.broker = redis.Redis.from_url(broker)
        self.broker.flushdb()
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, name: str, command: list[str]) -> "subprocess.Popen[bytes]":
        with (self.folder / name).open("ab") as out:
            process = subprocess.Popen(
                command, cwd=settings.BASE_DIR, env=self.env, stdout=out, stderr=out, start_new_session=True
            )
        self.running.append(process)
        return process

    def run(self, *arguments: str) -> str:
        """Run `manage.py` and return what it says."""
        command = [sys.executable, "manage.py", *arguments]
        ended = subprocess.run(command, cwd=settings.BASE_DIR, env=self.env, capture_output=True, text=True, check=True)
        return ended.stdout

    def said(self) -> str:
        return "\n".join(path.read_text() for path in self.folder.iterdir() if path.is_file())

    def stop(self) -> None:
        for process in self.running:
            end(process, signal.SIGTERM)
        for process in self.running:
            try:
                process.wait(30)
            finally:
                end(process, signal.SIGKILL)


def end(process: "subprocess.Popen[bytes]", how: signal.Signals) -> None:
    """Send a signal to a process and its children."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, how)
    if how == signal.SIGKILL:
        process.wait(10)


@pytest.fixture
def database(on_postgresql: None) -> Iterator[str]:
    """Yield the URL of a new, empty database."""
    parts = ("HOST", "PORT", "USER", "PASSWORD")
    at: dict[str, Any] = {name.lower(): connection.settings_dict[name] or None for name in parts}
    name = f"{connection.settings_dict['NAME']}_several"
    with psycopg.connect(dbname="postgres", autocommit=True, **at) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            url = urlsplit(os.environ["DATABASE_URL"])
            yield urlunsplit(url._replace(path=f"/{name}"))
        finally:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def deployment(tmp_path: Path, database: str, redis_url: str) -> Iterator[Deployment]:
    made = Deployment(tmp_path, database, redis_url)
    try:
        yield made
    finally:
        made.stop()
        made.broker.flushdb()


def test_an_order_is_paid_though_workers_die_and_redis_forgets(deployment: Deployment) -> None:
    web = [sys.executable, "manage.py", "serve", "--demo", "--workers", "2", "--bind", f"127.0.0.1:{deployment.port}"]
    deployment.start("web", web)
    base = f"http://127.0.0.1:{deployment.port}"
    with httpx.Client(base_url=base, follow_redirects=True, timeout=20) as site:
        until(lambda: answers(site), deployment.said)
        beat, worker = deployment.start("beat", BEAT), deployment.start("worker", WORKER)
        path = order(site)
        until(lambda: 'value="eth"' in site.get(f"{path}pay/").text, deployment.said)
        page = site.post(f"{path}pay/", data=hidden(site.get(f"{path}pay/")) | {"method": "eth"})
        status = f"{page.url.path}status/"

        end(worker, signal.SIGKILL)
        wallet = f"/demo/wallet/?intent={page.url.path.split('/')[2]}"
        site.post(wallet, data=filled(site.get(wallet)) | {"action": "pay"})
        deployment.broker.flushdb()  # all messages are gone
        worker = deployment.start("worker", WORKER)
        until(lambda: "Confirming" in site.get(status).text, deployment.said)

        end(worker, signal.SIGKILL)
        end(beat, signal.SIGKILL)
        deployment.start("beat", BEAT)
        deployment.start("worker", WORKER)
        deployment.start("another worker", WORKER)
        until(lambda: 'data-provisioning="queued"' in site.get(status).text, deployment.said)
        assert "Paid. An operator prepares your machine." in site.get(path).text
    deployment.run("verifyledger")
