"""What pages of lower apps and lists show of orders."""

from collections.abc import Mapping
from typing import Any

from django import template

from catalog.models import Offer
from orders.drafts import to_choice
from orders.effects import effects
from orders.models import Draft, Environment, Order
from orders.words import Word
from orders.words import payment_word as word_of

register = template.Library()


@register.inclusion_tag("orders/_environments.html")
def environment_choices(selected: str = "", wish: str = "") -> dict[str, object]:
    """Show the environments as choices of a form: names `environment` and `environment_other`."""
    environments = list(Environment.objects.filter(offered=True))
    codes = [environment.code for environment in environments]
    return {
        "environments": environments,
        "selected": selected if selected in codes else codes[:1][0] if codes else "",
        "wish": wish,
    }


@register.simple_tag
def order_payment_word(order: Order) -> Word:
    """Return the word for an order's money, from the order alone."""
    return word_of(order)


@register.filter
def choice_query(draft: Draft) -> str:
    """Return the query string with which a kept choice goes on to the checkout."""
    return to_choice(draft).query()


@register.inclusion_tag("orders/_admin_effects.html")
def offer_effects(offer: Offer, changes: Mapping[str, tuple[Any, Any]] | None = None) -> dict[str, object]:
    """Show the staff which orders and lots a change of an offer is about; without changes, those that a pause is."""
    changes = changes or {}
    lots = int(changes["lots"][1]) if "lots" in changes else offer.lots
    return {
        "offer": offer,
        "effects": effects(offer, lots),
        "stock": "lots" in changes,
        "cards": "cards_per_lot" in changes,
        "prices": any(name.startswith("price_") for name in changes),
    }
