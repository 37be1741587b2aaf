"""What customers ask the payment doctor, and what a worker answers. Nothing here credits or links money."""

import uuid
from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.models import User
from events.actions import subject_of
from events.nudge import nudge

from .. import errors
from ..doctor import CLAIMABLE, Diagnosis, may_change
from ..models import ChainTransfer, Inquiry, PaymentIntent, ReviewItem
from .reviews import open_review

SAME = timedelta(minutes=1)  # the same text again within this time is the same question
LEASE = timedelta(minutes=1)  # longer than the slowest answer; a killed worker's question is asked again after it
PAUSE = timedelta(seconds=5)  # what a run of answers did not get to waits so long, and the networks come first
DELAYS = (5, 10, 20, 40, 60)  # seconds until a network that does not show a transaction is asked again
SUGGESTION = gettext_noop(
    "Look it up in an explorer of the network that the customer names. Money on another chain may be recovered."
)


def ask(text: str, *, intent: PaymentIntent | None, actor: User) -> Inquiry:
    """Ask the doctor; the same text again within a minute returns the same question. TooManyAsked above a limit."""
    with transaction.atomic(durable=True):
        User.objects.select_for_update(no_key=True).get(pk=actor.pk)
        now = timezone.now()
        mine = Inquiry.objects.filter(customer=actor)
        same = mine.filter(text=text, intent=intent, asked_at__gt=now - SAME).order_by("-asked_at").first()
        if same:
            return same
        if mine.filter(asked_at__gt=now - timedelta(hours=1)).count() >= settings.INQUIRIES_PER_HOUR:
            raise errors.TooManyAsked
        inquiry = Inquiry.objects.create(customer=actor, intent=intent, text=text)
        transaction.on_commit(lambda: nudge("payments.tasks.answer_inquiries"), robust=True)
        return inquiry


def due() -> list[uuid.UUID]:
    """Return the questions that wait for an answer now, oldest first."""
    rows = Inquiry.objects.filter(answered_at=None, due_at__lte=timezone.now()).order_by("due_at")
    return list(rows.values_list("pk", flat=True)[:50])


def put_off(waiting: Sequence[uuid.UUID]) -> None:
    """Let questions that are due wait a little; one that another worker has claimed is left alone."""
    now = timezone.now()
    Inquiry.objects.filter(pk__in=waiting, answered_at=None, due_at__lte=now).update(due_at=now + PAUSE)


def claim(inquiry_id: uuid.UUID) -> Inquiry | None:
    """Begin to answer a question that is due; none if another worker is at it."""
    with transaction.atomic(durable=True):
        rows = Inquiry.objects.select_for_update(of=("self",), no_key=True).select_related("intent", "customer")
        inquiry = rows.get(pk=inquiry_id)
        now = timezone.now()
        if inquiry.answered_at or inquiry.due_at > now:
            return None
        inquiry.due_at, inquiry.tries = now + LEASE, inquiry.tries + 1
        inquiry.save(update_fields=["due_at", "tries"])
        return inquiry


def is_last(inquiry: Inquiry) -> bool:
    """Tell whether nobody will ask again by itself after this time."""
    return inquiry.tries > len(DELAYS)


def settle(inquiry: Inquiry, diagnoses: Sequence[Diagnosis]) -> None:
    """Write the answer of a claimed question; a later claim's answer is not overwritten."""
    now = timezone.now()
    again = may_change(diagnoses) and not is_last(inquiry)
    answer = {"found": [one.as_json() for one in diagnoses], "at": now.isoformat()}
    Inquiry.objects.filter(pk=inquiry.pk, tries=inquiry.tries, answered_at=None).update(
        answer=answer,
        answered_at=None if again else now,
        due_at=now + timedelta(seconds=DELAYS[inquiry.tries - 1]) if again else now,
    )


def claim_payment(inquiry_id: uuid.UUID, *, note: str, actor: User) -> None:
    """Put a payment that the rules can't find or value before a person, once per question. It credits nothing."""
    with transaction.atomic(durable=True):
        inquiry = Inquiry.objects.select_for_update(of=("self",), no_key=True).get(pk=inquiry_id, customer=actor)
        found = [Diagnosis.from_json(one) for one in inquiry.answer.get("found", ())]
        claimed = next((one for one in found if one.code in CLAIMABLE), None)
        if claimed is None:
            raise errors.NothingToClaim
        if claims(inquiry):
            return
        open_review(
            ReviewItem.Reason.CLAIM,
            subject=inquiry,
            thread=inquiry.intent.purpose if inquiry.intent else None,
            transfer=ChainTransfer.objects.filter(pk=claimed.transfer).first() if claimed.transfer else None,
            suggestion=SUGGESTION,
            customer=str(actor.pk),
            text=inquiry.text,
            found=claimed.code,
            networks=", ".join(claimed.networks) or claimed.name,
            asset=claimed.asset,
            amount=claimed.amount,
            note=note.replace("\x00", "")[:500],  # PostgreSQL keeps no NUL
        )


def claims(inquiry: Inquiry) -> bool:
    """Tell whether a person was asked about this question already, decided or not."""
    return ReviewItem.objects.filter(reason=ReviewItem.Reason.CLAIM, subject=subject_of(inquiry)).exists()
