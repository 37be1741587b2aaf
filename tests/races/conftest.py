"""Every test here is a race: real threads on PostgreSQL, real processes on SQLite."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from together import own_connections

from orders import actions as orders
from orders.models import Order

LOCKED_SECONDS = 0.02


@pytest.fixture(autouse=True)
def _own_connections(transactional_db: None) -> Iterator[None]:
    """Give each thread and process of a race a connection of its own."""
    with own_connections():
        yield


@pytest.fixture
def slow_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everybody dwell a moment on an order they have just locked, so that works which begin together overlap."""
    lock = orders.locked

    def lock_and_dwell(order_id: int) -> Order:
        order = lock(order_id)
        time.sleep(LOCKED_SECONDS)
        return order

    for module in ("orders.actions", "payments.actions.intents", "provisioning.actions"):
        monkeypatch.setattr(f"{module}.locked", lock_and_dwell)


@pytest.fixture
def slow_saving(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everybody dwell a moment between building a new order and saving it."""
    build = orders.snapshot

    def build_and_dwell(*args: Any) -> Order:
        time.sleep(LOCKED_SECONDS)
        return build(*args)

    monkeypatch.setattr("orders.actions.snapshot", build_and_dwell)
