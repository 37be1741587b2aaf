"""The words of the operators' work list, and what of the outbox belongs on it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, Model, QuerySet, Window
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from .models import Delivery, Notice

Words = str | Promise
SHOWN = 20  # rows of a section; its title leads to all
FAILED_OFTEN = 3  # attempts: what failed less often is mended by trying again


@dataclass(frozen=True, slots=True)
class Row:
    """One thing to do: what, where, since when. `bad`: at once. `alarm` names a state that operators are told of when
    it lasts, as "network:ethereum"."""

    text: Words
    url: str
    since: datetime | None = None
    detail: Words = ""
    bad: bool = False
    alarm: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Things to do of one kind; `rows` may be only the first of `count`, and `url` leads to all.

    `bad`: before all others, in red. `idle`: good to know, and nobody must act: not counted as needing a person.
    """

    title: Words
    count: int
    rows: list[Row] = field(default_factory=list)
    url: str = ""
    bad: bool = False
    idle: bool = False

    @property
    def more(self) -> bool:
        return len(self.rows) == SHOWN < self.count


@dataclass(frozen=True, slots=True)
class Fact:
    """A line about what needs nothing."""

    text: Words
    url: str = ""


Look = Callable[[datetime], Section]


def page(name: str, **query: str) -> str:
    """Return the address of a list in the admin."""
    address = reverse(f"admin:{name}_changelist")
    return f"{address}?{urlencode(query)}" if query else address


def first[M: Model](found: QuerySet[M]) -> tuple[list[M], int]:
    """Return the rows that a section shows and how many there are in all, in one query."""
    rows: list[Any] = list(found.annotate(in_all=Window(Count("pk")))[:SHOWN])
    return rows, rows[0].in_all if rows else 0


def undelivered(now: datetime) -> Section:
    """Name the events that a handler fails on again and again: what should follow from them does not happen."""
    failing = Delivery.objects.filter(done_at=None, attempts__gte=FAILED_OFTEN).select_related("event")
    rows, count = first(failing.order_by("id"))
    lines = [
        Row(
            row.event.kind,
            reverse("admin:events_event_change", args=[row.event_id]),
            row.event.at,
            f"{row.handler}: {row.error}"[:200],
        )
        for row in rows
    ]
    return Section(_("Events whose handling fails"), count, lines, page("events_event"))


def untold(now: datetime) -> Section:
    """Say which channel to the operators fails, why and since when. Nothing is lost: all of it goes out later."""
    failed = Notice.objects.filter(sent_at=None, attempts__gt=0).exclude(error="").order_by("channel")
    found = failed.values_list("channel", "error").annotate(since=Min("event__at"))
    oldest: dict[str, Row] = {}
    for channel, error, since in found:
        row = Row(Notice.Channel(channel).label, page("events_event"), since, error)
        oldest.setdefault(channel, row)
    return Section(_("News to the operators that can't be sent"), len(oldest), list(oldest.values()))
