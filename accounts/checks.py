"""What `manage.py check --deploy` says about accounts."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Warning, register


@register(deploy=True)
def check_staff_gate(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """Warn of an installation with real money whose staff need a password alone."""
    if settings.NETWORKS_KIND != "real" or settings.STAFF_SECOND_FACTOR:
        return []
    hint = "Leave STAFF_SECOND_FACTOR unset: it is on with real networks."
    return [Warning("Staff pages open without a second factor while money is real.", hint=hint, id="accounts.W001")]
