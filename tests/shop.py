"""A shop at a standing clock: a test says when time passes, when blocks come and when somebody looks."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.utils import timezone, translation
from pytest_django.fixtures import Settings
from story import Network, ask, make_customer, make_offer, save_order

from accounts.models import User
from balance.queries import available_cents
from catalog.models import Offer
from events.relay import drain
from orders.models import Order
from orders.tasks import end_holds
from payments.models import PaymentIntent

T0 = datetime(2026, 5, 1, 12, tzinfo=UTC)


@dataclass
class Shop:
    """One customer, one offer at $100.00 a lot, and the simulated Ethereum."""

    network: Network
    clock: time_machine.Traveller
    customer: User
    offer: Offer

    def order(self, lots: int = 1) -> Order:
        order: Order = save_order(self.customer, self.offer, lots=lots)
        return order

    def ask(self, order: Order, code: str = "eth") -> PaymentIntent:
        """Ask for instructions at a fresh price, with the network just looked at."""
        self.network.price()
        self.network.watch()
        intent: PaymentIntent = ask(order, code)
        return intent

    def wait(self, minutes: float) -> None:
        """Let time pass; nothing else happens."""
        self.clock.move_to(timezone.now() + timedelta(minutes=minutes))

    def block(self, blocks: int = 1) -> None:
        """Mine, look, deliver."""
        self.network.mine(blocks)
        drain()

    def end_of(self, intent: PaymentIntent, *, plus: float = 1) -> None:
        """Go to so many minutes after the promise's end, with a block there that was read."""
        self.clock.move_to(intent.expires_at + timedelta(minutes=plus))
        self.block()

    def look_at_holds(self) -> None:
        end_holds()

    def balance(self) -> int:
        return available_cents(self.customer)

    def free(self) -> int:
        self.offer.refresh_from_db()
        return self.offer.available_lots


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(T0, tick=False) as coordinates:
        yield coordinates


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Give each test its own active language: a page in another one leaves it behind."""
    with translation.override("en"):
        yield


@pytest.fixture
def network(clock: time_machine.Traveller, settings: Settings, tmp_path: Path, db: None) -> Network:
    """Return the simulated network of an installation that was born at T0."""
    settings.DATA_DIR = tmp_path
    return Network().open()


@pytest.fixture
def shop(network: Network, clock: time_machine.Traveller) -> Shop:
    return Shop(network, clock, make_customer(), make_offer())
