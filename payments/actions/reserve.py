"""The reserve of ready addresses: workers add sealed rows, the web process hands the next one out."""

from collections.abc import Iterable

from django.conf import settings
from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from .. import errors, seals
from ..models import Installation, NetworkCursor, ReservedAddress, ReviewItem
from .reviews import open_review


def add_addresses(network: str, *, genesis: str, fingerprint: str, derived: Iterable[tuple[int, str]]) -> None:
    """Store derived (index, address) pairs, sealed. A pair that exists already stays as it is."""
    installation = Installation.objects.get()
    rows = [
        ReservedAddress(network=network, genesis=genesis, fingerprint=fingerprint, index=index, address=address)
        for index, address in derived
    ]
    for row in rows:
        row.seal = seals.seal(row, installation)
    with transaction.atomic():
        ReservedAddress.objects.bulk_create(rows, ignore_conflicts=True)
        NetworkCursor.objects.get_or_create(network=network)  # the watcher may not have begun yet
        NetworkCursor.objects.filter(network=network).exclude(fingerprint=fingerprint).update(fingerprint=fingerprint)


def missing_indexes(network: str, fingerprint: str, size: int) -> range:
    """Return the indexes to derive next so that `size` addresses are ready."""
    rows = ReservedAddress.objects.filter(network=network, fingerprint=fingerprint)
    free = rows.filter(issued_at=None).count()
    newest = rows.aggregate(newest=Max("index"))["newest"]
    first = 0 if newest is None else newest + 1
    return range(first, first + max(size - free, 0))


def ready(cursor: NetworkCursor) -> QuerySet[ReservedAddress]:
    """Return the addresses of the current key that can be handed out."""
    return ReservedAddress.objects.filter(
        network=cursor.network, genesis=cursor.genesis, fingerprint=cursor.fingerprint, issued_at=None
    )


def issue(cursor: NetworkCursor, name: str) -> ReservedAddress:
    """Hand out the next address of the current key, for ever; NoAddress or BrokenSeal (`name` is the network's)."""
    free = ready(cursor)
    row = free.select_for_update(skip_locked=True, of=("self",), no_key=True).order_by("index").first()
    if row is None or free.count() < settings.RESERVE_EMPTY:
        raise errors.NoAddress(name)
    if not seals.holds(row, Installation.objects.get()):
        raise errors.BrokenSeal(name, row.pk)
    if ReservedAddress.objects.filter(pk=row.pk, issued_at=None).update(issued_at=timezone.now()) != 1:
        raise errors.NoAddress(name)
    return row


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
            suggestion="A reserved address was changed in the database. Find out by whom before you delete the row.",
        )
