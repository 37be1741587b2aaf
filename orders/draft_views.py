"""The pages of kept choices: open to guests, each sees their own."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts import guests
from accounts.gates import allowed, too_many

from . import choice, drafts
from .views import named, price_of


@require_safe
@never_cache
def kept(request: HttpRequest) -> HttpResponse:
    return render(request, "orders/kept.html", {"drafts": drafts.of(guests.whose(request))})


@require_POST
def keep(request: HttpRequest) -> HttpResponse:
    """Keep a choice for later: for a person in every browser, for a guest in this one."""
    picked = choice.read(request.POST)
    price = price_of(picked) if picked else None
    if picked is None or price is None:
        messages.error(request, _("Choose a card, a term and 1 to 10 lots first."))
        return redirect("catalog:list")
    if not request.user.is_authenticated and not allowed(request, "guest"):
        return too_many(request)
    if drafts.keep(guests.holder(request), named(picked), price.offer):
        messages.success(request, _("Kept. It holds no lots and no price; order when you are ready."))
    else:
        messages.error(request, _("You keep as many choices as there is room for. Discard one first."))
    return redirect("orders:kept")


@require_POST
def discard(request: HttpRequest, draft_id: int) -> HttpResponse:
    drafts.discard(guests.whose(request), draft_id)
    return redirect("orders:kept")
