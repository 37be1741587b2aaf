"""Both databases take their turn at once: what a person reads is whole and in order, and a stop leaves nothing behind.

Each story runs tests/suite.py for real, on a folder of tests of its own.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from django.conf import settings

pytestmark = pytest.mark.usefixtures("on_postgresql")
CONFTEST = """
import json, os, pathlib

def pytest_terminal_summary(terminalreporter):
    counts = {name: len(terminalreporter.stats.get(name, ())) for name in ("passed", "failed", "skipped")}
    pathlib.Path(os.environ["GRIDLOT_COUNTS"]).write_text(json.dumps(counts))
"""
HEAD = """
import os, pathlib, subprocess, sys, time
import psycopg, pytest

VENDOR = "postgresql" if "DATABASE_URL" in os.environ else "sqlite"
FOLDER = pathlib.Path(__file__).parent
"""
MEETING = """
def test_both_are_here_at_once():
    (FOLDER / VENDOR).touch()
    give_up = time.monotonic() + 60
    while not all((FOLDER / name).exists() for name in ("sqlite", "postgresql")):
        assert time.monotonic() < give_up, "alone"
        time.sleep(0.02)
"""
WAITING = """
@pytest.fixture
def server():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    server, _, name = os.environ.get("DATABASE_URL", "").rpartition("/")
    if name:
        with psycopg.connect(f"{server}/postgres", autocommit=True) as made:
            made.execute(f"CREATE DATABASE test_{name}")
    (FOLDER / f"{VENDOR}.new").write_text(f"{os.getpid()} {child.pid} {name}")
    (FOLDER / f"{VENDOR}.new").rename(FOLDER / f"{VENDOR}.pids")
    yield
    child.kill()
    child.wait()
    with (FOLDER / "cleaned").open("a") as cleaned:
        cleaned.write(f"{VENDOR}\\n")

def test_that_waits(server):
    time.sleep(600)
"""
Suite = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def suite(tmp_path: Path) -> Iterator[Suite]:
    """Yield a function that starts the suite on one file of tests. It is nobody's terminal, as in CI."""

    def start(tests: str, *arguments: str, **more: str) -> "subprocess.Popen[str]":
        (tmp_path / "pytest.ini").touch()
        (tmp_path / "conftest.py").write_text(CONFTEST)
        (tmp_path / "test_told.py").write_text(HEAD + tests)
        plain = {
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "GRIDLOT_CI": "",
            "TEST_DATABASE_URL": os.environ["DATABASE_URL"],
        }
        return subprocess.Popen(
            [sys.executable, "tests/suite.py", "-c", str(tmp_path / "pytest.ini"), str(tmp_path), *arguments],
            cwd=settings.BASE_DIR,
            env=os.environ | plain | more,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=deaf_to_interrupts,
        )

    yield start
    for note in tmp_path.glob("*.pids"):  # what a failed story left
        for pid in note.read_text().split(" ")[:2]:
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def deaf_to_interrupts() -> None:
    """Be like a background job of a script, which is how some run the tests."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def said(running: "subprocess.Popen[str]") -> tuple[int, list[str]]:
    out, _ = running.communicate(timeout=120)
    return running.returncode, out.splitlines()


def test_both_run_at_once_and_are_shown_one_after_the_other(suite: Suite) -> None:
    status, lines = said(suite(MEETING, "-v", GRIDLOT_SIDE_BY_SIDE="1"))
    assert (status, lines[-1]) == (0, "2 passed, 0 failed, 0 skipped")
    told = [line for line in lines if line.startswith("== ") or "PASSED" in line]
    assert told[0] == "== SQLite (PostgreSQL beside it, shown after it)"
    assert "at_once PASSED" in told[1]
    assert told[2] == "== PostgreSQL"
    assert "at_once PASSED" in told[3]


def test_one_after_the_other_where_that_is_asked_for(suite: Suite) -> None:
    alone = "def test_nobody_else(): (FOLDER / 'here').mkdir(); time.sleep(0.5); (FOLDER / 'here').rmdir()\n"
    status, lines = said(suite(alone, GRIDLOT_SIDE_BY_SIDE="0"))
    assert (status, lines[-1]) == (0, "2 passed, 0 failed, 0 skipped")
    assert "== SQLite" in lines and "== PostgreSQL" in lines


@pytest.mark.parametrize("bad", ["sqlite", "postgresql"])
def test_a_failure_in_either_fails_the_whole_and_is_told_to_its_end(suite: Suite, bad: str) -> None:
    tests = f"""
import atexit
atexit.register((FOLDER / f"{{VENDOR}}.ended").touch)

def test_that_fails_on_one():
    give_up = time.monotonic() + 60
    while VENDOR != "{bad}" and not (FOLDER / "{bad}.ended").exists():  # either may end first
        assert time.monotonic() < give_up
        time.sleep(0.02)
    print("x" * 200_000)
    print("the last words of", VENDOR)
    assert VENDOR != "{bad}"

def test_that_passes(): pass
"""
    status, lines = said(suite(tests, GRIDLOT_SIDE_BY_SIDE="1"))
    assert (status, lines[-1]) == (1, "3 passed, 1 failed, 0 skipped")
    assert sum(len(line) == 200_000 for line in lines) == 1
    assert f"the last words of {bad}" in lines
    assert sum("1 failed, 1 passed" in line for line in lines) == 1
    assert sum("= 2 passed" in line for line in lines) == 1


def test_one_that_dies_is_a_failure_and_the_other_goes_on(suite: Suite) -> None:
    tests = "def test_that_dies():\n    if VENDOR == 'postgresql': os._exit(9)\n"
    status, lines = said(suite(tests, GRIDLOT_SIDE_BY_SIDE="1"))
    assert (status, lines[-1]) == (1, "1 passed, 1 failed, 0 skipped")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_whoever_stops_it_stops_both_once_and_nothing_is_left(suite: Suite, tmp_path: Path, number: int) -> None:
    running = suite(WAITING, GRIDLOT_SIDE_BY_SIDE="1")
    notes = [wait_for(tmp_path / f"{vendor}.pids").split(" ") for vendor in ("sqlite", "postgresql")]
    os.killpg(running.pid, number)  # as a terminal does: everybody in its group
    status, lines = said(running)
    assert status == 130
    assert sorted((tmp_path / "cleaned").read_text().split()) == ["postgresql", "sqlite"]
    assert sum("KeyboardInterrupt" in line and "!!!" in line for line in lines) == 2, lines
    assert "Stopped." in lines
    assert not any(alive(int(pid)) for pids in notes for pid in pids[:2])
    with psycopg.connect(os.environ["DATABASE_URL"].rpartition("/")[0] + "/postgres") as server:
        left = server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [f"test_{notes[1][2]}"]).fetchone()
    assert left is None


def test_a_terminal_stops_the_one_that_runs_alone(suite: Suite, tmp_path: Path) -> None:
    running = suite(WAITING, GRIDLOT_SIDE_BY_SIDE="0")
    pids = wait_for(tmp_path / "sqlite.pids").split(" ")[:2]
    os.killpg(running.pid, signal.SIGINT)
    status, lines = said(running)
    assert (status, lines[-1]) == (130, "0 passed, 0 failed, 0 skipped")
    assert (tmp_path / "cleaned").read_text() == "sqlite\n"
    assert not any(alive(int(pid)) for pid in pids)
    assert "== PostgreSQL" not in lines


def wait_for(note: Path) -> str:
    for _ in range(3000):
        if note.exists():
            return note.read_text()
        time.sleep(0.02)
    pytest.fail(f"{note.name} never came")


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
