"""Look-ups: each writes its row before anything is shown. The row is the record; no event repeats it."""

import re
import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from accounts.models import User
from events.actions import subject_of

from . import finders
from .models import Lookup
from .things import Row, owner_of, row_of

Outcome = Lookup.Outcome
FOLLOWED = "followed"
LENGTH = 200


class NotReachable(Exception):
    """The look-up is not this person's, its time is over, or the thing is not of the customer that it shows."""


def look_up(text: str, *, admitted: bool, actor: User) -> Lookup:
    """Search and log it. `admitted` false: too many look-ups; then nothing is searched, and that is logged."""
    text = text.replace("\x00", "").strip()[:LENGTH]  # PostgreSQL keeps no NUL
    if not admitted:
        return write(text, finders.Answer(), outcome=Outcome.REFUSED, actor=actor)
    answer = finders.search(text)
    return write(text, answer, outcome=answer.outcome, actor=actor)


def follow(lookup_id: uuid.UUID, subject: str, *, admitted: bool, actor: User) -> Lookup:
    """Go on from a look-up to one of its hits, or to something else of the same customer; that is a look-up of its own.

    Its own hits may be looked up again after its time; anything else only while it is open. NotReachable otherwise.
    """
    lookup = Lookup.objects.filter(actor=actor, pk=lookup_id).exclude(outcome=Outcome.REFUSED).first()
    row = row_of(subject)
    if lookup is None or row is None or not reaches(lookup, subject, row):
        raise NotReachable
    if not admitted:
        return write(subject, finders.Answer(FOLLOWED), outcome=Outcome.REFUSED, actor=actor)
    return write(subject, finders.Answer(FOLLOWED, (row,)), outcome=Outcome.FOUND, actor=actor)


def reaches(lookup: Lookup, subject: str, row: Row) -> bool:
    if subject in lookup.hits:
        return True
    return is_open(lookup) and lookup.customer_id == owner_of(row).pk


def is_open(lookup: Lookup) -> bool:
    """Tell whether the story may still be shown for this look-up."""
    return timezone.now() < ends_at(lookup)


def ends_at(lookup: Lookup) -> datetime:
    """Return until when the story may be shown."""
    return lookup.at + timedelta(hours=settings.SUPPORT_LOOKUP_HOURS)


def write(text: str, answer: finders.Answer, *, outcome: Outcome, actor: User) -> Lookup:
    one = answer.rows[0] if outcome == Outcome.FOUND else None
    return Lookup.objects.create(
        actor=actor,
        text=masked(text),
        kind=answer.kind,
        outcome=outcome,
        hits=answer.hits,
        subject=subject_of(one) if one else "",
        customer=owner_of(one) if one else None,
    )


def masked(text: str) -> str:
    """Write every email in a text so that the log, which is never deleted, holds none: "a…@example.com"."""
    return re.sub(r"([^\s@])[^\s@]*@([^\s@]+)", r"\1…@\2", text)
