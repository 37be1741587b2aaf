"""The reserve of ready addresses: workers add sealed rows, the web process hands the next one out."""

import logging
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from events.actions import record
from events.statements import kept_row, kept_update

from .. import errors, seals
from ..models import Installation, NetworkCursor, ReservedAddress, ReviewItem
from .reviews import open_review

log = logging.getLogger(__name__)


def add_addresses(
    network: str, *, genesis: str, fingerprint: str, derived: Iterable[tuple[int, str]], taken_below: int = 0
) -> None:
    """Store derived (index, address) pairs, sealed. A pair that exists already stays as it is.

    Those below `taken_below`, and those that a restored back-up may have handed out, are stored as issued: they are
    watched and given to nobody. The former are told to a person.
    """
    installation, now = Installation.objects.get(), timezone.now()
    closed = max(taken_below, skipped_below(network, fingerprint))
    rows = [
        ReservedAddress(
            network=network,
            genesis=genesis,
            fingerprint=fingerprint,
            index=index,
            address=address,
            issued_at=now if index < closed else None,
        )
        for index, address in derived
    ]
    for row in rows:
        row.seal = seals.seal(row, installation)
    with transaction.atomic():
        ReservedAddress.objects.bulk_create(rows, ignore_conflicts=True)
        NetworkCursor.objects.get_or_create(network=network)  # the watcher may not have begun yet
        changed = NetworkCursor.objects.filter(network=network).exclude(fingerprint=fingerprint)
        changed.update(fingerprint=fingerprint, skip_below=0)
        if taken_below:
            tell_of_shared_key(network, taken_below)


def tell_of_shared_key(network: str, taken_below: int) -> None:
    """Put before a person that addresses which this installation never gave have a history, once while undecided."""
    log.warning("%s: this key is used elsewhere: the address with the index %d has a history", network, taken_below - 1)
    open_review(
        ReviewItem.Reason.SHARED,
        subject=NetworkCursor.objects.get(pk=network),
        last_used_index=str(taken_below - 1),
        suggestion=gettext_noop(
            "Give Gridlot an account of its own that no other wallet or shop hands out addresses of. After a "
            "restored back-up this is expected."
        ),
    )


def skipped_below(network: str, fingerprint: str) -> int:
    """Return below which index no address of this key is handed out."""
    found = NetworkCursor.objects.filter(pk=network, fingerprint=fingerprint).values_list("skip_below", flat=True)
    return found.first() or 0


def restore_addresses(network: str, *, below: int | None = None) -> int:
    """Hand out no address that the lost hours before a restored back-up may have handed out: none of those there are,
    nor any with an index below `below` that is made later. Return how many were free until now; again is harmless."""
    with transaction.atomic(durable=True):
        cursor = NetworkCursor.objects.select_for_update(no_key=True).get(pk=network)
        rows = ReservedAddress.objects.filter(network=network, issued_at=None)
        if below is not None:
            rows = rows.filter(fingerprint=cursor.fingerprint, index__lt=below)
            cursor.skip_below = max(cursor.skip_below, below)
            cursor.save(update_fields=["skip_below"])
        count = rows.update(issued_at=timezone.now())
        if count or below is not None:
            record("addresses.retired", subject=cursor, actor=None, addresses=count, below=below)
        return count


def missing_indexes(network: str, fingerprint: str, size: int) -> range:
    """Return the indexes to derive next so that `size` addresses are ready."""
    rows = ReservedAddress.objects.filter(network=network, fingerprint=fingerprint)
    free = ready_of(network, fingerprint)
    newest = rows.aggregate(newest=Max("index"))["newest"]
    first = 0 if newest is None else newest + 1
    if size <= free:
        return range(0)
    return range(first, max(first, skipped_below(network, fingerprint)) + size - free)


def ready_of(network: str, fingerprint: str) -> int:
    """Return how many addresses of a key can be handed out."""
    return ReservedAddress.objects.filter(network=network, fingerprint=fingerprint, issued_at=None).count()


def ready(cursor: NetworkCursor) -> QuerySet[ReservedAddress]:
    """Return the addresses of the current key that can be handed out."""
    return ready_with(cursor.network, cursor.genesis, cursor.fingerprint)


def ready_with(network: str, genesis: str, fingerprint: str) -> QuerySet[ReservedAddress]:
    return ReservedAddress.objects.filter(network=network, genesis=genesis, fingerprint=fingerprint, issued_at=None)


def issue(cursor: NetworkCursor, name: str) -> ReservedAddress:
    """Hand out the next address of the current key, for ever; NoAddress or BrokenSeal (`name` is the network's)."""
    row = next_in_line(cursor.network, cursor.genesis, cursor.fingerprint)
    if row is None or (settings.RESERVE_EMPTY > 1 and ready(cursor).count() < settings.RESERVE_EMPTY):
        raise errors.NoAddress(name)
    if not seals.holds(row, seals.installation_of(row)):
        raise errors.BrokenSeal(name, row.pk)
    if note_issued(row.pk, timezone.now()) != 1:
        raise errors.NoAddress(name)
    return row


@kept_row
def next_in_line(network: str, genesis: str, fingerprint: str) -> QuerySet[ReservedAddress]:
    rows = seals.with_installation(ready_with(network, genesis, fingerprint)).order_by("index")[:1]
    return rows.select_for_update(skip_locked=True, of=("self",), no_key=True)


@kept_update
def note_issued(row: int, now: datetime) -> tuple[QuerySet[ReservedAddress], Mapping[str, Any]]:
    return ReservedAddress.objects.filter(pk=row, issued_at=None), {"issued_at": now}


def report(address_id: int) -> None:
    """Put a row whose seal is broken before a person.

    It stays first in line, so nobody is given any address until then: who changed one row may have changed more.
    """
    with transaction.atomic(durable=True):
        row = ReservedAddress.objects.get(pk=address_id)
        open_review(
            ReviewItem.Reason.ADDRESS,
            subject=row,
            stored=row.address,
            lasting=True,
            suggestion=gettext_noop(
                "A reserved address was changed in the database. Find out by whom before you delete the row."
            ),
        )
