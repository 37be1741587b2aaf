"""Reads of orders used in more than one place."""

from django.conf import settings
from django.http import Http404

from accounts.models import User

from . import numbers
from .models import Order


def own_order(customer: User, number: str) -> Order:
    """Return the customer's order with this number, typed in any way; 404 for a wrong one and for anybody else's."""
    symbols = numbers.read(number, settings.ORDER_NUMBER_PREFIX)
    order = Order.objects.select_related("offer").filter(customer=customer, symbols=symbols or "").first()
    if order is None:
        raise Http404("no such order")
    order.customer = customer  # no query for whom we know
    return order
