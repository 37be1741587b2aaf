"""What an open page asks again every few seconds, read by one statement: all that its part can say, and nothing else.

Whatever that part reads must be among the columns here, or the page stands still (`validators`). They are those of
`pages`, `words` and the templates. Left out is what never changes (what a promise is about, its amounts and times), and
what grows older with every second: it is told beside the answer (`Looked`).
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db import connection

from accounts.models import User
from orders import numbers

from .models import ChainTransfer, PaymentIntent
from .registry import has_second_provider

# One row for each transfer of each of the instructions for the same thing. `expires_at > now` is all that the clock
# alone changes. Events stand for what higher apps show of an order, as its rental: each change of a state writes one
# and none is ever deleted. They are counted, since a lower number than the highest may be committed later.
# What is there once is selected and not joined: PostgreSQL takes 2.5 ms to plan a join of nine tables, 0.7 for this.
COLUMNS = """
    SELECT i.id, t.status, t.credited, t.network, t.id, t.method, t.amount, t.confirmations, t.seconded, t.verdict,
        t.first_seen_at, t.block_time, t.slack_seconds, a.id, a.usd_cents,
        i.quote, i.funding, i.settlement, i.late, i.unwatched, i.pay_if_late,
        i.declared_at, i.closed_at, i.ended_at, i.expires_at > %(now)s,"""
TRANSFERS = """
    LEFT JOIN payments_chaintransfer t ON t.intent_id = i.id AND NOT t.dust
    LEFT JOIN payments_allocation a ON a.transfer_id = t.id AND a.live"""
OF_INTENT = f"""{COLUMNS}
        (SELECT o.state FROM orders_order o WHERE o.id = asked.order_id),
        (SELECT u.state FROM payments_topup u WHERE u.id = asked.topup_id),
        (SELECT h.id FROM orders_hold h WHERE h.order_id = asked.order_id AND h.state = 'held'),
        (SELECT count(*) FROM events_event e WHERE e.thread = CASE WHEN asked.order_id IS NULL
            THEN 'topup:' || asked.topup_id ELSE 'order:' || asked.order_id END),
        (SELECT c.last_pass_at FROM payments_networkcursor c WHERE c.network = asked.network),
        (SELECT {{height}} FROM payments_networkcursor c WHERE c.network = asked.network)
    FROM payments_paymentintent asked
    JOIN payments_paymentintent i ON i.order_id = asked.order_id OR i.topup_id = asked.topup_id{TRANSFERS}
    WHERE asked.id = %(intent)s AND asked.customer_id = %(customer)s ORDER BY i.id, t.id"""  # noqa: S608  # put together from constants
OF_TOPUP = f"""{COLUMNS}
        u.state, (SELECT count(*) FROM events_event e WHERE e.thread = 'topup:' || u.id), NULL, NULL
    FROM payments_topup u LEFT JOIN payments_paymentintent i ON i.topup_id = u.id{TRANSFERS}
    WHERE u.symbols = %(symbols)s AND u.customer_id = %(customer)s ORDER BY i.id, t.id"""  # noqa: S608  # put together from constants
HEIGHT = {  # of the last block that was read (`NetworkCursor.height`)
    "postgresql": "c.recent -> -1 ->> 0",
    "sqlite": "json_extract(c.recent, '$[#-1][0]')",
}


@dataclass(frozen=True, slots=True)
class Looked:
    """How many seconds ago a network was last read as a whole, and up to which block."""

    seconds: int | None = None
    head: int | None = None


@dataclass(frozen=True, slots=True)
class Polled:
    """All that the part of a page can say, as values that compare; beside them what grows older, and the keys of the
    instructions."""

    facts: tuple[Any, ...]
    looked: Looked
    intents: frozenset[Any]


def intent_polled(customer: User, intent_id: uuid.UUID, now: datetime) -> Polled | None:
    """Read what the page of the customer's instructions can say; none if they have none of this number."""
    asked = PaymentIntent._meta.pk.get_db_prep_value(intent_id, connection)
    found = rows(OF_INTENT.format(height=HEIGHT[connection.vendor]), now, customer, intent=asked)
    return polled(intent_id, found, now) if found else None


def topup_polled(customer: User, number: str, now: datetime) -> Polled | None:
    """Read what the page of the customer's top-up can say; none if they have none of this number, typed in any way."""
    symbols = numbers.read(number, settings.TOPUP_NUMBER_PREFIX)
    found = rows(OF_TOPUP, now, customer, symbols=symbols or "")
    return polled(symbols, found, now) if found else None


def polled(asked: object, found: Sequence[tuple[Any, ...]], now: datetime) -> Polled:
    facts, (at, head) = [row[:-2] for row in found], found[0][-2:]
    looked = Looked(seconds_since(at, now), None if head is None else int(head))
    of_network = (looked.seconds is None, looked.head is None, *seconds_asked(facts))
    return Polled((asked, *facts, *of_network), looked, frozenset(row[0] for row in facts))


def rows(query: str, now: datetime, customer: User, **given: Any) -> list[tuple[Any, ...]]:
    known: Mapping[str, Any] = {"now": connection.ops.adapt_datetimefield_value(now), "customer": customer.pk}
    with connection.cursor() as cursor:
        cursor.execute(query, {**known, **given})
        return list(cursor.fetchall())


def seconds_asked(facts: Sequence[tuple[Any, ...]]) -> Iterator[bool]:
    """Yield for each final transfer that is not credited whether a second provider must confirm it if it is worth much:
    a simulated one comes and goes while the process runs."""
    for _intent, status, credited, network, *_ in facts:
        if status == ChainTransfer.Status.FINAL and not credited:
            yield has_second_provider(network)


def seconds_since(at: datetime | None, now: datetime) -> int | None:
    """Return how long ago a time was that the database gave without a model: SQLite's has no zone."""
    return None if at is None else max(int((now - (at if at.tzinfo else at.replace(tzinfo=UTC))).total_seconds()), 0)
