"""Every write to the journal."""

from typing import Any

from django.utils import timezone

from accounts.models import User

from .models import Card


def create_card(*, owner: User, facts: dict[str, Any]) -> Card:
    """Write a new card. `facts` are columns of Card; an order among them must be the owner's."""
    now = timezone.now()
    return Card.objects.create(owner=owner, created_at=now, updated_at=now, **facts)


def edit_card(*, card: Card, facts: dict[str, Any]) -> None:
    """Change what `facts` name and the time of the card."""
    changes = facts | {"updated_at": timezone.now()}
    for name, value in changes.items():
        setattr(card, name, value)
    card.save(update_fields=list(changes))
