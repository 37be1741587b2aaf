"""Workers know each timer and each task that a page nudges: one that they do not know is logged and thrown away."""

import re
from importlib import import_module
from pathlib import Path

from config.celery import app
from config.schedule import SCHEDULE

ROOT = Path(__file__).parents[2]
NAME = re.compile(r'"(\w+\.tasks\.\w+)"')


def test_workers_know_every_task_that_is_named() -> None:
    import_module("config.tasks")
    app.autodiscover_tasks(force=True)
    named = {entry["task"] for entry in SCHEDULE.values()}
    for app_folder in ROOT.glob("*/apps.py"):
        for module in app_folder.parent.rglob("*.py"):
            named |= set(NAME.findall(module.read_text()))
    assert named and not named - set(app.tasks)
