"""The application that knows all others: it runs what must be true after every migrate."""

from typing import Any

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate


class GridlotConfig(AppConfig):
    name = "config"
    label = "gridlot"

    def ready(self) -> None:
        post_migrate.connect(ensure, sender=apps.get_app_config("journal"), dispatch_uid="gridlot.ensure")


def ensure(using: str, **_: Any) -> None:
    """Run every idempotent `ensure` step; each may run at any time and again."""
    from . import after_migrate  # models are loaded only now

    after_migrate.run(using)
