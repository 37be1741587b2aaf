"""Rentals that wait for an operator: to be prepared, to be ended, to be wiped. What stands still comes first (E15)."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import CharField, DateTimeField, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Cast, Coalesce, Concat
from django.urls import reverse
from django.utils.timesince import timesince
from django.utils.translation import gettext_lazy as _

from events.models import Event
from events.todo import Row, Section, Words, first, page

from .models import Rental

STILL = timedelta(hours=12)  # without an event a rental that is to be prepared stands still
TO_PREPARE = (Rental.State.QUEUED, Rental.State.PREPARING, Rental.State.READY, Rental.State.FAILED)
RUNNING = (Rental.State.ACTIVE, Rental.State.SUSPENDED)


def to_prepare(now: datetime) -> Section:
    """List the paid rentals that are not handed over: the one whose last event is longest ago first."""
    rows, count = first(longest_still_first(Rental.objects.filter(state__in=TO_PREPARE)))
    lines = [waiting(rental, now) for rental in rows]
    url = page("provisioning_rental", state__in=",".join(TO_PREPARE))
    return Section(_("Rentals to prepare and hand over"), count, lines, url)


def longest_still_first(rentals: QuerySet[Rental]) -> QuerySet[Any]:
    """Add and order by `last_at`: when a rental itself last moved. A customer's words do not count."""
    thread = Concat(Value("order:"), Cast(OuterRef("order_id"), CharField()))
    moves = Event.objects.filter(thread=thread, kind__startswith="rental.").order_by("-at")
    last = Coalesce(Subquery(moves.values("at")[:1], output_field=DateTimeField()), F("created_at"))
    return rentals.select_related("order").annotate(last_at=last).order_by("last_at", "pk")


def waiting(rental: Any, now: datetime) -> Row:
    still = now - rental.last_at >= STILL
    words = [str(rental.get_state_display()), what(rental)]
    if still:
        words.insert(0, _("nothing has happened for %(time)s") % {"time": timesince(rental.last_at, now, depth=1)})
    bad = still or rental.state == Rental.State.FAILED
    return Row(rental.order.number, address(rental), rental.created_at, ", ".join(words), bad=bad)


def to_end(now: datetime) -> Section:
    """List the rentals whose term is over, and those that ended and are not wiped: their lots are not in stock."""
    over = Q(state__in=RUNNING, ends_at__lte=now) | Q(state=Rental.State.ENDED, wiped_at=None)
    rows, count = first(Rental.objects.filter(over).select_related("order").order_by("ends_at", "pk"))
    lines = [ended(rental) for rental in rows]
    return Section(_("Rentals to end and wipe"), count, lines, page("provisioning_rental"))


def ended(rental: Rental) -> Row:
    still_runs = rental.state in RUNNING
    text: Words = _("the term is over: end it") if still_runs else _("ended: confirm the wipe, then its lots are free")
    since = rental.ends_at if still_runs else rental.ended_at
    return Row(rental.order.number, address(rental), since, f"{text}, {what(rental)}")


def what(rental: Rental) -> str:
    return f"{rental.order.lots} × {rental.order.offer_name}"


def address(rental: Rental) -> str:
    return reverse("admin:provisioning_rental_change", args=[rental.pk])
