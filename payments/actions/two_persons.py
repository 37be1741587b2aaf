"""The steps that everything shares which a second person must agree to above a sum. Rows are locked by the caller."""

from collections.abc import Collection

from django.conf import settings
from django.db import models
from django.utils import timezone

from accounts.models import User
from events.actions import record

from .. import errors
from ..models import TwoPersons

State = TwoPersons.State


def needs_second(cents: int) -> bool:
    """Tell whether a sum is too large for one person alone."""
    return cents > settings.SECOND_PERSON_ABOVE_CENTS


def agree(row: TwoPersons, actor: User) -> bool:
    """Note who agreed to a proposal; False if it was done before. SamePerson refuses the first one, Withdrawn what was
    taken back."""
    if row.state == State.DONE:
        return False
    if row.proposed_by_id == actor.pk:
        raise errors.SamePerson
    if row.state == State.WITHDRAWN:
        raise errors.Withdrawn
    row.second = actor
    return True


def finish(row: TwoPersons, *, columns: Collection[str]) -> None:
    """Write that a proposal was carried out, with the columns that it changed."""
    row.state, row.decided_at = State.DONE, timezone.now()
    row.save(update_fields=["state", "decided_at", "second", *columns])


def take_back(row: TwoPersons, kind: str, *, thread: models.Model, actor: User | None) -> None:
    """Take a proposal back, or refuse it as the second person: nothing moved. One that was done stays."""
    if row.state == State.PROPOSED:
        row.state, row.decided_at = State.WITHDRAWN, timezone.now()
        row.save(update_fields=["state", "decided_at"])
        record(kind, subject=row, thread=thread, actor=actor)
