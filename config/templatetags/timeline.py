"""The timeline of an order: every event of its thread, from all apps."""

from django import template

from config.wording import WORDS
from events.models import Event
from orders.models import Order

register = template.Library()


@register.inclusion_tag("components/timeline.html")
def order_timeline(order: Order) -> dict[str, object]:
    """Show everything that happened to an order, newest first (ORD-8)."""
    rows = Event.objects.filter(thread=f"order:{order.pk}", kind__in=WORDS).order_by("-id")[:200]
    return {"events": [{"at": row.at, "words": WORDS[row.kind]} for row in rows]}
