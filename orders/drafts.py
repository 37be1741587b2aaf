"""Choices kept for later: every write to them."""

from typing import Any

from django.conf import settings
from django.db.models import Q

from accounts.models import Holder
from catalog.models import Offer

from .choice import Choice
from .models import Draft


def of(whose: Q) -> list[Draft]:
    """Return the kept choices that `whose` selects, newest first."""
    return list(Draft.objects.filter(whose).select_related("offer"))


def keep(holder: Holder, choice: Choice, offer: Offer) -> Draft | None:
    """Keep a choice; one that is kept already stays as it is. None when the holder has as many as a guest may have."""
    if Draft.objects.filter(holder=holder).count() >= settings.GUEST_ITEMS_LIMIT:
        return None
    draft, _made = Draft.objects.get_or_create(holder=holder, offer=offer, **columns(choice))
    return draft


def discard(whose: Q, draft_id: int) -> None:
    Draft.objects.filter(whose, pk=draft_id).delete()


def discard_same(whose: Q, choice: Choice) -> None:
    """Discard the kept choice that has just become an order."""
    Draft.objects.filter(whose, offer__slug=choice.offer_slug, **columns(choice)).delete()


def to_choice(draft: Draft) -> Choice:
    return Choice(draft.offer.slug, draft.term_days, draft.lots, draft.environment_code, "", draft.environment_wish)


def columns(choice: Choice) -> dict[str, Any]:
    return {
        "term_days": choice.term_days,
        "lots": choice.lots,
        "environment_code": choice.environment_code,
        "environment_wish": choice.environment_wish,
    }
