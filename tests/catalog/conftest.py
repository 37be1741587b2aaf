from collections.abc import Callable
from typing import Any

import pytest

from catalog.models import Offer, Price

FACTS: dict[str, Any] = {
    "vendor": "NVIDIA",
    "architecture": "Ada",
    "memory_gb": 24,
    "memory_type": "GDDR6X",
    "bandwidth_gbps": 1008,
    "board_power_w": 450,
    "backend": "CUDA",
    "lots": 5,
}


@pytest.fixture
def make_offer(db: None) -> Callable[..., Offer]:
    """Make an offer with prices of 10, 20 and 60 dollars; say what differs."""

    def make(name: str = "RTX 4090", **facts: Any) -> Offer:
        slug = name.lower().replace(" ", "-")
        offer = Offer.objects.create(**(FACTS | {"name": name, "slug": slug} | facts))
        for term, cents in ((3, 1000), (7, 2000), (30, 6000)):
            Price.objects.create(offer=offer, term_days=term, unit_price_cents=cents)
        return offer

    return make


@pytest.fixture
def rtx(make_offer: Callable[..., Offer]) -> Offer:
    return make_offer()


@pytest.fixture
def b200(make_offer: Callable[..., Offer]) -> Offer:
    return make_offer("B200", architecture="Blackwell", memory_gb=180, cards_per_lot=2, lots=4)
