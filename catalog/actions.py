"""Every write to the catalog. Taking and giving back lots happens inside the transaction of whoever asks."""

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest

from accounts.models import User
from events.actions import record

from . import sample
from .models import Offer, Price


class StockError(Exception):
    """A change of stock that cannot be true, such as giving back more lots than are taken."""


def take_lots(offer_id: int, lots: int, *, paused: bool = False) -> bool:
    """Take `lots` (≥ 1) of an offer, all or none; False when there are too few. The only way to take stock.

    New orders take from published offers only; an order that exists may take from a paused one as well.
    """
    _check(lots)
    free = Offer.objects.filter(pk=offer_id, published__in=(True, not paused), taken__lte=F("lots") - lots)
    return free.update(taken=F("taken") + lots) == 1


def give_back_lots(offer_id: int, lots: int) -> None:
    """Return `lots` (≥ 1) that were taken; a shortfall shrinks with them. Raises StockError when fewer are taken."""
    _check(lots)
    left = F("taken") - lots
    held = Offer.objects.filter(pk=offer_id, taken__gte=lots)
    if held.update(taken=left, short=Greatest(0, left - F("lots"))) != 1:
        raise StockError(f"Offer {offer_id} has fewer than {lots} lots taken.")


def set_stock(*, offer: Offer, lots: int) -> None:
    """Set how many lots exist (≥ 0). Hardware breaks: when more are taken, the rest shows as `short`."""
    if lots < 0:
        raise StockError("Lots cannot be fewer than none.")
    Offer.objects.filter(pk=offer.pk).update(lots=lots, short=Greatest(0, F("taken") - lots))
    offer.refresh_from_db(fields=["lots", "taken", "short"])


def set_price(*, offer: Offer, term_days: int, unit_price_cents: int) -> Price:
    """Set the price of one lot for a term, in US cents. Orders keep the price they were saved with."""
    price, _ = Price.objects.update_or_create(
        offer=offer, term_days=term_days, defaults={"unit_price_cents": unit_price_cents}
    )
    return price


def publish(*, offers: QuerySet[Offer], published: bool, actor: User) -> int:
    """Show or hide offers and return how many changed. A hidden one takes no orders; those that exist go on."""
    with transaction.atomic():
        changing = list(offers.select_for_update(no_key=True).exclude(published=published).order_by("pk"))
        for offer in changing:
            offer.published = published
            offer.save(update_fields=["published"])
            record("offer.published" if published else "offer.paused", subject=offer, actor=actor, name=offer.name)
        return len(changing)


def load_sample_catalog(*, reset: bool = False) -> int:
    """Add the sample offers that are missing and return how many; `reset` also undoes what operators edited."""
    with transaction.atomic():
        known = {offer.slug: offer for offer in Offer.objects.all()}
        new = [one for one in sample.read() if one.slug not in known]
        for one in new:
            offer = Offer.objects.create(slug=one.slug, **one.facts)
            Price.objects.bulk_create(
                Price(offer=offer, term_days=term, unit_price_cents=cents) for term, cents in one.cents.items()
            )
        if reset:
            for one in sample.read():
                if one.slug in known:
                    _reset(known[one.slug], one)
    return len(new)


def _reset(offer: Offer, one: sample.SampleOffer) -> None:
    facts = {name: value for name, value in one.facts.items() if name != "lots"}
    Offer.objects.filter(pk=offer.pk).update(**facts, published=True)
    set_stock(offer=offer, lots=one.facts["lots"])
    for term, cents in one.cents.items():
        set_price(offer=offer, term_days=term, unit_price_cents=cents)


def _check(lots: int) -> None:
    if lots < 1:
        raise StockError("At least one lot is taken or given back.")
