"""The Celery application. Without Redis its broker is memory://, and `serve` runs worker and beat as threads."""

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("gridlot", changes={"beat_scheduler": "config.beat:Scheduler"})
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def keep_django_logging(**_: Any) -> None:
    """Connecting a receiver stops Celery from replacing Django's LOGGING."""
