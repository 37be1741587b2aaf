"""Prices and amounts: values in, value out. USD per whole coin is an integer of 10⁻⁸ dollars ("e8")."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from money.units import round_up

E8 = 10**8
E8_PER_CENT = 10**6
BASIS = 10_000
# A hundred million dollars in one transfer is a fault. It also keeps balances far from what a column holds.
BELIEVED_CENTS = 10**10


@dataclass(frozen=True, slots=True, order=True)
class Sample:
    """One price of one source, when we received it, and when the source says it was made."""

    received_at: datetime
    source_at: datetime
    price_e8: int
    source: str


@dataclass(frozen=True, slots=True)
class Guard:
    """What a sample must be to count, and how many sources must agree. Prices in 10⁻⁸ dollars, both ends included."""

    max_age: timedelta
    quorum: int
    lowest_e8: int
    highest_e8: int
    apart_basis_points: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """A sample that did not count. `why` is "stale", "insane" (no price this asset can have) or "outlier"."""

    sample: Sample
    why: str


@dataclass(frozen=True, slots=True)
class Price:
    """A price that may be promised, with the samples it came from and those that did not count."""

    price_e8: int
    samples: tuple[Sample, ...]
    dropped: tuple[Dropped, ...] = ()


def median(samples: Iterable[Sample], guard: Guard, *, now: datetime) -> Price | None:
    """Return the median of the sources' newest samples, those too far from it left out; none if too few agree.

    A source counts by its newest sample only: one that has just said nonsense is not believed for what it said before.
    """
    newest = {sample.source: sample for sample in sorted(samples)}
    faults = {source: fault(sample, guard, now) for source, sample in newest.items()}
    live = [sample for source, sample in newest.items() if not faults[source]]
    if not live:
        return None
    centre = middle(live)
    kept = [s for s in live if abs(s.price_e8 - centre) * BASIS <= guard.apart_basis_points * centre]
    if len(kept) < max(guard.quorum, 1):
        return None
    dropped = [Dropped(s, faults[s.source] or "outlier") for s in newest.values() if s not in kept]
    return Price(middle(kept), by_price(kept), tuple(sorted(dropped, key=lambda d: d.sample.source)))


def fault(sample: Sample, guard: Guard, now: datetime) -> str:
    """Return why a sample can't count, whatever the others say; "" if it can. A clock may be a little ahead of ours."""
    times = (sample.received_at, sample.source_at)
    if not all(abs(now - moment) <= guard.max_age for moment in times):
        return "stale"
    return "" if guard.lowest_e8 <= sample.price_e8 <= guard.highest_e8 else "insane"


def middle(samples: Sequence[Sample]) -> int:
    """Return the median price of at least one sample; between two, the middle rounded down."""
    prices = sorted(sample.price_e8 for sample in samples)
    return (prices[(len(prices) - 1) // 2] + prices[len(prices) // 2]) // 2


def by_price(samples: Iterable[Sample]) -> tuple[Sample, ...]:
    return tuple(sorted(samples, key=lambda s: (s.price_e8, s.source)))


def price_at(samples: Sequence[Sample], guard: Guard, *, moment: datetime, window: timedelta) -> Price | None:
    """Return the price that held nearest to a moment, at most `window` away: what the sources together said then, under
    the same guard as today's price; none if they never agreed in that time."""
    times = {s.received_at for s in samples if abs(s.received_at - moment) <= window}
    for time in sorted(times, key=lambda t: (abs(t - moment), t)):
        found = median([s for s in samples if s.received_at <= time], guard, now=time)
        if found:
            return found
    return None


def e8(usd: str) -> int:
    """Return dollars of the settings in 10⁻⁸ dollars."""
    return int(Decimal(usd) * E8)


def with_markup(price_e8: int, basis_points: int) -> int:
    """Return the rate that counts for the customer: the market's, lowered by the markup."""
    return price_e8 * (BASIS - basis_points) // BASIS


def units_for(usd_cents: int, rate_e8: int, decimals: int, shown: int) -> int:
    """Return the amount due in base units, rounded up to `shown` decimals: people type it."""
    exact = -(-usd_cents * E8_PER_CENT * 10**decimals // rate_e8)
    return round_up(exact, decimals, shown)


def units_worth(usd_cents: int, rate_e8: int, decimals: int, shown: int) -> int:
    """Return what so many cents are worth in base units, rounded down to `shown` decimals."""
    step: int = 10 ** max(decimals - shown, 0)
    exact: int = usd_cents * E8_PER_CENT * 10**decimals // rate_e8
    return exact // step * step


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
