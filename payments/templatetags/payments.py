"""What an order's page shows of its payments."""

from django import template

from orders.models import Order
from orders.words import Word, payment_word
from payments.pages import pages_of

register = template.Library()
SHOWN_FIRST = ("paid", "help", "confirming", "seen", "partly_paid", "declared", "waiting")


@register.inclusion_tag("payments/_panel.html")
def payment_panel(order: Order) -> dict[str, object]:
    """Show the history of an order's payment instructions, each with its own state and "I paid" button (PAY-3)."""
    return {"order": order, "pages": pages_of(order)}


@register.simple_tag
def payment_fact(order: Order) -> Word:
    """Return the payment state of an order, from its instructions: the one that is furthest counts."""
    if not order.is_payable:
        return payment_word(order)
    words = [page.word for page in pages_of(order)]
    for code in SHOWN_FIRST:
        for word in words:
            if word.code == code:
                return word
    return payment_word(order)
