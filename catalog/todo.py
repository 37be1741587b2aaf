"""What of the stock needs a person: a shortfall at once; offers with few lots left are good to know."""

from collections.abc import Callable
from datetime import datetime

from django.conf import settings
from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from events.todo import Row, Section, Words, first, page

from .models import Offer


def shortfalls(now: datetime) -> Section:
    """Name the offers of which more lots are held and in use than exist, with the numbers (S16)."""
    found = Offer.objects.filter(taken__gt=F("lots")).order_by("position", "id")
    return section(_("More lots are held and in use than exist"), found, shortfall, bad=True)


def low(now: datetime) -> Section:
    """Name the published offers with few lots left, or none."""
    found = Offer.objects.published().filter(
        taken__lte=F("lots"), lots__gt=0, taken__gte=F("lots") - settings.STOCK_LOW
    )
    return section(_("Few lots are left"), found.order_by("position", "id"), left, idle=True)


def shortfall(offer: Offer) -> Row:
    facts = {"taken": offer.taken, "lots": offer.lots, "short": offer.taken - offer.lots}
    detail = (
        _("%(taken)d held and in use, %(lots)d exist: %(short)d short. Add lots, or agree with a customer.") % facts
    )
    return Row(offer.name, address(offer), detail=detail, bad=True, alarm=f"stock:{offer.slug}")


def left(offer: Offer) -> Row:
    facts = {"free": offer.available_lots, "lots": offer.lots}
    return Row(offer.name, address(offer), detail=_("%(free)d of %(lots)d left") % facts)


def address(offer: Offer) -> str:
    return reverse("admin:catalog_offer_change", args=[offer.pk])


def section(
    title: Words, found: QuerySet[Offer], row: Callable[[Offer], Row], *, bad: bool = False, idle: bool = False
) -> Section:
    offers, count = first(found)
    return Section(title, count, [row(offer) for offer in offers], page("catalog_offer"), bad=bad, idle=idle)
