"""Write what the network, and a second provider, say again about transfers whose fate is open."""

import logging
import uuid
from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext_noop

from events.actions import record, recording

from ..models import ChainTransfer, ReviewItem
from ..networks.base import Block, Confirmation, Replaced
from ..registry import families
from .moving import become, placed, story, write_alike
from .reviews import open_review
from .watching import my_turn

log = logging.getLogger(__name__)
Status = ChainTransfer.Status
Answer = Confirmation | Replaced | None


def record_confirmations(network: str, turn: int, answers: Sequence[tuple[ChainTransfer, Answer]]) -> set[uuid.UUID]:
    """Write what the network says now about transfers whose fate is open. Return the intents that it told something
    new; how deep a transfer is meanwhile is none.

    A transfer can't be gone while its block is on the chain that was read: behind one address there may be several
    nodes, and one of them lags. Its payer must not be told to pay again.
    """
    told = {asked.pk: answer for asked, answer in answers}
    moved: set[uuid.UUID] = set()
    with recording():
        read = {tuple(block) for block in my_turn(network, turn).recent}
        rows = ChainTransfer.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=told).order_by("pk")
        changed = []
        for row in rows.select_related("intent__order", "intent__topup"):
            answer, before = told[row.pk], placed(row)
            if not isinstance(answer, Confirmation) and (row.block_height, row.block_hash) in read:
                log.warning("%s: the node does not know a transfer of a block that it gave us", row)
            elif row.status != Status.FINAL and confirm(row, answer):
                moved.add(row.intent_id)
            if placed(row) != before:
                changed.append(row)
        write_alike(changed)
    return moved


def confirm(row: ChainTransfer, answer: Answer) -> bool:
    """Note on a locked row what the network says, and record it; tell whether more than its depth became different."""
    if isinstance(answer, Replaced):
        status, news = Status.REPLACED, row.status != Status.REPLACED
        row.replaced_by = (answer.by if news else "") or row.replaced_by
    elif answer is None:
        status, news = Status.DROPPED, not row.is_gone
    elif answer.block is None:
        status, news = Status.SEEN, row.is_gone
    else:
        return confirm_in_block(row, answer, answer.block)
    if news:
        become(row, status, f"transfer.{status}")
    return news


def confirm_in_block(row: ChainTransfer, answer: Confirmation, block: Block) -> bool:
    before = row.block_height, row.block_hash, row.block_time
    row.block_height, row.block_hash, row.block_time = block.height, block.hash, block.time
    row.confirmations, row.finalized = answer.confirmations, answer.finalized
    if is_final(row):
        become(row, Status.FINAL, "transfer.final")
        return True
    if row.status != Status.INCLUDED:
        become(row, Status.INCLUDED, "transfer.included")
        return True
    return before != (block.height, block.hash, block.time)


def record_second(network: str, turn: int, answers: Sequence[tuple[ChainTransfer, Answer]]) -> None:
    """Write what the second provider says about final transfers. One that it does not know waits, and stands before a
    person: it may lag, or the first one may lie."""
    with transaction.atomic(durable=True):
        my_turn(network, turn)
        for asked, answer in answers:
            row = ChainTransfer.objects.select_for_update(of=("self",), no_key=True).get(pk=asked.pk)
            agrees = isinstance(answer, Confirmation) and answer.block is not None
            agrees = agrees and answer.block.hash == row.block_hash  # type: ignore[union-attr]
            if row.status != Status.FINAL or row.seconded == agrees:
                continue
            row.seconded = agrees
            row.save(update_fields=["seconded"])
            if agrees:
                record("transfer.seconded", subject=row, thread=story(row), actor=None)
            else:
                disagree(row)


def disagree(row: ChainTransfer) -> None:
    open_review(
        ReviewItem.Reason.DISAGREE,
        subject=row,
        thread=row.intent.purpose,
        transfer=row,
        block=row.block_hash,
        amount=str(row.amount),
        suggestion=gettext_noop(
            "If the second provider is only behind, wait. Else look the transaction up in a third explorer."
        ),
    )


def is_final(row: ChainTransfer) -> bool:
    """Tell whether a transfer is deep enough for what it is worth: its own value or its promise's, the larger."""
    intent = row.intent
    value = intent.usd_cents
    if row.method == intent.method:
        value = max(value, row.amount * intent.usd_cents // intent.amount)
    needed = families()[row.network].finality(value)
    return row.finalized or (not needed.finalized and row.confirmations >= needed.confirmations)
