"""A desk beside the shop of the payment tests: one customer, orders, the simulated Ethereum, and the staff."""

from collections.abc import Callable
from typing import Any

import pytest
from desk import Desk
from shop import clock, english, network, shop

__all__ = ["clock", "english", "network", "shop"]


@pytest.fixture
def desk(shop: Any) -> Desk:
    return Desk()


@pytest.fixture
def desk_of(shop: Any) -> Callable[[str], Desk]:
    return Desk
