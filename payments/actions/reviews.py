"""Put something before a person."""

from django.db import IntegrityError, models, transaction

from events.actions import record, subject_of

from ..models import ChainTransfer, ReviewItem


def open_review(
    reason: ReviewItem.Reason,
    *,
    subject: models.Model,
    suggestion: str,
    thread: models.Model | None = None,
    transfer: ChainTransfer | None = None,
    lasting: bool = False,
    **facts: str,
) -> None:
    """Open a review item, once per subject and reason while it is undecided. Call it in a transaction.

    `lasting`: what every pass finds again until somebody mends it; once decided, it is asked again only if its facts
    are others.
    """
    name = subject_of(subject)
    items = ReviewItem.objects.filter(reason=reason, subject=name)
    if items.filter(decided_at=None).exists():
        return  # asked again at every pass: without a look each would be an error in the log of PostgreSQL
    if lasting and facts in items.values_list("facts", flat=True):
        return
    try:
        with transaction.atomic():
            item = ReviewItem.objects.create(
                reason=reason, subject=name, transfer=transfer, suggestion=suggestion, facts=facts
            )
    except IntegrityError:
        return
    record("review.opened", subject=item, thread=thread or subject, actor=None, reason=str(reason), **facts)
