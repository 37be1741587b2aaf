"""The table of sources: what RATE_SOURCES may name."""

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from payments.registry import is_simulated, methods

from .base import Source
from .fixed import FixedSource
from .public import Bitfinex, Bitstamp, Coinbase, CoinGecko, Kraken

PUBLIC = {source.name: source for source in (Kraken, Coinbase, Bitstamp, Bitfinex, CoinGecko)}


def sources() -> list[Source]:
    """Return the sources of this installation, in the order of RATE_SOURCES."""
    symbols = {method.asset.symbol for method in methods()}
    return [FixedSource() if name == FixedSource.name else PUBLIC[name](symbols) for name in settings.RATE_SOURCES]


def check_sources() -> None:
    """Raise ImproperlyConfigured for a choice of sources that could give no price, or one that nobody confirms."""
    names = settings.RATE_SOURCES
    unknown = [name for name in names if name not in (FixedSource.name, *PUBLIC)]
    if unknown:
        raise ImproperlyConfigured(
            f"RATE_SOURCES names {unknown[0]}; there are {', '.join(PUBLIC)}, or {FixedSource.name} alone."
        )
    if names == [FixedSource.name]:
        if not settings.FIXED_RATES:
            raise ImproperlyConfigured("RATE_SOURCES=fixed needs your prices: FIXED_RATES=ETH=3000,USDT=1")
    elif FixedSource.name in names or len(set(names)) < 2:
        raise ImproperlyConfigured(
            "RATE_SOURCES needs at least two public sources, or fixed alone: one price that nobody confirms is none."
        )
    elif settings.FIXED_RATES and not is_simulated():
        raise ImproperlyConfigured("FIXED_RATES is set but not used: add RATE_SOURCES=fixed, or leave FIXED_RATES out.")
    else:
        check_coverage()


def check_coverage() -> None:
    """Raise ImproperlyConfigured if an asset that customers could choose has fewer sources than a price needs."""
    for symbol in sorted({method.asset.symbol for method in methods()}):
        by = [name for name in dict.fromkeys(settings.RATE_SOURCES) if symbol in PUBLIC[name].pairs]
        if len(by) < settings.RATE_QUORUM:
            raise ImproperlyConfigured(
                f"RATE_SOURCES: {symbol} needs {settings.RATE_QUORUM} sources and has {len(by)}; "
                f"{', '.join(name for name, source in PUBLIC.items() if symbol in source.pairs)} price it."
            )
