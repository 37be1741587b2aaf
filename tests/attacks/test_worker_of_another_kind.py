"""A worker that somebody starts without NETWORKS=real beside a real installation must not do anything there."""

import pytest

from config.tasks import look
from payments.models import Installation

pytestmark = pytest.mark.django_db


def test_demo_worker_refuses_a_real_installation() -> None:
    """It would write the demo's prices, and promises would be made at them."""
    Installation.objects.create(pk=1, kind="real")
    with pytest.raises(SystemExit, match="belong to a real installation"):
        look()


def test_worker_refuses_prices_that_are_none(settings: object) -> None:
    settings.FIXED_RATES = {"ETH": "1e999999"}  # type: ignore[attr-defined]
    with pytest.raises(SystemExit, match="FIXED_RATES"):
        look()
