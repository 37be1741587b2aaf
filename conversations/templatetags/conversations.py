"""What pages of lower and higher apps show of conversations."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django import template

from conversations import pages, queries
from conversations.forms import MessageForm
from conversations.models import Side
from conversations.views import recent_of
from orders.models import Order

register = template.Library()


@register.inclusion_tag("conversations/_section.html")
def conversation_section(order: Order) -> dict[str, Any]:
    """Show the last messages on the order's page, and the short form."""
    return {**recent_of(order), "form": MessageForm.fresh(order)}


@register.inclusion_tag("conversations/_told.html", takes_context=True)
def conversation(context: template.Context, order: Order) -> dict[str, Any]:
    """Show the newest messages of an order to support, and the way to the answer for who may give one."""
    state, page_obj = queries.of_order(order), queries.thread(order, 1)
    return {
        "order": order,
        "state": state,
        "page_obj": page_obj,
        "lines": pages.lines(list(page_obj)[::-1], reader=Side.STAFF, read_up_to=state.read_by_staff),
        "may_answer": context["request"].user.has_perm("conversations.answer"),
    }


@register.simple_tag
def unread_answers(orders: Iterable[Order]) -> set[int]:
    """Return the keys of the orders with an answer that the customer has not opened, in one query."""
    return queries.unread_among(orders)


@register.simple_tag
def asked_dates(order: Order) -> dict[str, datetime]:
    """Return since when each date has been asked for."""
    return queries.asked_dates(order)


@register.inclusion_tag("conversations/_ask_date.html")
def ask_for_date(order: Order, topic: str, asked: dict[str, datetime]) -> dict[str, Any]:
    """Show the button beside a date that is not set, or since when it has been asked for (PRV-3)."""
    return {"order": order, "topic": topic, "at": asked.get(topic)}
