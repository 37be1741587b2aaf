"""The customer's pages of top-ups: make one, see one."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts.models import User
from orders.errors import Refused

from . import queries
from .actions.topups import make_topup
from .errors import NoSuchAmount
from .forms import TopUpForm
from .models import TopUp
from .pages import pages_of, panel_of
from .words import topup_word


@login_required
@require_POST
def make(request: HttpRequest) -> HttpResponse:
    """Make a top-up of a listed amount, and lead to its methods."""
    form = TopUpForm(request.POST)
    try:
        if not form.is_valid():
            raise NoSuchAmount
        topup = make_topup(cast(User, request.user), **form.cleaned_data)
    except Refused as error:
        messages.error(request, str(error))
        return redirect("balance:statement")
    return redirect("payments:choose_topup" if topup.is_payable else "payments:topup", topup.number)


@login_required
@never_cache
def detail(request: HttpRequest, number: str) -> HttpResponse:
    """Show one top-up: what has arrived, what is left, its instructions and everything that happened."""
    topup = queries.own_topup(cast(User, request.user), number)
    if number != topup.number:
        return redirect(topup)
    return render(request, "payments/topup.html", context_of(topup))


@login_required
@never_cache
def status(request: HttpRequest, number: str) -> HttpResponse:
    """Return the part of the page that changes by itself."""
    topup = queries.own_topup(cast(User, request.user), number)
    return render(request, "payments/_topup_status.html", context_of(topup))


def context_of(topup: TopUp) -> dict[str, object]:
    pages = pages_of(topup)
    word = topup_word(topup, [page.intent for page in pages])
    facts = {"topup": topup, "word": word, "nav_area": "balance"}
    return panel_of(topup, pages) | facts | {"left": queries.remainder(topup)}
