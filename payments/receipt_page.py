"""The page of a receipt: printable, with everything that proves a payment."""

from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from accounts.models import User
from orders.models import Order

from .queries import own_purpose
from .receipts import receipt_of


@login_required
@never_cache
def receipt(request: HttpRequest, number: str) -> HttpResponse:
    """Show the receipt of an order or a top-up as soon as money counted for it; before, lead to its page."""
    purpose = own_purpose(cast(User, request.user), number)
    found = receipt_of(purpose)
    if not found.totals.arrived:
        return redirect(purpose)
    is_order = isinstance(purpose, Order)
    context = {
        "purpose": purpose,
        "receipt": found,
        "is_order": is_order,
        "nav_area": "orders" if is_order else "balance",
    }
    return render(request, "payments/receipt.html", context)
