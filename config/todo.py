"""The operators' work list: the whole table of what may need a person, and who may see it.

Each look is a function of the app that knows; it takes the time and returns a section, in as many queries for one row
as for thirty. An app whose things may need a person adds its line here.
"""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from django.core.cache import cache
from redis import RedisError

from catalog.todo import low, shortfalls
from conversations.todo import unanswered
from events.models import Event
from events.todo import Fact, Look, Section, undelivered, untold
from payments.health import books, facts, prices, sources
from payments.payout_todo import astray, to_approve, to_send
from payments.todo import corrections, hands, help_needed, networks, reserves, reviews, stock_needed
from provisioning.todo import to_end, to_prepare

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

LOOKS: tuple[tuple[str, Look], ...] = (
    ("catalog.view_offer", shortfalls),
    ("payments.view_networkcursor", networks),
    ("payments.view_ratesourcehealth", prices),
    ("orders.view_order", help_needed),
    ("payments.view_reviewitem", reviews),
    ("payments.view_handsettlement", hands),
    ("payments.view_adjustment", corrections),
    ("payments.view_payout", astray),
    ("payments.view_payout", to_approve),
    ("payments.view_payout", to_send),
    ("orders.view_order", stock_needed),
    ("conversations.answer", unanswered),
    ("provisioning.view_rental", to_prepare),
    ("provisioning.view_rental", to_end),
    ("payments.view_reconciliation", books),
    ("payments.view_ratesourcehealth", sources),
    ("payments.view_networkcursor", reserves),
    ("events.view_event", undelivered),
    ("events.view_event", untold),
    ("catalog.view_offer", low),
)
FACTS = "payments.view_networkcursor"
COUNTED, COUNT_SECONDS = "gridlot.needs_a_person", 15


def sections(user: "User | AnonymousUser", now: datetime) -> list[Section]:
    """Return what there is to do for somebody: what is urgent first, what is only good to know last."""
    may = {permission: user.has_perm(permission) for permission, _ in LOOKS}
    found = [look(now) for permission, look in LOOKS if may[permission]]
    return sorted((section for section in found if section.count), key=lambda one: (one.idle, not one.bad))


def calm(user: "User | AnonymousUser", now: datetime) -> list[Fact]:
    """Return what needs nobody."""
    return list(facts(now)) if user.has_perm(FACTS) else []


def counted(found: Iterable[Section]) -> int:
    """Return how many things need a person."""
    return sum(section.count for section in found if not section.idle)


def count(user: "User", now: datetime) -> int:
    """Return how many things need a person, at the cost of one query: it is counted again when something has happened,
    or after some seconds."""
    last, kept = last_event(), kept_count(user)
    if kept and kept[0] == last:
        return kept[1]
    number = counted(sections(user, now))
    keep_count(user, number, last)
    return number


def last_event() -> int:
    """Return the number of the newest event: whoever acts leaves one."""
    return Event.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def kept_count(user: "User") -> tuple[int, int] | None:
    """Return the event after which was counted, and the count; none also when the cache is away."""
    try:
        kept: tuple[int, int] | None = cache.get(f"{COUNTED}.{user.pk}")
    except RedisError:
        return None
    return kept


def keep_count(user: "User", number: int, last: int) -> None:
    """Keep for the next pages what was counted after the event `last`."""
    with suppress(RedisError):
        cache.set(f"{COUNTED}.{user.pk}", (last, number), timeout=COUNT_SECONDS)


def alarms(now: datetime) -> set[str]:
    """Return the states that need a person now, as "network:ethereum"."""
    return {row.alarm for _, look in LOOKS for row in look(now).rows if row.alarm}
