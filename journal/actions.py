"""Every write to the journal."""

from typing import Any

from django.conf import settings
from django.utils import timezone

from accounts.models import Holder

from .models import Card


class TooMany(Exception):
    """A guest has as many cards as a guest may have."""


def create_card(*, holder: Holder, facts: dict[str, Any]) -> Card:
    """Write a new card. `facts` are columns of Card; an order among them must be the holder's. TooMany stops guests."""
    if holder.user_id is None and Card.objects.filter(holder=holder).count() >= settings.GUEST_ITEMS_LIMIT:
        raise TooMany
    now = timezone.now()
    return Card.objects.create(holder=holder, created_at=now, updated_at=now, **facts)


def edit_card(*, card: Card, facts: dict[str, Any]) -> None:
    """Change what `facts` name and the time of the card."""
    changes = facts | {"updated_at": timezone.now()}
    for name, value in changes.items():
        setattr(card, name, value)
    card.save(update_fields=list(changes))
