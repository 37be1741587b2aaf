"""Reads of the catalog. Lists come with their prices, in as many queries for one offer as for fifty."""

from collections.abc import Mapping
from typing import Any

from django.db.models import F, OuterRef, Q, Subquery

from .architectures import newer_than
from .models import TERMS, Offer, OfferQuerySet, Price
from .pausing import OFFER, all_paused

ORDERS = {"memory": ("-memory_gb", "position", "id"), "name": ("name",)}


def published() -> OfferQuerySet:
    """Return the offers that customers see, with their prices."""
    return Offer.objects.published().prefetch_related("prices")


def readable() -> OfferQuerySet:
    """Return the offers whose page customers may read: published ones and paused ones, with their prices."""
    paused = [int(key) for key in all_paused(OFFER)]
    return Offer.objects.filter(Q(published=True) | Q(pk__in=paused)).prefetch_related("prices")


def vendors() -> list[str]:
    """Return the vendors of published offers, by name."""
    return list(Offer.objects.published().order_by("vendor").values_list("vendor", flat=True).distinct())


def matching(wishes: Mapping[str, Any]) -> OfferQuerySet:
    """Return published offers that match: vendor, backend, memory (GB per card), available, term (days), sort.

    A wish that is missing or empty asks nothing. Prices sort by one lot for the term, offers without one last.
    """
    offers = published()
    for wish, lookup in (("vendor", "vendor"), ("backend", "backend"), ("memory", "memory_gb__gte")):
        if wishes.get(wish):
            offers = offers.filter(**{lookup: wishes[wish]})
    if wishes.get("available"):
        offers = offers.available()
    return _sorted(offers, wishes.get("sort", ""), wishes.get("term") or TERMS[0])


def related(offer: Offer) -> list[tuple[str, Offer]]:
    """Return published offers of the same backend and memory: ("same", offer) architecture, then ("newer", offer)."""
    twins = published().filter(backend=offer.backend, memory_gb=offer.memory_gb).exclude(pk=offer.pk)
    same = [("same", twin) for twin in twins if twin.architecture == offer.architecture]
    newer = [("newer", twin) for twin in twins if twin.architecture in newer_than(offer.architecture)]
    return same + newer


def _sorted(offers: OfferQuerySet, sort: str, term: int) -> OfferQuerySet:
    if sort == "price":
        price = Price.objects.filter(offer=OuterRef("pk"), term_days=term).values("unit_price_cents")
        return offers.alias(lot_price=Subquery(price)).order_by(F("lot_price").asc(nulls_last=True), "position", "id")
    return offers.order_by(*ORDERS.get(sort, ("position", "id")))
