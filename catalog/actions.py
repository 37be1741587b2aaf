"""Every write to the catalog. Taking and giving back lots happens inside the transaction of whoever asks."""

from typing import Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest

from accounts.models import User
from events.actions import record

from . import pausing, sample
from .editing import Edit, is_weighty, mark, shortfall
from .models import TERMS, Offer, Pause, Price


class StockError(Exception):
    """A change of stock that cannot be true, such as giving back more lots than are taken."""


class Moved(Exception):
    """What was shown before saving is not true any more: stock or prices moved meanwhile."""


class Short(Exception):
    """More lots are taken than would exist; it must be said a second time, with the number."""


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


def add_offer(*, offer: Offer, actor: User) -> None:
    """Insert an offer in the caller's transaction; its prices follow."""
    offer.save(force_insert=True)
    record("offer.added", subject=offer, actor=actor, lots=offer.lots, cards_per_lot=offer.cards_per_lot)


def edit_offer(offer_id: int, edit: Edit, *, seen: str, short_accepted: int = 0, actor: User) -> Offer:
    """Change an offer as it was shown (CAT-10). Orders keep what they were saved with.

    Moved if a preview was needed and another state was seen; Short if lots would be missing and not exactly so many
    were accepted (S16). Then nothing was changed.
    """
    with transaction.atomic(durable=True):
        offer = Offer.objects.select_for_update(of=("self",), no_key=True).get(pk=offer_id)
        changes = edit.changes(offer)
        if is_weighty(changes) and seen != mark(offer):
            raise Moved
        if (short := shortfall(offer, changes)) and short != short_accepted:
            raise Short
        if changes:
            write(offer, changes)
            record("offer.changed", subject=offer, actor=actor, changes=changes)
        return offer


def write(offer: Offer, changes: dict[str, tuple[Any, Any]]) -> None:
    """Write the changed columns and prices of a locked offer, and nothing else."""
    facts = {name: new for name, (_old, new) in changes.items() if not name.startswith("price_")}
    lots = facts.pop("lots", None)
    for name, new in facts.items():
        setattr(offer, name, new)
    if facts:
        offer.save(update_fields=list(facts))
    for term in TERMS:
        if f"price_{term}" in changes:
            set_price(offer=offer, term_days=term, unit_price_cents=changes[f"price_{term}"][1])
    if lots is not None:
        set_stock(offer=offer, lots=lots)


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
    for pause in Pause.objects.filter(subject=f"{pausing.OFFER}{offer.pk}"):
        pausing.lift(pause)
    set_stock(offer=offer, lots=one.facts["lots"])
    for term, cents in one.cents.items():
        set_price(offer=offer, term_days=term, unit_price_cents=cents)


def _check(lots: int) -> None:
    if lots < 1:
        raise StockError("At least one lot is taken or given back.")
