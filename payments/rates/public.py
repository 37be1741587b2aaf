"""Public sources, asked without a key: one request each for all symbols, and pairs against US dollars only.

No source is here whose prices are in a stablecoin, such as Binance's: to turn them into dollars one needs the price of
that stablecoin from the others, and a source that leans on the others is none of its own. Bitfinex trades against
dollars, stablecoins too. For the same reason Coinbase is not asked for USDC, which it takes for a dollar.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, ClassVar

from django.utils import timezone

from payments.networks.base import BadAnswer, Unavailable

from .base import NoPrice, Quotation, Unpriced, decimal_of, in_e8, middle
from .reading import read_json

Priced = tuple[Decimal, datetime | None]  # USD for a whole coin, and the source's own time if it names one


class PublicSource(ABC):
    """One request, one row for each pair. `pairs` names the symbols that the source lists, in its own words."""

    name: ClassVar[str]
    host: ClassVar[str]
    pairs: ClassVar[Mapping[str, str]]

    def __init__(self, symbols: Collection[str], host: str = "") -> None:
        """Ask for these symbols, so far as the source lists them; of another `host` in tests."""
        self.wanted = {symbol: pair for symbol, pair in self.pairs.items() if symbol in symbols}
        self.base = host or self.host

    def fetch(self) -> Sequence[Quotation | Unpriced]:
        """Return a price or a reason for each wanted symbol; `Unavailable` or `BadAnswer` if the answer is none."""
        rows = self.rows() if self.wanted else {}
        now = timezone.now()
        return [self.outcome(symbol, rows.get(pair), now) for symbol, pair in self.wanted.items()]

    def outcome(self, symbol: str, row: Any, now: datetime) -> Quotation | Unpriced:
        if row is None:
            return Unpriced(symbol, f"the pair {self.wanted[symbol]} is not listed")
        try:
            price, at = self.priced(row)
            return Quotation(symbol, in_e8(price), at or now)
        except NoPrice as error:
            return Unpriced(symbol, str(error))
        except (LookupError, TypeError, AttributeError):
            return Unpriced(symbol, "the answer holds no price")

    def ask(self, path: str) -> Any:
        return read_json(self.name.capitalize(), self.base + path)

    @abstractmethod
    def rows(self) -> Mapping[str, Any]:
        """Ask, and return what was said about each pair."""

    @abstractmethod
    def priced(self, row: Any) -> Priced:
        """Return the price in a row; NoPrice or the errors of looking into it if there is none."""


class Kraken(PublicSource):
    """https://docs.kraken.com/api/docs/rest-api/get-ticker-information: arrays [price, …] `a` ask and `b` bid."""

    name = "kraken"
    host = "https://api.kraken.com"
    pairs = {
        "BTC": "XXBTZUSD",
        "LTC": "XLTCZUSD",
        "ETH": "XETHZUSD",
        "USDT": "USDTZUSD",
        "USDC": "USDCUSD",
        "TRX": "TRXUSD",
        "SOL": "SOLUSD",
    }
    UNKNOWN = "EQuery:Unknown asset pair"

    def rows(self) -> Mapping[str, Any]:
        """One pair that is gone spoils the answer for all others; then ask for every pair there is."""
        answer = self.told("?pair=" + ",".join(self.wanted.values()))
        if self.UNKNOWN in answer["error"]:
            answer = self.told("")
        if answer["error"]:
            raise Unavailable(f"Kraken refused: {answer['error']!s:.200}")
        return rows_of(answer.get("result"), "Kraken")

    def told(self, query: str) -> dict[str, Any]:
        answer = self.ask(f"/0/public/Ticker{query}")
        if not isinstance(answer, dict) or not isinstance(answer.get("error"), list):
            raise BadAnswer("Kraken's answer has no list of errors.")
        return answer

    def priced(self, row: Any) -> Priced:
        return middle(row["b"][0], row["a"][0]), None


