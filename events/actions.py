"""Record what happened. The row that records a change is also the message about it."""

from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.db import models, transaction
from django.utils.module_loading import import_string

from .models import Delivery, Event
from .nudge import nudge

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


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
    the system. `data` must be JSON; amounts in base units as strings.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError(f"{kind} must be recorded in the transaction of its change")
    event = Event.objects.create(
        kind=kind, subject=subject_of(subject), thread=subject_of(thread or subject), actor=cast(Any, actor), data=data
    )
    handlers = import_string(settings.EVENT_HANDLERS).get(kind, ())
    if handlers:
        Delivery.objects.bulk_create(Delivery(event=event, handler=handler) for handler in handlers)
        transaction.on_commit(nudge, robust=True)
    return event
