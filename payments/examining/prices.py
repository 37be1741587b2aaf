"""When each source of prices last answered, and whether the sources agree."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from money.units import plain

from ..findings import ATTENTION, BAD, GOOD, Finding
from ..models import RateSourceHealth
from ..prices import prices as current_prices
from ..quotes import Price
from ..registry import methods
from .hush import hush

PRICES = _("Prices")


def prices() -> Iterator[Finding]:
    """Say when each source last answered, and whether the sources agree about each asset."""
    now, known = timezone.now(), RateSourceHealth.objects.in_bulk()
    for name in settings.RATE_SOURCES:
        yield of_source(name, known.get(name), now)
    symbols = sorted({method.asset.symbol for method in methods()})
    for symbol, price in current_prices(symbols, now).items():
        yield of_price(symbol, price)


def of_source(name: str, row: RateSourceHealth | None, now: datetime) -> Finding:
    facts: dict[str, Any] = {"source": name}
    means = _("Prices come from the other sources while enough of them agree; with too few no instructions are made.")
    advice = _("See whether this machine reaches the source by HTTPS. It is asked again by itself.")
    if row is None or row.last_success_at is None:
        error = hush(row.error) if row else ""
        text = _("The source %(source)s has not answered yet. %(error)s")
        return Finding(PRICES, ATTENTION, text, means, advice, facts | {"error": error})
    facts |= {"seconds": round((now - row.last_success_at).total_seconds()), "error": hush(row.error)}
    if row.error or facts["seconds"] > settings.RATE_MAX_AGE_SECONDS:
        text = _("The source %(source)s last answered %(seconds)d seconds ago. %(error)s")
        return Finding(PRICES, ATTENTION, text, means, advice, facts)
    text = _("The source %(source)s answered %(seconds)d seconds ago.")
    return Finding(PRICES, GOOD, text, facts=facts)


def of_price(symbol: str, price: Price | None) -> Finding:
    """Say what an asset is worth, and which sources did not count for it."""
    if price is None:
        return Finding(
            PRICES,
            BAD,
            _("%(symbol)s has no price: too few sources answer and agree."),
            _("Customers get no payment instructions in it; those that were made hold."),
            _("Look at the sources above; a worker asks them again by itself."),
            {"symbol": symbol},
        )
    values = [sample.price_e8 for sample in price.samples]
    apart = (max(values) - min(values)) * 10_000 // price.price_e8
    facts = {
        "symbol": symbol,
        "usd": plain(price.price_e8, 8),
        "count": len(values),
        "apart": f"{apart // 100}.{apart % 100:02d} %",
        "dropped": ", ".join(f"{one.sample.source} ({one.why})" for one in price.dropped),
    }
    if any(one.why != "stale" for one in price.dropped):
        return Finding(
            PRICES,
            ATTENTION,
            _("%(symbol)s: $%(usd)s; sources that agree: %(count)d; not believed: %(dropped)s."),
            _("A source disagrees with the others. The median of those that agree counts."),
            _("If it stays so, leave the source out of RATE_SOURCES."),
            facts,
        )
    text = _("%(symbol)s: $%(usd)s; sources that agree: %(count)d, %(apart)s apart.")
    return Finding(PRICES, GOOD, text, facts=facts)
