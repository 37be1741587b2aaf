"""A site that serves: one for a data folder, alive to a supervisor, gone when asked."""

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

Serve = Callable[..., subprocess.CompletedProcess[str]]


def test_one_site_for_a_data_folder(
    running: Any, serve: Callable[..., subprocess.CompletedProcess[str]], port: int
) -> None:
    ended = serve(running.folder, port)
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert "already serves the data folder" in ended.stderr


def test_health_tells_of_the_embedded_worker(running: Any) -> None:
    for _ in range(100):
        with urlopen(f"http://127.0.0.1:{running.port}/healthz", timeout=5) as answer:
            facts = json.load(answer)
        if facts["worker_seen_seconds_ago"] is not None:
            break
        time.sleep(0.2)
    assert facts["database"] is True
    assert facts["worker_seen_seconds_ago"] < 30


def test_owner_password_is_shown_once(installation: Path, running: Any) -> None:
    first, *others = sorted(installation.parent.glob(f"{installation.name}.*.log"), key=lambda log: log.stat().st_mtime)
    assert "shown only this once" in first.read_text()
    assert not any("shown only this once" in log.read_text() for log in others)


def test_stops_when_asked(running: Any) -> None:
    """The last test of the module, since it ends the site of the others."""
    assert running.stop() == 0
    assert "Traceback" not in running.said()
