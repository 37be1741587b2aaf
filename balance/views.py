from typing import cast

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.models import User

from . import queries

PER_PAGE = 50


@login_required
def statement(request: HttpRequest) -> HttpResponse:
    """Show what is available and the movements with their running balance, newest first (BAL-4)."""
    customer = cast(User, request.user)
    everything = queries.movements_of(customer)
    page = Paginator(everything, PER_PAGE).get_page(request.GET.get("page"))
    balance = queries.balance_cents(customer)
    context = {
        "available_cents": max(balance, 0),
        "debt_cents": max(-balance, 0),
        "rows": queries.statement(customer, list(page), everything),
        "page_obj": page,
    }
    return render(request, "balance/statement.html", context)