class Coinbase(PublicSource):
    """https://docs.cdp.coinbase.com/api-reference/advanced-trade-api: the public list of products."""

    name = "coinbase"
    host = "https://api.coinbase.com"
    pairs = {"BTC": "BTC-USD", "LTC": "LTC-USD", "ETH": "ETH-USD", "USDT": "USDT-USD", "SOL": "SOL-USD"}

    def rows(self) -> Mapping[str, Any]:
        query = "&".join(f"product_ids={pair}" for pair in self.wanted.values())
        answer = self.ask(f"/api/v3/brokerage/market/products?{query}")
        return rows_by(answer.get("products") if isinstance(answer, dict) else None, "product_id", "Coinbase")

    def priced(self, row: Any) -> Priced:
        """A product that is switched off keeps its last price: that is none of today's."""
        if row["status"] != "online" or row["trading_disabled"] is not False:
            raise NoPrice(f"the pair {row['product_id']} is not traded now")
        return decimal_of(row["price"]), None


class Bitstamp(PublicSource):
    """https://www.bitstamp.net/api/: all tickers at once, each with the second it was made."""

    name = "bitstamp"
    host = "https://www.bitstamp.net"
    pairs = {
        "BTC": "BTC/USD",
        "LTC": "LTC/USD",
        "ETH": "ETH/USD",
        "USDT": "USDT/USD",
        "USDC": "USDC/USD",
        "SOL": "SOL/USD",
    }

    def rows(self) -> Mapping[str, Any]:
        return rows_by(self.ask("/api/v2/ticker/"), "pair", "Bitstamp")

    def priced(self, row: Any) -> Priced:
        return middle(row["bid"], row["ask"]), moment_of(row["timestamp"])


class Bitfinex(PublicSource):
    """https://docs.bitfinex.com/reference/rest-public-tickers: arrays [pair, bid, size, ask, …]. UST is USDT there."""

    name = "bitfinex"
    host = "https://api-pub.bitfinex.com"
    pairs = {
        "BTC": "tBTCUSD",
        "LTC": "tLTCUSD",
        "ETH": "tETHUSD",
        "USDT": "tUSTUSD",
        "USDC": "tUDCUSD",
        "TRX": "tTRXUSD",
        "SOL": "tSOLUSD",
    }

    def rows(self) -> Mapping[str, Any]:
        return rows_by(self.ask("/v2/tickers?symbols=" + ",".join(self.wanted.values())), 0, "Bitfinex")

    def priced(self, row: Any) -> Priced:
        return middle(row[1], row[3]), None


class CoinGecko(PublicSource):
    """https://docs.coingecko.com/reference/simple-price: averages over many markets, made about once a minute."""

    name = "coingecko"
    host = "https://api.coingecko.com"
    pairs = {
        "BTC": "bitcoin",
        "LTC": "litecoin",
        "ETH": "ethereum",
        "USDT": "tether",
        "USDC": "usd-coin",
        "TRX": "tron",
        "SOL": "solana",
    }

    def rows(self) -> Mapping[str, Any]:
        ids = ",".join(self.wanted.values())
        query = f"ids={ids}&vs_currencies=usd&include_last_updated_at=true&precision=full"
        return rows_of(self.ask(f"/api/v3/simple/price?{query}"), "CoinGecko")

    def priced(self, row: Any) -> Priced:
        return decimal_of(row["usd"]), moment_of(row["last_updated_at"])


def rows_of(table: Any, source: str) -> Mapping[str, Any]:
    """Return a JSON object of rows; BadAnswer if it is none, or if it holds none: an error can look like that."""
    if not isinstance(table, dict) or not table:
        raise BadAnswer(f"{source}'s answer has no table of prices.")
    return table


def rows_by(rows: Any, key: str | int, source: str) -> Mapping[str, Any]:
    """Return a JSON list of rows by the value that names each; BadAnswer if there is no such row."""
    try:
        return rows_of({str(row[key]): row for row in rows}, source)
    except (LookupError, TypeError) as error:
        raise BadAnswer(f"{source}'s answer has no list of prices.") from error


def moment_of(seconds: object) -> datetime:
    """Return a time given in seconds since 1970; NoPrice if it is none."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | str):
        raise NoPrice("the price has no time")
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise NoPrice(f"{seconds!s:.40} is no time") from error
