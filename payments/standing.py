"""What is true of an intent, computed from facts: values in, value out, `now` passed in. No database, no clock.

The rules stand in docs/payments.md. Money is judged in base units of the coin, never in later dollars.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from .models import PaymentIntent

Quote, Funding, Settlement = PaymentIntent.Quote, PaymentIntent.Funding, PaymentIntent.Settlement
UNWATCHED_LIMIT = timedelta(hours=24)
LOCKED_SHARE = (110, 100)  # the promised rate counts up to 110 % of what is due: more would be a free option


@dataclass(frozen=True, slots=True)
class Promise:
    """An intent's frozen part and the decisions of people: amounts in base units."""

    amount: int
    usd_cents: int
    shortfall: int
    expires_at: datetime
    quote: str
    closed_at: datetime | None
    settlement: str
    ended: bool

    @property
    def until(self) -> datetime:
        """Until when money is on time: a cancelled promise ends early, a superseded one is honoured to its end."""
        return self.closed_at if self.quote == Quote.CANCELLED and self.closed_at else self.expires_at


@dataclass(frozen=True, slots=True)
class Fact:
    """A transfer of the asked asset that the network knows (dropped ones are left out)."""

    id: int
    amount: int
    known_at: datetime  # first sight or block time, whichever is earlier
    included: bool
    final: bool
    credited: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """The derived state, and which transfers should be credited now."""

    quote: str
    funding: str
    ended: bool
    unwatched: bool
    late: bool
    settle: bool
    credit: tuple[Fact, ...]
    locked_before: int  # base units that were credited at the promised rate already


def stand(
    promise: Promise, facts: Sequence[Fact], *, order_payable: bool, watched_until: datetime | None, now: datetime
) -> Standing:
    """Return where the promise stands."""
    on_time = [fact for fact in facts if fact.known_at <= promise.until]
    live = sum(fact.amount for fact in on_time)
    final = sum(fact.amount for fact in on_time if fact.final)
    needed = promise.amount - promise.shortfall
    settle = order_payable and promise.settlement != Settlement.SETTLED and final >= needed
    watched = watched_until is not None and watched_until > promise.until
    given_up = now > promise.until + UNWATCHED_LIMIT
    ended = (
        promise.ended
        or settle
        or promise.quote == Quote.CANCELLED
        or (live < needed and now > promise.until and (watched or given_up))
    )
    quote = Quote.EXPIRED if promise.quote == Quote.OPEN and ended and not settle else promise.quote
    if promise.settlement == Settlement.SETTLED:
        quote = promise.quote
    may_credit = settle or ended or not order_payable or promise.settlement == Settlement.SETTLED
    return Standing(
        quote=quote,
        funding=funding_of(promise, facts, live, needed),
        ended=ended,
        unwatched=ended and not settle and not promise.ended and not watched and given_up,
        late=any(fact.known_at > promise.until for fact in facts),
        settle=settle,
        credit=tuple(fact for fact in facts if fact.final and not fact.credited) if may_credit else (),
        locked_before=sum(fact.amount for fact in on_time if fact.credited),
    )


def funding_of(promise: Promise, facts: Sequence[Fact], live: int, needed: int) -> str:
    if not facts:
        return Funding.NONE
    if live >= needed:
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
        locked = min(fact.amount, cap - taken) if fact.known_at <= promise.until else 0
        cents = worth(promise, taken + locked) - worth(promise, taken)
        result.append(Share(fact, locked, cents, fact.amount - locked))
        taken += locked
    return result


def worth(promise: Promise, units: int) -> int:
    """Return the cents of so many base units at the promised rate, rounded down; exactly the due for the due."""
    return units * promise.usd_cents // promise.amount
