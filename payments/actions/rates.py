"""Keep every price sample, how each source is, and when each asset last had a good price."""

import logging
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from ..models import LastRate, RateSample, RateSourceHealth
from ..prices import may_quote, price
from ..rates import Quotation, Unpriced
from ..registry import methods

log = logging.getLogger(__name__)


def record_samples(source: str, answer: Iterable[Quotation | Unpriced]) -> None:
    """Store what a source answered: each price, and for which symbols it gave none."""
    now, outcomes = timezone.now(), list(answer)
    found = [one for one in outcomes if isinstance(one, Quotation)]
    unpriced = {one.symbol: one.reason for one in outcomes if isinstance(one, Unpriced)}
    with transaction.atomic():
        RateSample.objects.bulk_create(
            RateSample(source=source, symbol=q.symbol, price_e8=q.price_e8, source_at=q.at, received_at=now)
            for q in found
        )
        note_answer(source, unpriced, now)
        note_good_prices({q.symbol for q in found}, now)


def note_answer(source: str, unpriced: dict[str, str], now: datetime) -> None:
    """Write that a source answered; warn in the log when it says something new about what it does not price."""
    health, _ = RateSourceHealth.objects.get_or_create(pk=source)
    for symbol, reason in unpriced.items():
        if symbol not in health.unpriced:
            log.warning("rate source %s gives no price of %s: %s", source, symbol, reason)
    health.last_success_at, health.error, health.unpriced = now, "", unpriced
    health.save(update_fields=["last_success_at", "error", "unpriced"])


def note_good_prices(symbols: set[str], now: datetime) -> None:
    """Write of which of these assets promises can be made now (case 46: a page names the last time when they can't)."""
    stable = {method.asset.symbol for method in methods() if method.asset.stable}
    prices = ((symbol, price(symbol, now)) for symbol in sorted(symbols))
    good = [
        LastRate(symbol=symbol, price_e8=found.price_e8, at=now)
        for symbol, found in prices
        if found and may_quote(symbol in stable, found)
    ]
    LastRate.objects.bulk_create(
        good, update_conflicts=True, unique_fields=["symbol"], update_fields=["price_e8", "at"]
    )


def record_failure(source: str, sentence: str) -> None:
    """Write why a source gave no answer; warn in the log when the reason is new."""
    with transaction.atomic():
        health, _ = RateSourceHealth.objects.get_or_create(pk=source)
        if health.error != sentence:
            log.warning("rate source %s: %s", source, sentence)
        health.error, health.error_at = sentence, timezone.now()
        health.save(update_fields=["error", "error_at"])
