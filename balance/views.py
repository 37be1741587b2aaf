from typing import cast

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from accounts.models import User

from . import queries
from .export import statement_csv

PER_PAGE = 50


@login_required
def statement(request: HttpRequest) -> HttpResponse:
    """Show what is available and the movements with their running balance, newest first (BAL-4)."""
    customer = cast(User, request.user)
    page = Paginator(queries.movements_of(customer), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "available_cents": queries.available_cents(customer),
        "rows": queries.statement(customer, list(page)),
        "page_obj": page,
    }
    return render(request, "balance/statement.html", context)


@login_required
@never_cache
def download(request: HttpRequest) -> HttpResponse:
    """Return the whole statement as CSV (BAL-4)."""
    text = statement_csv(queries.statement(cast(User, request.user)))
    name = {"Content-Disposition": 'attachment; filename="statement.csv"'}
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers=name)
