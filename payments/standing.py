"""What is true of an intent, computed from facts: values in, value out, `now` passed in. No database, no clock.

The rules stand in docs/payments.md. Money is judged in base units of the coin, never in later dollars.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from .models import PaymentIntent

Quote, Funding, Settlement = PaymentIntent.Quote, PaymentIntent.Funding, PaymentIntent.Settlement
UNWATCHED_LIMIT = timedelta(hours=24)
LOCKED_SHARE = (110, 100)  # the promised rate counts up to 110 % of what is due: more would be a free option
FAIR_BAND = timedelta(minutes=30)  # so much too late still counts as kept if nobody loses by it
FAIR_SHARE = (99, 100)  # nobody loses: at the market's rate, and in units, at least 99 % of the due arrived


@dataclass(frozen=True, slots=True)
class Promise:
    """An intent's frozen part and the decisions of people: amounts in base units.

    `at_once`: a top-up, where each final transfer is credited as it comes and nothing is bought with it.
    """

    amount: int
    usd_cents: int
    shortfall: int
    expires_at: datetime
    quote: str
    closed_at: datetime | None
    settlement: str
    ended: bool
    at_once: bool = False

    @property
    def until(self) -> datetime:
        """Until when money is on time: a cancelled promise ends early, a superseded one is honoured to its end."""
        return self.closed_at if self.quote == Quote.CANCELLED and self.closed_at else self.expires_at

    @property
    def needed(self) -> int:
        """Base units that count as whole."""
        return self.amount - self.shortfall

    @property
    def kept(self) -> bool:
        """Whether the promise was kept once: what came of it may have been reversed since."""
        return self.settlement in (Settlement.SETTLED, Settlement.REVERSED)

    def in_fair_band(self, known_at: datetime) -> bool:
        return self.until < known_at <= self.until + FAIR_BAND


@dataclass(frozen=True, slots=True)
class Fact:
    """A transfer of the asked asset that the network knows (dropped ones are left out).

    `market_cents` is its worth at the market's rate of its time; none: not asked for, or no price is known.
    """

    id: int
    amount: int
    known_at: datetime  # first sight or block time, whichever is earlier
    included: bool
    final: bool
    credited: bool
    market_cents: int | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """The derived state, and which transfers should be credited now. `fair`: settled in the fair band, all of it at the
    promised rate."""

    quote: str
    funding: str
    ended: bool
    unwatched: bool
    late: bool
    settle: bool
    fair: bool
    credit: tuple[Fact, ...]
    locked_before: int  # base units that were credited at the promised rate already


def stand(
    promise: Promise,
    facts: Sequence[Fact],
    *,
    order_payable: bool,
    watched_until: datetime | None,
    now: datetime,
    fair_allowed: bool = True,
) -> Standing:
    """Return where the promise stands. `fair_allowed` is false once it is known that the lots are gone."""
    on_time = [fact for fact in facts if fact.known_at <= promise.until]
    live = amount_of(on_time)
    settle = order_payable and not promise.kept and final_amount(on_time) >= promise.needed
    watched, given_up = is_past(promise.until, watched_until, now)
    ended = (
        promise.ended
        or settle
        or promise.quote == Quote.CANCELLED
        or (live < promise.needed and now > promise.until and (watched or given_up))
    )
    quote = Quote.EXPIRED if promise.quote == Quote.OPEN and ended and not settle else promise.quote
    if promise.kept:
        quote = promise.quote
    band = [fact for fact in facts if promise.in_fair_band(fact.known_at)]
    open_band = order_payable and fair_allowed and not promise.kept and not promise.at_once and quote == Quote.EXPIRED
    fair = open_band and is_fair(promise, on_time, band)
    waiting = band if open_band and not fair and not any(is_past(promise.until + FAIR_BAND, watched_until, now)) else []
    may_credit = settle or ended or not order_payable or promise.kept or promise.at_once
    return Standing(
        quote=quote,
        funding=funding_of(promise, facts, live),
        ended=ended,
        unwatched=ended and not settle and not promise.ended and not watched and given_up,
        late=any(fact.known_at > promise.until for fact in facts),
        settle=settle or fair,
        fair=fair,
        credit=tuple(f for f in facts if f.final and not f.credited and f not in waiting) if may_credit else (),
        locked_before=amount_of(fact for fact in on_time if fact.credited),
    )


def amount_of(facts: Iterable[Fact]) -> int:
    return sum(fact.amount for fact in facts)


def final_amount(facts: Iterable[Fact]) -> int:
    return amount_of(fact for fact in facts if fact.final)


def is_past(moment: datetime, watched_until: datetime | None, now: datetime) -> tuple[bool, bool]:
    """Return whether the network was watched beyond a moment, and whether it was given up to watch it."""
    return watched_until is not None and watched_until > moment, now > moment + UNWATCHED_LIMIT


def is_fair(promise: Promise, on_time: Sequence[Fact], band: Sequence[Fact]) -> bool:
    """Tell whether money that is a little late still keeps the promise: with what came on time it is worth the due at
    the market's rate and in units, so neither side gains by the delay. Only final money counts."""
    fresh = [fact for fact in band if fact.final and not fact.credited]
    if not fresh or any(fact.market_cents is None for fact in fresh):
        return False
    units = final_amount(on_time)
    market = worth(promise, units) + sum(fact.market_cents or 0 for fact in fresh)
    least = promise.usd_cents * FAIR_SHARE[0]
    locked = worth(promise, units + amount_of(fresh))
    return min(market, locked) * FAIR_SHARE[1] >= least


def funding_of(promise: Promise, facts: Sequence[Fact], live: int) -> str:
    if not facts:
        return Funding.NONE
    if live >= promise.needed:
        return Funding.OVER if live > promise.amount else Funding.COVERED
    return Funding.PARTIAL if any(fact.included for fact in facts) else Funding.SEEN


@dataclass(frozen=True, slots=True)
class Share:
    """How one transfer is credited: base units at the promised rate, their cents, and base units at the market's."""

    fact: Fact
    locked: int
    locked_cents: int
    market: int


def shares(promise: Promise, standing: Standing) -> list[Share]:
    """Split each transfer to be credited. The cents of the parts add up to the cents of their sum, so an exact payer
    in two halves is credited exactly the promise."""
    cap = promise.amount * LOCKED_SHARE[0] // LOCKED_SHARE[1]
    taken = min(standing.locked_before, cap)
    result = []
    for fact in standing.credit:
        kept = fact.known_at <= promise.until or (standing.fair and promise.in_fair_band(fact.known_at))
        locked = min(fact.amount, cap - taken) if kept else 0
        cents = worth(promise, taken + locked) - worth(promise, taken)
        result.append(Share(fact, locked, cents, fact.amount - locked))
        taken += locked
    return result


def worth(promise: Promise, units: int) -> int:
    """Return the cents of so many base units at the promised rate, rounded down; exactly the due for the due."""
    return units * promise.usd_cents // promise.amount
