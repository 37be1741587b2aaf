"""Reads of orders used in more than one place."""

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404

from accounts.models import User

from . import numbers
from .models import Hold, Order


def waiting_for_stock() -> QuerySet[Order]:
    """Return the paid orders that hold no lots and never had theirs wiped: they wait for stock (ORD-6)."""
    wiped = Hold.objects.filter(order=OuterRef("pk"), released_at__gt=OuterRef("settled_at"))
    held = Hold.objects.filter(order=OuterRef("pk"), state=Hold.State.HELD)
    return Order.objects.filter(~Exists(held), ~Exists(wiped), state=Order.State.SETTLED)


def own_orders(customer: User, number: str) -> QuerySet[Order]:
    """Return the customer's order with this number, typed in any way: one row, or none."""
    return Order.objects.filter(customer=customer, symbols=symbols_of(number)).order_by()


def symbols_of(number: str) -> str:
    """Return what a number that somebody typed says; "" if it is none."""
    return numbers.read(number, settings.ORDER_NUMBER_PREFIX) or ""


def own_order(customer: User, number: str) -> Order:
    """Return the customer's order with this number and its offer; 404 for a wrong one and for anybody else's."""
    return found_own(customer, own_orders(customer, number).select_related("offer").first())


def found_own(customer: User, order: Order | None) -> Order:
    if order is None:
        raise Http404("no such order")
    order.customer = customer  # no query for whom we know
    return order
