from typing import cast

from accounts.models import User
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from orders.errors import Refused
from orders.queries import own_order

from . import actions
from .models import Rental


@login_required
@never_cache
def access(request: HttpRequest, number: str) -> HttpResponse:
    """Ask once more, then show the access information; each showing is recorded (PRV-2)."""
    customer = cast(User, request.user)
    order = own_order(customer, number)
    rental = get_object_or_404(Rental, order=order)
    context = {"order": order, "rental": rental, "access": None, "refused": ""}
    if request.method == "POST":
        try:
            context["access"] = actions.show_access(rental.pk, actor=customer)
        except Refused as error:
            context["refused"] = str(error)
    return render(request, "provisioning/access.html", context)
