"""What an operator wants to change of an offer, and what of it touches orders: values in, values out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .models import TERMS, Offer

WEIGHTY = ("lots", "cards_per_lot")  # with prices, what is shown before it is saved


@dataclass(frozen=True, slots=True)
class Edit:
    """Columns by their name, and prices of one lot in US cents by term in days."""

    facts: Mapping[str, Any]
    prices: Mapping[int, int]

    def changes(self, offer: Offer) -> dict[str, tuple[Any, Any]]:
        """Return what would be different: name → (old, new). A price's name is "price_7"; an old None is no price."""
        found = {name: (getattr(offer, name), new) for name, new in self.facts.items()}
        found |= {f"price_{term}": (offer.unit_price_cents(term), cents) for term, cents in self.prices.items()}
        return {name: both for name, both in found.items() if both[0] != both[1]}


def is_weighty(changes: Mapping[str, object]) -> bool:
    """Tell whether changes touch price, stock or lots: then they are shown before they are saved (CAT-10)."""
    return any(name in WEIGHTY or name.startswith("price_") for name in changes)


def mark(offer: Offer) -> str:
    """Return what a preview saw of an offer; when it differs at saving, the preview is shown again."""
    prices = ",".join(str(offer.unit_price_cents(term) or 0) for term in TERMS)
    return f"{offer.lots}.{offer.taken}.{offer.cards_per_lot}.{prices}"


def shortfall(offer: Offer, changes: Mapping[str, tuple[Any, Any]]) -> int:
    """Return how many lots would be short if a change of stock were saved; 0 if the stock does not change."""
    return max(0, offer.taken - int(changes["lots"][1])) if "lots" in changes else 0
