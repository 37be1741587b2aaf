from typing import Any, cast

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Field
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import User

from . import actions, queries
from .forms import CardForm
from .models import Card

CARDS_PER_PAGE = 20
SET_UP = ("control", "variants", "environment", "parameters", "data_version", "seeds")


@login_required
@require_safe
def cards(request: HttpRequest) -> HttpResponse:
    page = Paginator(queries.own_cards(_reader(request)), CARDS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "journal/list.html", {"cards": page.object_list, "page_obj": page})


@login_required
@require_safe
def card(request: HttpRequest, card_id: int) -> HttpResponse:
    found = queries.own_card(_reader(request), card_id)
    return render(request, "journal/card.html", {"card": found, "fields": [_fact(found, name) for name in SET_UP]})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Write a card; `?order=` chooses one of the reader's orders by its id."""
    owner = _reader(request)
    form = CardForm(request.POST or None, owner=owner, initial={"order": request.GET.get("order")})
    if form.is_valid():
        return redirect(actions.create_card(owner=owner, facts=form.cleaned_data))
    return render(request, "journal/form.html", {"form": form})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, card_id: int) -> HttpResponse:
    owner = _reader(request)
    found = queries.own_card(owner, card_id)
    form = CardForm(request.POST or None, owner=owner, instance=found)
    if form.is_valid():
        actions.edit_card(card=found, facts=form.cleaned_data)
        return redirect(found)
    return render(request, "journal/form.html", {"form": form, "card": found})


def _reader(request: HttpRequest) -> User:
    return cast(User, request.user)  # login_required stands in front of every view here


def _fact(found: Card, name: str) -> dict[str, Any]:
    field = cast(Field[Any, Any], Card._meta.get_field(name))
    return {"label": str(field.verbose_name).capitalize(), "value": getattr(found, name)}
