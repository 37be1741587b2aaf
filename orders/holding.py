"""How long an order keeps its lots: values in, value out (ORD-6)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Rules:
    """The times of ORD-6: a bare hold, the longest overtime of a live intent or a seen transfer, the last renewal."""

    bare: timedelta
    grace: timedelta
    renewal: timedelta


@dataclass(frozen=True, slots=True)
class LiveIntent:
    """A payment promise that has not really ended: when it was made and until when it was promised."""

    created_at: datetime
    expires_at: datetime


def hold_until(
    rules: Rules, *, held_since: datetime, saved_at: datetime, intents: Iterable[LiveIntent], seen_at: datetime | None
) -> datetime:
    """Return when the hold ends if nothing else happens.

    A live intent keeps it to its end plus the grace (its real end cuts that back, so a dead worker never releases
    early), unless it was asked for later than the renewal limit after saving. A seen transfer keeps it for the grace.
    """
    ends = [held_since + rules.bare]
    last_renewal = max(saved_at + rules.renewal, held_since + timedelta(minutes=1))
    ends += [i.expires_at + rules.grace for i in intents if i.created_at <= last_renewal]
    if seen_at is not None:
        ends.append(seen_at + rules.grace)
    return max(ends)
