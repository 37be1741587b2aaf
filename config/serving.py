"""How gunicorn serves the site: one table, for `manage.py serve` and for the benchmarks that measure behind it."""

from typing import Any

THREADS = 8
STOP_SECONDS = 8  # then the worker process is ended; with the tasks' own part it stays below the ten of a supervisor


def gunicorn_settings(bind: str, workers: int, *, embedded: bool) -> dict[str, Any]:
    """Return gunicorn's settings; `embedded`: the tasks run in the worker process, which then never begins anew."""
    return {
        "bind": bind,
        "workers": workers,
        "threads": THREADS,
        "worker_class": "gthread",
        "timeout": 60,
        "graceful_timeout": STOP_SECONDS,
        "max_requests": 0 if embedded else 10_000,
        "max_requests_jitter": 1_000,
        "loglevel": "warning",
        "control_socket_disable": True,
    }
