"""A guest's work, from all apps: what it is, and whether it is brought along after signing in (ACC-6)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache

from accounts import guests
from accounts.models import Holder
from accounts.views.entrance import next_url
from journal.models import Card
from orders.models import Draft

# Everything that a guest may have: what people call it, and the rows that one holder has.
KINDS: tuple[tuple[Promise, Callable[[Holder], Iterable[object]]], ...] = (
    (gettext_lazy("Kept choices"), lambda holder: Draft.objects.filter(holder=holder).select_related("offer")),
    (gettext_lazy("Journal cards"), lambda holder: Card.objects.filter(holder=holder)),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of work, and its rows as people read them."""

    label: Promise
    rows: list[str]


@login_required
@never_cache
def bring_along(request: HttpRequest) -> HttpResponse:
    """Show the guest's work of this session, and claim it when the reader says so."""
    onward = next_url(request, reverse("orders:list"))
    holder = guests.here(request)
    if holder is None:
        return redirect(onward)
    if request.method == "POST":
        decide(request)
        return redirect(onward)
    kinds = [Kind(label, [str(row) for row in rows(holder)]) for label, rows in KINDS]
    return render(request, "account/bring_along.html", {"kinds": kinds, "next": onward})


def decide(request: HttpRequest) -> None:
    if request.POST.get("bring") != "yes":
        request.session.pop(guests.KEY, None)
    elif guests.claim_here(request):
        messages.success(request, _("It is yours now: choices under My rentals, cards in the journal."))
