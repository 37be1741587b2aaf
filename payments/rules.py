"""The numbers of the rules, for the words that pages say before somebody pays: from the places that decide by them."""

from dataclasses import dataclass

from django.conf import settings

from .queries import tolerance
from .registry import Method
from .standing import FAIR_BAND, FAIR_SHARE, LOCKED_SHARE


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for one method: shares in percent, times in minutes, sums in cents."""

    tolerated_percent: float
    tolerated_cents: int
    promised_percent: int
    fair_minutes: int
    fair_percent: int
    other_asset_cents: int
    unpromised_cents: int
    minutes: int
    exchange_minutes: int


def rules_of(method: Method) -> Rules:
    share, cap = tolerance(method)
    return Rules(
        tolerated_percent=share / 100,
        tolerated_cents=cap,
        promised_percent=percent(LOCKED_SHARE),
        fair_minutes=int(FAIR_BAND.total_seconds()) // 60,
        fair_percent=percent(FAIR_SHARE),
        other_asset_cents=settings.OTHER_ASSET_LIMIT_CENTS,
        unpromised_cents=settings.UNPROMISED_LIMIT_CENTS,
        minutes=settings.INTENT_MINUTES[method.volatility],
        exchange_minutes=settings.INTENT_MINUTES["exchange"],
    )


def percent(share: tuple[int, int]) -> int:
    return 100 * share[0] // share[1]
