"""What every template knows about the installation."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, Any]:
    return {
        "BRAND": settings.BRAND,
        "DEMO": settings.NETWORKS_KIND == "simulated",
        "SUPPORT_CONTACT": settings.SUPPORT_CONTACT,
    }
