from typing import Any, cast

from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.db.models import Field
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts import guests
from accounts.gates import allowed, too_many
from accounts.models import User

from . import actions, queries
from .forms import CardForm
from .models import Card

CARDS_PER_PAGE = 20
SET_UP = ("control", "variants", "environment", "parameters", "data_version", "seeds")


@require_safe
@never_cache
def cards(request: HttpRequest) -> HttpResponse:
    page = Paginator(queries.own_cards(guests.whose(request)), CARDS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "journal/list.html", {"cards": page.object_list, "page_obj": page})


@require_safe
@never_cache
def card(request: HttpRequest, card_id: int) -> HttpResponse:
    found = _own(request, card_id)
    if found is None:
        return redirect_to_login(request.get_full_path())
    return render(request, "journal/card.html", {"card": found, "fields": [_fact(found, name) for name in SET_UP]})


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def new(request: HttpRequest) -> HttpResponse:
    """Write a card, also as a guest; `?order=` chooses one of the reader's orders by its id."""
    form = CardForm(request.POST or None, owner=_reader(request), initial={"order": request.GET.get("order")})
    if form.is_valid():
        if not request.user.is_authenticated and not allowed(request, "guest"):
            return too_many(request)
        try:
            return redirect(actions.create_card(holder=guests.holder(request), facts=form.cleaned_data))
        except actions.TooMany:
            form.add_error(None, _("A guest keeps no more cards than these. Create an account: they all move along."))
    return render(request, "journal/form.html", {"form": form})


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def edit(request: HttpRequest, card_id: int) -> HttpResponse:
    found = _own(request, card_id)
    if found is None:
        return redirect_to_login(request.get_full_path())
    form = CardForm(request.POST or None, owner=_reader(request), instance=found)
    if form.is_valid():
        actions.edit_card(card=found, facts=form.cleaned_data)
        return redirect(found)
    return render(request, "journal/form.html", {"form": form, "card": found})


def _own(request: HttpRequest, card_id: int) -> Card | None:
    """Return the reader's card; 404 for any other one. A guest is asked to sign in instead."""
    found = queries.own_cards(guests.whose(request)).filter(pk=card_id).first()
    if found is None and request.user.is_authenticated:
        raise Http404("no such card")
    return found


def _reader(request: HttpRequest) -> User | None:
    return request.user if request.user.is_authenticated else None


def _fact(found: Card, name: str) -> dict[str, Any]:
    field = cast(Field[Any, Any], Card._meta.get_field(name))
    return {"label": str(field.verbose_name).capitalize(), "value": getattr(found, name)}
