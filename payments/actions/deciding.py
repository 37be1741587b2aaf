"""Decide a review item. Only the decision is stored; what follows is computed from it by `advance`."""

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from events.actions import record

from .. import errors
from ..models import ChainTransfer, ReviewItem
from ..queries import can_be_valued
from .intents import locked_intent

Outcome = ReviewItem.Outcome
VERDICTS = {Outcome.CREDITED: ChainTransfer.Verdict.CREDIT, Outcome.KEPT: ChainTransfer.Verdict.KEEP}


def decide(item_id: int, outcome: ReviewItem.Outcome, *, reason: str, actor: User) -> ReviewItem:
    """Decide an open item once; AlreadyDecided shows the other's decision. `credited` and `kept` speak of its transfer:
    the watcher credits it at its next pass at the market's rate, or never."""
    if not reason.strip():
        raise errors.NoGrounds
    with transaction.atomic(durable=True):
        lock_intent_of(item_id)
        item = ReviewItem.objects.select_for_update(of=("self",), no_key=True).get(pk=item_id)
        if item.decided_at:
            raise errors.AlreadyDecided(item.get_outcome_display(), str(item.actor), item.decision)
        if outcome in VERDICTS:
            refuse_own(item, actor)
            give_verdict(item, VERDICTS[outcome])
        close(item, outcome, reason=reason.strip(), actor=actor)
        return item


def close(item: ReviewItem, outcome: ReviewItem.Outcome, *, reason: str, actor: User) -> None:
    """Write the decision of a locked open item."""
    item.outcome, item.decision, item.actor, item.decided_at = outcome, reason[:300], actor, timezone.now()
    item.save(update_fields=["outcome", "decision", "actor", "decided_at"])
    thread = item.transfer.intent.purpose if item.transfer else item
    record("review.decided", subject=item, thread=thread, actor=actor, outcome=str(outcome), reason=reason)


def reopen(item_id: int, *, reason: str, actor: User) -> ReviewItem:
    """Open a decided item anew, as a new one that is decided like any other; the old decision stays in the history.

    What was said about its transfer is taken back in the same transaction, so nothing follows from it any more. A
    credit that was made is not undone by this: CreditedAlready says so.
    """
    if not reason.strip():
        raise errors.NoGrounds
    with transaction.atomic(durable=True):
        lock_intent_of(item_id)
        old = ReviewItem.objects.select_for_update(of=("self",), no_key=True).get(pk=item_id)
        if old.decided_at is None:
            raise errors.NotDecided
        if ReviewItem.objects.filter(reason=old.reason, subject=old.subject, decided_at=None).exists():
            raise errors.OpenAlready
        take_verdict_back(old)
        new = ReviewItem.objects.create(
            reason=old.reason,
            subject=old.subject,
            transfer=old.transfer,
            suggestion=old.suggestion,
            facts={**old.facts, "anew_from": str(old.pk)},
        )
        thread = new.transfer.intent.purpose if new.transfer else new
        record("review.reopened", subject=new, thread=thread, actor=actor, before=old.pk, reason=reason.strip())
        return new


def take_verdict_back(item: ReviewItem) -> None:
    """Clear what a person said about the transfer of a locked item, if nothing was done with its money yet."""
    if item.transfer_id is None:
        return
    transfer = ChainTransfer.objects.select_for_update(of=("self",), no_key=True).get(pk=item.transfer_id)
    if transfer.credited:
        raise errors.CreditedAlready
    refuse_sent_back(transfer)
    transfer.verdict = ""
    transfer.save(update_fields=["verdict"])


def refuse_sent_back(transfer: ChainTransfer) -> None:
    """Refuse a transfer whose money was, or is being, sent back to its payer: whatever sends money back is asked."""
    refund = transfer.payouts.standing().first()
    if refund:
        raise errors.BeingRefunded(refund.number)


def lock_intent_of(item_id: int) -> None:
    """Take turns with `advance`: it must not credit, by what it read before, what a person refuses at this moment."""
    intent_id = ReviewItem.objects.values_list("transfer__intent", flat=True).get(pk=item_id)
    if intent_id:
        locked_intent(intent_id)


def refuse_own(item: ReviewItem, actor: User) -> None:
    if item.transfer and item.transfer.intent.customer_id == actor.pk:
        raise errors.OwnMoney


def give_verdict(item: ReviewItem, verdict: ChainTransfer.Verdict) -> None:
    """Write what a person said about the transfer of a locked item."""
    if item.transfer_id is None:
        raise errors.NoTransfer
    transfer = ChainTransfer.objects.select_for_update(of=("self",), no_key=True).get(pk=item.transfer_id)
    if transfer.credited:
        raise errors.CreditedAlready
    if verdict == ChainTransfer.Verdict.CREDIT:
        refuse_credit(transfer)
    transfer.verdict = verdict
    transfer.save(update_fields=["verdict"])


def refuse_credit(transfer: ChainTransfer) -> None:
    """Raise the `Refused` that says why a transfer can't be credited: nobody knows its worth, or it is sent back."""
    if not can_be_valued(transfer):
        raise errors.NoValue
    refuse_sent_back(transfer)
