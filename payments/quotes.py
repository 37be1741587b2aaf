"""Prices and amounts: values in, value out. USD per whole coin is an integer of 10⁻⁸ dollars ("e8")."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from money.units import round_up

E8_PER_CENT = 10**6
BASIS = 10_000
# A hundred million dollars in one transfer is a fault. It also keeps balances far from what a column holds.
BELIEVED_CENTS = 10**10


@dataclass(frozen=True, slots=True)
class Sample:
    """One price of one source and when we received it."""

    source: str
    price_e8: int
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Price:
    """A price that may be promised, with the samples it came from."""

    price_e8: int
    samples: tuple[Sample, ...]


def median(samples: Sequence[Sample], *, now: datetime, max_age: timedelta, quorum: int) -> Price | None:
    """Return the median of the newest live sample of each source; none if fewer than `quorum` sources are live."""
    newest: dict[str, Sample] = {}
    for sample in sorted(samples, key=lambda s: s.received_at):
        if now - max_age <= sample.received_at <= now + max_age:
            newest[sample.source] = sample
    live = sorted(newest.values(), key=lambda s: s.price_e8)
    if len(live) < max(quorum, 1):
        return None
    middle = (live[(len(live) - 1) // 2].price_e8 + live[len(live) // 2].price_e8) // 2
    return Price(middle, tuple(live))


def with_markup(price_e8: int, basis_points: int) -> int:
    """Return the rate that counts for the customer: the market's, lowered by the markup."""
    return price_e8 * (BASIS - basis_points) // BASIS


def units_for(usd_cents: int, rate_e8: int, decimals: int, shown: int) -> int:
    """Return the amount due in base units, rounded up to `shown` decimals: people type it."""
    exact = -(-usd_cents * E8_PER_CENT * 10**decimals // rate_e8)
    return round_up(exact, decimals, shown)


def cents_for(units: int, rate_e8: int, decimals: int) -> int:
    """Return what so many base units are worth in whole cents, rounded down."""
    scale: int = 10**decimals * E8_PER_CENT
    return units * rate_e8 // scale


def is_dust(units: int, amount: int, usd_cents: int) -> bool:
    """Tell whether so little arrived that it is worth less than a cent at the promised rate."""
    return units * usd_cents < amount


def tolerated_shortfall(amount: int, usd_cents: int, basis_points: int, cap_cents: int) -> int:
    """Return how many base units short still count as whole: the smaller of a share and a sum, at least one cent's
    worth if the due is 20 cents or more, and never more than 5 %."""
    share = amount * basis_points // BASIS
    cap = amount * cap_cents // usd_cents
    cent = amount // usd_cents if usd_cents >= 20 else 0
    return min(max(min(share, cap), cent), amount // 20)
