"""Prices of assets, read from the samples that workers stored."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from events.statements import kept_query

from . import quotes
from .models import LastRate, RateSample

NEAR = timedelta(minutes=5)  # so far from a block's time a price still counts as the market's of that time


def price(symbol: str, now: datetime) -> quotes.Price | None:
    """Return the current price of an asset, or none if too few sources are live and agree."""
    guard = rate_guard(symbol)
    return quotes.median(samples(symbol, now - guard.max_age, now + guard.max_age), guard, now=now)


@kept_query
def samples_of(symbol: str, since: datetime, until: datetime) -> QuerySet[RateSample, Any]:
    rows = RateSample.objects.filter(symbol=symbol, received_at__gte=since, received_at__lte=until)
    return rows.values_list("received_at", "source_at", "price_e8", "source")


def prices(symbols: Iterable[str], now: datetime) -> dict[str, quotes.Price | None]:
    """Return the current prices of several assets, in one query."""
    guards = {symbol: rate_guard(symbol) for symbol in symbols}
    age = timedelta(seconds=settings.RATE_MAX_AGE_SECONDS)
    rows = RateSample.objects.filter(symbol__in=guards, received_at__range=(now - age, now + age))
    known: dict[str, list[quotes.Sample]] = {symbol: [] for symbol in guards}
    for row in rows.values_list("symbol", "received_at", "source_at", "price_e8", "source"):
        known[row[0]].append(quotes.Sample(*row[1:]))
    return {symbol: quotes.median(known[symbol], guard, now=now) for symbol, guard in guards.items()}


def price_near(symbol: str, moment: datetime, now: datetime) -> int | None:
    """Return the market price for late money: the price nearest to `moment` within 5 minutes, else today's price."""
    guard = rate_guard(symbol)
    known = samples(symbol, moment - NEAR - guard.max_age, moment + NEAR)
    found = quotes.price_at(known, guard, moment=moment, window=NEAR) or price(symbol, now)
    return found.price_e8 if found else None


def samples(symbol: str, since: datetime, until: datetime) -> list[quotes.Sample]:
    return [quotes.Sample(*row) for row in samples_of(symbol, since, until)]


def rate_guard(symbol: str) -> quotes.Guard:
    """Return what a price of this asset must be. An asset without a sane range has no price."""
    lowest, highest = settings.RATE_SANE_RANGE.get(symbol, ("1", "0"))
    return quotes.Guard(
        max_age=timedelta(seconds=settings.RATE_MAX_AGE_SECONDS),
        quorum=settings.RATE_QUORUM,
        lowest_e8=quotes.e8(lowest),
        highest_e8=quotes.e8(highest),
        apart_basis_points=settings.RATE_APART_BASIS_POINTS,
    )


def may_quote(stable: bool, price: quotes.Price) -> bool:
    """Tell whether new promises may be made at a price: a stablecoin must be worth about a dollar."""
    lowest, highest = settings.STABLE_RANGE
    return not stable or quotes.e8(lowest) <= price.price_e8 <= quotes.e8(highest)


def last_good_at(symbol: str) -> datetime | None:
    """Return when promises could last be made in an asset."""
    row = LastRate.objects.filter(pk=symbol).first()
    return row.at if row else None
