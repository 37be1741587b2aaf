"""Put something before a person."""

from django.db import IntegrityError, models, transaction

from events.actions import record, subject_of

from ..models import ReviewItem


def open_review(
    reason: ReviewItem.Reason,
    *,
    subject: models.Model,
    suggestion: str,
    thread: models.Model | None = None,
    **facts: str,
) -> None:
    """Open a review item, once per subject and reason while it is undecided. Call it in a transaction."""
    try:
        with transaction.atomic():
            item = ReviewItem.objects.create(
                reason=reason, subject=subject_of(subject), suggestion=suggestion, facts=facts
            )
    except IntegrityError:
        return
    record("review.opened", subject=item, thread=thread or subject, actor=None, reason=str(reason), **facts)
