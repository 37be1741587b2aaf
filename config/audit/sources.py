"""Where the rows of the audit log come from: each source gives its newest ones, and they are laid together by time.

Nothing is counted and no page is skipped to: a page begins where the one before ended, so the last page of millions of
rows costs what the first one does.
"""

import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.db.models import QuerySet

from events.models import Event
from support.models import Lookup

from .asking import Before, Question
from .groups import LOOKED_UP

FEW = 12  # so many kinds are asked one by one, each by its index; more of them lie close together in time anyway
CHUNK = 500


def events(question: Question, before: Before | None, limit: int) -> list[Event]:
    """Return the newest events, by the index that fits what is asked: thread, person, kind, or time alone."""
    rows = narrowed(Event.objects.select_related("actor").order_by("-at", "-id"), question, before, "event")
    if question.threads is not None:
        rows = rows.filter(thread__in=question.threads)
    if question.people is not None:
        rows = rows.filter(actor__in=question.people)
    kinds = question.kinds
    if kinds is None:
        return list(rows[:limit])
    if question.threads is None and question.people is None and len(kinds) <= FEW:
        found = [list(rows.filter(kind=kind)[:limit]) for kind in kinds]
        return list(itertools.islice(heapq.merge(*found, key=lambda row: (row.at, row.pk), reverse=True), limit))
    return list(rows.filter(kind__in=kinds)[:limit])


def lookups(question: Question, before: Before | None, limit: int) -> list[Lookup]:
    """Return the newest look-ups of the support desk."""
    if question.kinds is not None and LOOKED_UP not in question.kinds:
        return []
    found = Lookup.objects.select_related("actor", "customer").order_by("-at", "-pk")
    rows = narrowed(found, question, before, "lookup")
    if question.threads is not None:
        rows = rows.filter(subject__in=question.threads)
    if question.people is not None:
        rows = rows.filter(actor__in=question.people)
    return list(rows[:limit])


def narrowed[Rows: QuerySet[Any]](rows: Rows, question: Question, before: Before | None, source: str) -> Rows:
    """Keep the rows of a source in the time that is asked for and before the end of the page before."""
    if question.start:
        rows = rows.filter(at__gte=question.start)
    if question.end:
        rows = rows.filter(at__lt=question.end)
    if before is None:
        return rows
    if before.source == source:
        return rows.filter(at__lte=before.at).exclude(at=before.at, pk__gte=before.key)
    return rows.filter(at__lt=before.at) if source > before.source else rows.filter(at__lte=before.at)


Source = Callable[[Question, Before | None, int], Sequence[Any]]
# By name; the names order rows of the same moment. A row has `at`, `pk` and `actor`.
SOURCES: dict[str, Source] = {"event": events, "lookup": lookups}


def newest(question: Question, before: Before | None, limit: int) -> list[tuple[str, Any]]:
    """Return the newest rows of all sources, each with the name of its source."""
    found = [[(name, row) for row in source(question, before, limit)] for name, source in SOURCES.items()]
    merged = heapq.merge(*found, key=lambda one: (one[1].at, one[0], one[1].pk), reverse=True)
    return list(itertools.islice(merged, limit))


def end_of(rows: list[tuple[str, Any]]) -> Before | None:
    if not rows:
        return None
    name, last = rows[-1]
    return Before(last.at, name, last.pk)


def chunks(question: Question, limit: int) -> Iterator[list[tuple[str, Any]]]:
    """Yield up to `limit` rows in chunks, newest first: memory does not grow with them."""
    before: Before | None = None
    while limit > 0:
        rows = newest(question, before, min(CHUNK, limit))
        if not rows:
            return
        yield rows
        limit, before = limit - len(rows), end_of(rows)
