"""What an order's pages show of its rental."""

from collections.abc import Iterable

from django import template
from django.utils import timezone

from orders.models import Order
from orders.words import Word
from provisioning.models import Rental
from provisioning.words import period_word, provisioning_word

register = template.Library()


def rental_of(order: Order) -> Rental | None:
    return Rental.objects.filter(order=order).first()


@register.inclusion_tag("provisioning/_panel.html")
def rental_panel(order: Order) -> dict[str, object]:
    """Show the rental of an order: host, dates, and the way to its access."""
    rental = rental_of(order)
    return {
        "order": order,
        "rental": rental,
        "provisioning": provisioning_word(order, rental),
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
def rental_facts(order: Order) -> dict[str, Word]:
    """Return {"provisioning": word, "period": word} of one order."""
    rental = rental_of(order)
    return {"provisioning": provisioning_word(order, rental), "period": period_word(order, rental)}


@register.simple_tag
def with_rental_facts(orders: Iterable[Order]) -> list[tuple[Order, Word, Word]]:
    """Return (order, provisioning, period) for each order of a list, in one query."""
    orders = list(orders)
    rentals = {rental.order_id: rental for rental in Rental.objects.filter(order__in=orders)}
    return [
        (order, provisioning_word(order, rentals.get(order.pk)), period_word(order, rentals.get(order.pk)))
        for order in orders
    ]
