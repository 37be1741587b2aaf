"""What an order's pages show of its rental."""

from collections.abc import Iterable

from django import template
from django.utils import timezone

from orders.models import Hold, Order
from orders.words import Word
from provisioning.models import Rental
from provisioning.words import period_word, provisioning_word

register = template.Library()


@register.simple_tag
def rental_of(order: Order) -> Rental | None:
    """Read an order's rental once, for the tags below; no query before it is paid, when there can be none."""
    return None if order.is_payable else Rental.objects.filter(order=order).first()


@register.inclusion_tag("provisioning/_panel.html")
def rental_panel(order: Order, rental: Rental | None) -> dict[str, object]:
    """Show the rental of an order: host, dates, and the way to its access."""
    return {
        "order": order,
        "rental": rental,
        "provisioning": provisioning_word(order, rental, reserved=True) if rental else None,
        "progress": progress_of(rental) if rental else None,
    }


def progress_of(rental: Rental) -> dict[str, int] | None:
    """Return how much of the period has passed, in seconds; none before hand-over."""
    if rental.started_at is None or rental.ends_at is None:
        return None
    length = int((rental.ends_at - rental.started_at).total_seconds())
    elapsed = int((timezone.now() - rental.started_at).total_seconds())
    return {"length": length, "elapsed": min(max(elapsed, 0), length)}


@register.simple_tag
def rental_facts(order: Order, rental: Rental | None) -> dict[str, Word]:
    """Return {"provisioning": word, "period": word} of one order."""
    reserved = rental is None and order.pk in reserved_among([order])
    return {"provisioning": provisioning_word(order, rental, reserved=reserved), "period": period_word(order, rental)}


def reserved_among(orders: Iterable[Order]) -> set[int]:
    """Return which of these orders are paid and hold their lots; no query if none is paid."""
    paid = [order.pk for order in orders if order.state == Order.State.SETTLED]
    holds = Hold.objects.filter(order__in=paid, state=Hold.State.HELD)
    return set(holds.values_list("order_id", flat=True)) if paid else set()


@register.simple_tag
def with_rental_facts(orders: Iterable[Order]) -> list[tuple[Order, Word, Word]]:
    """Return (order, provisioning, period) for each order of a list, in two queries at most."""
    orders = list(orders)
    rentals = {rental.order_id: rental for rental in Rental.objects.filter(order__in=orders)}
    reserved = reserved_among(order for order in orders if order.pk not in rentals)
    return [
        (
            order,
            provisioning_word(order, rentals.get(order.pk), reserved=order.pk in reserved),
            period_word(order, rentals.get(order.pk)),
        )
        for order in orders
    ]
