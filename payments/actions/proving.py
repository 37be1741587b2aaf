"""Write what a check of chain and books found. A discrepancy comes before a person; nothing is changed by it."""

import logging
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_noop

from ..models import ChainTransfer, NetworkCursor, Reconciliation, ReviewItem
from ..proof import Ledger, Sums
from .reviews import open_review

log = logging.getLogger(__name__)


def record_run(network: str, *, sums: Sequence[Sums], **facts: Any) -> Reconciliation:
    """Write a check of a network."""
    wrong = [one for one in sums if one.difference]
    with transaction.atomic(durable=True):
        for one in wrong:
            log.error("%s: %s on the chain, %s in the books", one.method, one.credited, one.books)
            tell_of_books(network, one)
        return Reconciliation.objects.create(
            network=network,
            sums={one.method: one.as_json() for one in sums},
            agrees=not wrong and not facts["missing"],
            **facts,
        )


def record_ledger(found: Ledger) -> Reconciliation:
    """Write a check of the ledger as a whole."""
    cents = {"credits": found.credits, "received": found.received, "tolerance": found.tolerance}
    if not found.agrees:
        log.error("credits of transfers are %s cents, the ledger received %s", found.credits, found.received)
    return Reconciliation.objects.create(sums=cents, agrees=found.agrees)


def tell_of_books(network: str, one: Sums) -> None:
    open_review(
        ReviewItem.Reason.BOOKS,
        subject=NetworkCursor.objects.get(pk=network),
        method=one.method,
        chain=str(one.credited),
        books=str(one.books),
        lasting=True,
        suggestion=gettext_noop(
            "Run verifyledger: it names the rows that differ. Hand out no machine for this money before."
        ),
    )


def tell_of_missing(row: ChainTransfer) -> bool:
    """Put a final transfer that the node does not have before a person; false if it is no longer final by our rows."""
    with transaction.atomic(durable=True):
        now = ChainTransfer.objects.select_for_update(of=("self",), no_key=True).get(pk=row.pk)
        if (now.status, now.block_hash) != (row.status, row.block_hash):
            return False
        log.error("%s: the node does not have it in block %s", row, row.block_hash)
        open_review(
            ReviewItem.Reason.BOOKS,
            subject=row,
            thread=row.intent.purpose,
            transfer=row,
            block=row.block_hash,
            amount=str(row.amount),
            lasting=True,
            suggestion=gettext_noop(
                "Look it up in an explorer. If it is there, the node is wrong; if not, the money is gone."
            ),
        )
        return True
