"""Move a transfer from one state to another: the one place that writes where it is."""

from collections.abc import Iterable
from typing import Any

from django.db import models

from events.actions import record

from ..models import ChainTransfer

Status = ChainTransfer.Status
PLACE = (
    *("status", "block_height", "block_hash", "block_time"),
    *("confirmations", "finalized", "seconded", "replaced_by"),
)
Place = tuple[Any, ...]
"""The values of these columns."""


def change(row: ChainTransfer, status: ChainTransfer.Status, kind: str) -> None:
    """Move a transfer to what the chain says now and record it on the order's timeline."""
    become(row, status, kind)
    row.save(update_fields=PLACE)


def become(row: ChainTransfer, status: ChainTransfer.Status, kind: str) -> None:
    """Note the move on the locked row and record it; who calls this writes the row."""
    if status != row.status and status not in ChainTransfer.TRANSITIONS[row.status]:
        raise RuntimeError(f"transfer {row}: {row.status} → {status} can't be")
    if status not in (Status.INCLUDED, Status.FINAL):
        row.block_height, row.block_hash, row.block_time = None, "", None
        row.confirmations, row.finalized, row.seconded = 0, False, None
    row.status = status
    record(kind, subject=row, thread=story(row), actor=None, height=row.block_height)


def placed(row: ChainTransfer) -> Place:
    return tuple(getattr(row, column) for column in PLACE)


def write_alike(rows: Iterable[ChainTransfer]) -> None:
    """Write where locked transfers are, with one statement for all that are alike: those of one block usually are."""
    alike: dict[Place, list[int]] = {}
    for row in rows:
        alike.setdefault(placed(row), []).append(row.pk)
    for place, keys in alike.items():
        ChainTransfer.objects.filter(pk__in=keys).update(**dict(zip(PLACE, place, strict=True)))


def story(row: ChainTransfer) -> models.Model:
    """Return the row whose timeline shows the transfer: dust stays out of the order's."""
    return row if row.dust else row.intent.purpose
