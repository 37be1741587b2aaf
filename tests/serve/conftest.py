"""`manage.py serve` as a person starts it: another process, a data folder of its own, always on SQLite."""

import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings

BYTES_PER_FILE = 2 << 20  # the size no file may pass while "the disk is full": less than serve wants to write at first
Serve = Callable[..., "subprocess.CompletedProcess[str]"]


def environment(folder: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    return kept | {"DATA_DIR": str(folder)} | more


def limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES_PER_FILE, BYTES_PER_FILE))


@pytest.fixture
def serve(on_sqlite: None) -> Serve:
    """Return a function that starts serve where it must refuse, and returns the ended process."""

    def start(
        folder: Path, port: int, *, disk_is_full: bool = False, **more: str
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "manage.py", "serve", "--bind", f"127.0.0.1:{port}"],
            cwd=settings.BASE_DIR,
            env=environment(folder, **more),
            capture_output=True,
            text=True,
            timeout=60,
            preexec_fn=limit_files if disk_is_full else None,
        )

    return start


@pytest.fixture(scope="session")
def installation(on_sqlite: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data folder of a demo that was served and stopped before."""
    folder = tmp_path_factory.mktemp("installation")
    served = Served(folder, free_port())
    served.wait_until_it_answers()
    assert served.stop() == 0
    return folder


@pytest.fixture(scope="module")
def running(installation: Path) -> "Iterator[Served]":
    """Yield a site that serves all tests of a module."""
    served = Served(installation, free_port())
    try:
        served.wait_until_it_answers()
        yield served
    finally:
        served.stop()


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def contents() -> Callable[[Path], dict[str, object]]:
    """Return a function that reads a data folder: its files, and the rows of its databases."""

    def read(folder: Path) -> dict[str, object]:
        found: dict[str, object] = {}
        for path in sorted(folder.rglob("*")):
            name = str(path.relative_to(folder))
            if path.suffix == ".sqlite3":
                with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
                    found[name] = list(database.iterdump())
            elif path.is_file() and not name.endswith(("-wal", "-shm")):
                found[name] = path.read_bytes()
        return found

    return read


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Served:
    """A site under way."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.log = folder.parent / f"{folder.name}.{port}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "serve", "--demo", "--bind", f"127.0.0.1:{port}"],
                cwd=settings.BASE_DIR,
                env=environment(folder),
                stdout=log,
                stderr=log,
            )

    def wait_until_it_answers(self) -> None:
        for _ in range(300):
            assert self.process.poll() is None, self.said()
            if "Gridlot is at" in self.said():
                return
            time.sleep(0.2)
        pytest.fail(self.said())

    def said(self) -> str:
        return self.log.read_text()

    def stop(self) -> int:
        """Ask it to end and return its exit status; it has ten seconds."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(10)
        finally:
            self.process.kill()
            self.process.wait()
