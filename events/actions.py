"""Record what happened. The row that records a change is also the message about it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.db import models, transaction
from django.utils.module_loading import import_string

from .models import Delivery, Event
from .nudge import nudge
from .statements import insert

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

GATHERING: ContextVar[bool] = ContextVar("gathering", default=False)


def subject_of(row: models.Model) -> str:
    """Return the name of a row in events: "order:17"."""
    return f"{row._meta.model_name}:{row.pk}"


def record(
    kind: str,
    *,
    subject: models.Model,
    actor: "AbstractBaseUser | None",
    thread: models.Model | None = None,
    **data: Any,
) -> Event:
    """Write one event and a delivery for each handler of its kind. Call it in the transaction of the change.

    `thread` is the row whose story this belongs to (the subject itself by default); `actor` is who caused it, none for
    the system. `data` must be JSON; amounts in base units as strings. Within `recording` it has no number before the
    end.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError(f"{kind} must be recorded in the transaction of its change")
    event = Event(
        kind=kind, subject=subject_of(subject), thread=subject_of(thread or subject), actor=cast(Any, actor), data=data
    )
    if GATHERING.get():
        transaction.on_commit(Waiting(event), robust=True)
    else:
        write([event])
    return event


@contextmanager
def recording() -> Iterator[None]:
    """Open a transaction whose events are inserted together at its end, in the order in which they were recorded: one
    statement instead of one each. What must find its own event again before that uses `transaction.atomic`."""
    with transaction.atomic(durable=True):
        before = GATHERING.set(True)
        try:
            yield
        finally:
            GATHERING.reset(before)
        write(gathered())


class Waiting:
    """An event that is recorded and not inserted yet. It waits among what Django does after the commit, since whatever
    was recorded in a savepoint that is rolled back is forgotten there."""

    def __init__(self, event: Event) -> None:
        self.event: Event | None = event

    def __call__(self) -> None:
        """Do nothing after the commit: the event was inserted before it."""


def gathered() -> list[Event]:
    """Return the events that wait, each once."""
    events = []
    for _, hook, _ in transaction.get_connection().run_on_commit:
        if isinstance(hook, Waiting) and hook.event:
            events.append(hook.event)
            hook.event = None
    return events


def write(events: Sequence[Event]) -> None:
    """Insert events and their deliveries."""
    if events:
        insert(*events)
    table = import_string(settings.EVENT_HANDLERS)
    due = [Delivery(event=event, handler=handler) for event in events for handler in table.get(event.kind, ())]
    if due:
        insert(*due)
        transaction.on_commit(nudge, robust=True)
