"""Pause and resume what takes something new: all orders, an offer, a payment method (OPS-8).

Whoever makes something new calls `take_turns` before anything else in its transaction. So a pause waits for
what is being saved at that moment, and once it is there nothing new is saved any more.
"""

from collections.abc import Collection, Mapping
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import User
from events.actions import record

from .models import Offer, Pause

OFFER, METHOD = "offer:", "method:"
TURNS = 7_401_263  # the number of the lock on PostgreSQL; nothing else uses it


class NoReason(Exception):
    """A pause and its end are kept with a reason."""


def paused(subject: str) -> Pause | None:
    """Return the pause of a subject, if it is paused now."""
    return Pause.objects.on().filter(subject=subject).first()


def all_paused(prefix: str) -> dict[str, Pause]:
    """Return what is paused now of a kind ("method:"), by what follows its prefix."""
    rows = Pause.objects.on().filter(subject__startswith=prefix)
    return {row.subject.removeprefix(prefix): row for row in rows}


def stops(offer: Offer) -> Pause | None:
    """Return what keeps an offer from taking new orders: the pause of all of them, else its own."""
    return paused(Pause.ORDERS) or (None if offer.published else paused(f"{OFFER}{offer.pk}"))


def take_turns(*, alone: bool = False) -> None:
    """Let pauses wait for whatever is being made, and what is made see each pause. Comes before every other lock.

    Makers share the lock, so they never wait for each other. On SQLite a transaction has the database to itself.
    """
    if connection.vendor == "postgresql":
        lock = "pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {lock}(%s)", [TURNS])


def pause(
    subjects: Collection[str], *, reason: str, actor: User, sentences: Mapping[str, str] | None = None
) -> list[Pause]:
    """Pause subjects, or write a new reason and sentence over those of a pause that is on."""
    if not reason.strip():
        raise NoReason
    said = {language: text.strip() for language, text in (sentences or {}).items() if text.strip()}
    with transaction.atomic(durable=True):
        take_turns(alone=True)
        return [begin(row, reason.strip(), said, actor) for row in rows_of(subjects)]


def begin(row: Pause, reason: str, said: dict[str, str], actor: User) -> Pause:
    row.paused_at, row.actor, row.reason, row.sentences = row.paused_at or timezone.now(), actor, reason, said
    row.save(update_fields=["paused_at", "actor", "reason", "sentences"])
    facts: dict[str, Any] = {"what": row.subject, "reason": reason, "sentences": said}
    if (offers := offers_of(row.subject)) is not None:
        offers.update(published=False)
        record("offer.paused", subject=offers.get(), actor=actor, **facts)
    else:
        record("pause.begun", subject=row, actor=actor, **facts)
    return row


def resume(subjects: Collection[str], *, reason: str, actor: User) -> list[Pause]:
    """End the pause of subjects, and publish an offer that never was; what is open stays so and tells nothing."""
    if not reason.strip():
        raise NoReason
    with transaction.atomic(durable=True):
        take_turns(alone=True)
        return [row for row in rows_of(subjects) if end(row, reason.strip(), actor)]


def end(row: Pause, reason: str, actor: User) -> bool:
    before, offers = row.reason, offers_of(row.subject)
    was_paused = row.paused_at is not None
    lift(row)
    if offers is not None:
        if was_hidden := offers.filter(published=False).update(published=True):
            record("offer.published", subject=offers.get(), actor=actor, what=row.subject, reason=reason, before=before)
        return bool(was_hidden)
    if was_paused:
        record("pause.ended", subject=row, actor=actor, what=row.subject, reason=reason, before=before)
    return was_paused


def lift(row: Pause) -> None:
    row.paused_at, row.actor, row.reason, row.sentences = None, None, "", {}
    row.save(update_fields=["paused_at", "actor", "reason", "sentences"])


def rows_of(subjects: Collection[str]) -> list[Pause]:
    """Return the rows of subjects, made on first use; the caller has the lock of `take_turns` alone."""
    Pause.objects.bulk_create([Pause(subject=subject) for subject in subjects], ignore_conflicts=True)
    return list(Pause.objects.filter(subject__in=subjects).order_by("pk"))


def offers_of(subject: str) -> "QuerySet[Offer] | None":
    """Return the one offer that a subject names; none if it names something else."""
    return Offer.objects.filter(pk=subject.removeprefix(OFFER)) if subject.startswith(OFFER) else None
