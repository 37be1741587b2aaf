"""The customer's pages of top-ups: make one, see one."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
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
from .polled import topup_polled
from .validators import asked_with, unchanged, validator_of, with_validator
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
    customer = cast(User, request.user)
    polled = topup_polled(customer, number, timezone.now())
    topup = queries.own_topup(customer, number)
    if number != topup.number:
        return redirect(topup)
    asked = asked_with(validator_of(request, polled)) if polled else ""
    return render(request, "payments/topup.html", context_of(topup) | {"asked_with": asked})


@login_required
@never_cache
def status(request: HttpRequest, number: str) -> HttpResponseBase:
    """Return the part of the page that changes by itself; only that nothing has changed, while the page is true."""
    customer = cast(User, request.user)
    polled = topup_polled(customer, number, timezone.now())
    if polled is None:
        raise Http404("no such top-up")
    validator = validator_of(request, polled)
    if same := unchanged(request, validator):
        return same
    context = context_of(queries.own_topup(customer, number)) | {"asked_with": asked_with(validator)}
    return with_validator(render(request, "payments/_topup_status.html", context), validator)


def context_of(topup: TopUp) -> dict[str, object]:
    pages = pages_of(topup)
    word = topup_word(topup, [page.intent for page in pages])
    facts = {"topup": topup, "word": word, "nav_area": "balance"}
    return panel_of(topup, pages) | facts | {"left": queries.remainder(topup)}
