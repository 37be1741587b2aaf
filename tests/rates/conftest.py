"""An installation that asks several sources: each a server of the test, with an answer that the test can change."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.utils import timezone, translation
from pytest_django.fixtures import Settings
from pytest_httpserver import HTTPServer
from story import Network, make_customer, make_offer, save_order
from werkzeug import Request, Response

from orders.models import Order
from payments.models import PaymentIntent
from payments.rates.public import Bitfinex, Bitstamp, Coinbase, Kraken
from payments.registry import families
from payments.tasks import sample_rates

T0 = datetime(2026, 5, 1, 12, tzinfo=UTC)
NAMES = ("kraken", "coinbase", "bitstamp", "bitfinex")


@dataclass
class Market:
    """Four sources. `prices` are what they all say, `own` what one says otherwise; `down` names those that fail."""

    prices: dict[str, str] = field(default_factory=lambda: {"ETH": "3000", "USDT": "1", "USDC": "1"})
    own: dict[tuple[str, str], str] = field(default_factory=dict)
    down: set[str] = field(default_factory=set)
    delisted: set[tuple[str, str]] = field(default_factory=set)

    def said(self, source: str) -> dict[str, str]:
        known = {symbol: self.own.get((source, symbol), price) for symbol, price in self.prices.items()}
        return {symbol: price for symbol, price in known.items() if (source, symbol) not in self.delisted}

    def sample(self) -> None:
        sample_rates()

    def kraken(self) -> object:
        row = {Kraken.pairs[symbol]: {"a": [p, "1"], "b": [p, "1"]} for symbol, p in self.said("kraken").items()}
        return {"error": [], "result": row}

    def coinbase(self) -> object:
        said = {Coinbase.pairs[s]: p for s, p in self.said("coinbase").items() if s in Coinbase.pairs}
        row = {"status": "online", "trading_disabled": False}
        return {"products": [{"product_id": pair, "price": price, **row} for pair, price in said.items()]}

    def bitstamp(self) -> object:
        now = str(int(timezone.now().timestamp()))
        said = self.said("bitstamp").items()
        return [{"pair": Bitstamp.pairs[s], "bid": p, "ask": p, "timestamp": now} for s, p in said]

    def bitfinex(self) -> object:
        return [[Bitfinex.pairs[s], float(p), 1, float(p), 1] for s, p in self.said("bitfinex").items()]

    def answer(self, request: Request) -> Response:
        name = request.path.split("/")[1]
        if name in self.down:
            return Response("down for maintenance", 503)
        return Response(json.dumps(getattr(self, name)()), content_type="application/json")


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    with translation.override("en"):
        yield


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(T0, tick=False) as coordinates:
        yield coordinates


@pytest.fixture
def market(httpserver: HTTPServer, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Market:
    """Let the installation ask four sources at addresses of the test."""
    settings.RATE_SOURCES, settings.RATE_QUORUM = list(NAMES), 2
    for source in (Kraken, Coinbase, Bitstamp, Bitfinex):
        monkeypatch.setattr(source, "host", httpserver.url_for(f"/{source.name}"))
    made = Market()
    httpserver.expect_request(re.compile("/.*")).respond_with_handler(made.answer)
    return made


@dataclass
class Shop:
    """One customer with orders of $100.00, on the simulated Ethereum, at the prices of a market."""

    network: Network
    market: Market
    clock: time_machine.Traveller
    order: Order

    def wait(self, minutes: float) -> None:
        """Let time pass. Somebody watches the network, nobody asks for prices."""
        self.clock.move_to(timezone.now() + timedelta(minutes=minutes))
        self.network.watch()

    @property
    def intents(self) -> int:
        return PaymentIntent.objects.count()


@pytest.fixture
def shop(clock: time_machine.Traveller, market: Market, settings: Settings, tmp_path: Path, db: None) -> Shop:
    settings.DATA_DIR = tmp_path
    settings.FIXED_RATES = {}
    network = Network().open()
    market.sample()
    return Shop(network, market, clock, save_order(make_customer(), make_offer()))


@pytest.fixture(autouse=True)
def only_ethereum(settings: Settings) -> Iterator[None]:
    """Offer the assets of one network: the market of these stories prices only those."""
    settings.NETWORKS_OFFERED = ["ethereum"]
    families.cache_clear()
    yield
    families.cache_clear()
