"""What an order's page shows of its payments."""

from django import template

from orders.models import Order
from orders.words import Word, payment_word
from payments.pages import IntentPage, pages_of

register = template.Library()
SHOWN_FIRST = ("paid", "help", "confirming", "seen", "partly_paid", "declared", "waiting")


@register.simple_tag
def payment_pages(order: Order) -> list[IntentPage]:
    """Read an order's payment instructions once, for the tags below."""
    return pages_of(order)


@register.inclusion_tag("payments/_panel.html")
def payment_panel(order: Order, pages: list[IntentPage]) -> dict[str, object]:
    """Show the history of an order's payment instructions, each with its own state and "I paid" button (PAY-3)."""
    return {"order": order, "pages": pages, "credited": any(p.word.code in ("credited", "late") for p in pages)}


@register.simple_tag
def payment_fact(order: Order, pages: list[IntentPage]) -> Word:
    """Return the payment state of an order, from its instructions: the one that is furthest counts."""
    if not order.is_payable:
        return payment_word(order)
    for code in SHOWN_FIRST:
        for page in pages:
            if page.word.code == code:
                return page.word
    return payment_word(order)
