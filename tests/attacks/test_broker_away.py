"""Redis is away, or worse: it accepts and says nothing. Pages go on."""

import socket
import time
from collections.abc import Iterator

import pytest
from celery import current_app
from django.core.cache import caches
from kombu.connection import Connection
from pytest_django.fixtures import Settings
from redis import RedisError
from story import give, make_customer, make_offer, save_order

from config.settings import REDIS_OPTIONS
from payments.actions.intents import pay_from_balance


@pytest.fixture
def silent() -> Iterator[int]:
    """Return the port of a server that accepts connections and never answers."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(16)
        yield int(server.getsockname()[1])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("refuses", [True, False])
def test_paying_from_the_balance_does_not_wait(silent: int, refuses: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    port = 1 if refuses else silent
    monkeypatch.setattr(current_app, "connection_for_write", lambda: Connection(f"redis://127.0.0.1:{port}/0"))  # type: ignore[no-untyped-call]
    customer = make_customer()
    order = save_order(customer, make_offer())
    give(customer, order.total_cents)
    start = time.monotonic()
    assert pay_from_balance(order.pk, actor=customer).payment == "paid"
    assert time.monotonic() - start < 3


def test_cache_does_not_wait_for_ever(silent: int, settings: Settings) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": f"redis://127.0.0.1:{silent}/0",
            "OPTIONS": REDIS_OPTIONS,
        }
    }
    start = time.monotonic()
    with pytest.raises(RedisError):
        caches["default"].get("anything")
    assert time.monotonic() - start < 5
