"""Move a transfer from one state to another: the one place that writes where it is."""

from django.db import models

from events.actions import record

from ..models import ChainTransfer

Status = ChainTransfer.Status


def change(row: ChainTransfer, status: ChainTransfer.Status, kind: str) -> None:
    """Move a transfer to what the chain says now and record it on the order's timeline."""
    if status != row.status and status not in ChainTransfer.TRANSITIONS[row.status]:
        raise RuntimeError(f"transfer {row}: {row.status} → {status} can't be")
    if status not in (Status.INCLUDED, Status.FINAL):
        row.block_height, row.block_hash, row.block_time = None, "", None
        row.confirmations, row.finalized, row.seconded = 0, False, None
    row.status = status
    row.save(
        update_fields=[
            "status",
            "block_height",
            "block_hash",
            "block_time",
            "confirmations",
            "finalized",
            "seconded",
            "replaced_by",
        ]
    )
    record(kind, subject=row, thread=story(row), actor=None, height=row.block_height)


def story(row: ChainTransfer) -> models.Model:
    """Return the row whose timeline shows the transfer: dust stays out of the order's."""
    return row if row.dust else row.intent.purpose
