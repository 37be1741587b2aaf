"""Where prices come from. Workers ask sources; pages read the kept samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

E8 = 10**8
HIGHEST = 10**9 * E8  # no coin costs a billion dollars; more would not fit the column either


@dataclass(frozen=True, slots=True)
class Quotation:
    """One price of a whole coin in 10⁻⁸ dollars, and the source's own time."""

    symbol: str
    price_e8: int
    at: datetime


class Source(Protocol):
    """A public source of prices. May raise `payments.networks.base.Unavailable`."""

    name: str

    def fetch(self) -> Sequence[Quotation]:
        """Return the newest prices, outside any transaction."""


class FixedSource:
    """Prices that the operator wrote into the settings: for the demo, tests and private chains."""

    name = "fixed"

    def fetch(self) -> Sequence[Quotation]:
        now = timezone.now()
        return [Quotation(symbol, price_e8, now) for symbol, price_e8 in fixed_prices().items()]


def fixed_prices() -> dict[str, int]:
    """Return FIXED_RATES as integers; ImproperlyConfigured names the one that is no price."""
    prices = {}
    for symbol, text in settings.FIXED_RATES.items():
        try:
            price = Decimal(text) * E8
            valid = price.is_finite() and 0 < price <= HIGHEST and price == int(price)
        except (ArithmeticError, ValueError):  # no number, or one with an endless exponent
            valid = False
        if not valid:
            raise ImproperlyConfigured(f"FIXED_RATES: {symbol}={text} is not a price in USD above zero.")
        prices[symbol] = int(price)
    return prices


def sources() -> list[Source]:
    """Return the sources of this installation."""
    return [FixedSource()]
