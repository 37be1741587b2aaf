"""Words for stock and lots, so that the list, the offer and the checkout say the same."""

from django import template
from django.utils.translation import gettext, ngettext

from catalog.models import Offer, Pause
from catalog.pausing import OFFER, paused

register = template.Library()


@register.filter
def stock(offer: Offer) -> str:
    """Say what can be ordered now: {{ offer|stock }} gives "12 cards available" (CAT-6)."""
    lots = offer.available_lots
    if not offer.published:
        return gettext("No new orders at the moment")
    if not lots:
        return gettext("Sold out at the moment")
    if offer.cards_per_lot == 1:
        return ngettext("%(count)d card available", "%(count)d cards available", lots) % {"count": lots}
    if offer.cards_per_lot == 2:
        return ngettext("%(count)d two-card lot available", "%(count)d two-card lots available", lots) % {"count": lots}
    return ngettext(
        "%(count)d lot of %(cards)d cards available", "%(count)d lots of %(cards)d cards available", lots
    ) % {"count": lots, "cards": offer.cards_per_lot}


@register.filter
def lot_content(offer: Offer) -> str:
    """Say which cards one lot holds, with the name of the card: {{ offer|lot_content }}."""
    return gettext("1 lot = %(cards)d × %(name)s") % {"cards": offer.cards_per_lot, "name": offer.name}


@register.filter
def cards_of(offer: Offer, lots: int) -> int:
    """Count the cards in a number of lots: {{ offer|cards_of:2 }}."""
    return offer.cards_per_lot * lots


@register.inclusion_tag("catalog/_paused.html")
def orders_notice(offer: Offer | None = None) -> dict[str, object]:
    """Say plainly that no new orders are taken at the moment, of anything or of this offer, and why (OPS-8)."""
    everything = paused(Pause.ORDERS)
    return {"everything": everything, "one": None if everything or offer is None else offer_pause(offer)}


@register.simple_tag
def offer_pause(offer: Offer) -> Pause | None:
    """Return the pause of an offer; none while it is published."""
    return None if offer.published else paused(f"{OFFER}{offer.pk}")
