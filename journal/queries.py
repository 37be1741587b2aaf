"""Reads of the journal. Nobody reads another person's cards: for them they do not exist."""

from django.db.models import Q, QuerySet

from .models import Card


def own_cards(whose: Q) -> QuerySet[Card]:
    """Return the cards that `whose` selects (see accounts/guests.py) with their orders, last changed first."""
    return Card.objects.filter(whose).select_related("order")
