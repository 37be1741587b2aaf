"""Reads of the journal. Nobody reads another person's cards: for them they do not exist."""

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from accounts.models import User

from .models import Card


def own_cards(owner: User) -> QuerySet[Card]:
    """Return a person's cards with their orders, last changed first."""
    return Card.objects.filter(owner=owner).select_related("order")


def own_card(owner: User, card_id: int) -> Card:
    """Return one card; 404 for one that is not there and for anybody else's."""
    return get_object_or_404(own_cards(owner), pk=card_id)
