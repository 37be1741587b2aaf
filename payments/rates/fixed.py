"""Prices that the operator wrote into the settings: for the demo, tests and private chains."""

from collections.abc import Sequence
from decimal import Decimal

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from .base import E8, HIGHEST, Quotation


class FixedSource:
    name = "fixed"

    def fetch(self) -> Sequence[Quotation]:
        now = timezone.now()
        return [Quotation(symbol, price_e8, now) for symbol, price_e8 in fixed_prices().items()]


def fixed_prices() -> dict[str, int]:
    """Return FIXED_RATES as integers of 10⁻⁸ dollars; ImproperlyConfigured names the one that is no price."""
    prices = {}
    for symbol, text in settings.FIXED_RATES.items():
        try:
            price = Decimal(text) * E8
            valid = price.is_finite() and 0 < price <= HIGHEST * E8 and price == int(price)
        except (ArithmeticError, ValueError):  # no number, or one with an endless exponent
            valid = False
        if not valid:
            raise ImproperlyConfigured(f"FIXED_RATES: {symbol}={text} is not a price in USD above zero.")
        prices[symbol] = int(price)
    return prices
