from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.models import User

from . import queries


@login_required
def statement(request: HttpRequest) -> HttpResponse:
    """Show what is available and every movement with its running balance (BAL-4)."""
    customer = cast(User, request.user)
    return render(
        request,
        "balance/statement.html",
        {"available_cents": queries.available_cents(customer), "rows": queries.statement(customer)},
    )
