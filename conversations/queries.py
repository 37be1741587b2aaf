"""Reads of conversations used in more than one place."""

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.paginator import Page, Paginator
from django.db.models import F, QuerySet
from django.http import Http404

from events.actions import subject_of
from events.models import Event
from orders import numbers
from orders.models import Order

from .models import Conversation, Message

PER_PAGE = 20
RECENT = 3
REQUESTS = (Message.Kind.CANCELLATION, Message.Kind.DATE, Message.Kind.CHANGE)


def waiting() -> QuerySet[Conversation]:
    """Return the conversations in which a customer waits for an answer, the longest waiting first."""
    rows = Conversation.objects.filter(waiting_since__isnull=False, order__customer__closed_at=None)
    return rows.select_related("order__customer").order_by("waiting_since")


def of_order(order: Order) -> Conversation:
    """Return where an order's conversation stands; an empty one, not saved, where nobody has written yet."""
    return Conversation.objects.filter(order=order).first() or Conversation(order=order)


def thread(order: Order, number: object) -> "Page[Message]":
    """Return a page of a conversation; the first one holds the newest messages. Each page is newest first."""
    rows = Message.objects.filter(order=order).select_related("author").order_by("-id")
    return Paginator(rows, PER_PAGE).get_page(number if isinstance(number, int | str) else None)


def recent(order: Order) -> tuple[Conversation, list[Message]]:
    """Return where the conversation stands and its last few messages, oldest first; one query."""
    rows = Message.objects.filter(order=order).select_related("author", "order__conversation")
    last = list(rows.order_by("-id")[:RECENT])[::-1]
    return last[0].order.conversation if last else Conversation(order=order), last


def unread_among(orders: Iterable[Order]) -> set[int]:
    """Return which of these orders have an answer that the customer has not opened."""
    rows = Conversation.objects.filter(order__in=list(orders), last_of_staff__gt=F("read_by_customer"))
    return set(rows.values_list("order_id", flat=True))


def asked_dates(order: Order) -> dict[str, datetime]:
    """Return since when each missing date has been asked for (PRV-3)."""
    return dict(Message.objects.filter(order=order, kind=Message.Kind.DATE).values_list("topic", "at"))


def instructions_of(order: Order, key: str) -> dict[str, Any] | None:
    """Return what the order's history says of payment instructions of its own; none for anybody else's (PAY-9)."""
    try:
        subject = f"paymentintent:{uuid.UUID(key)}"
    except ValueError:
        return None
    opened = Event.objects.filter(thread=subject_of(order), kind="intent.opened", subject=subject).first()
    return {"id": subject.partition(":")[2], "method": opened.data.get("method", "")} if opened else None


def any_order(number: str) -> Order:
    """Return the order with this number, typed in any way, whoever's it is; 404 if there is none. For staff."""
    symbols = numbers.read(number, settings.ORDER_NUMBER_PREFIX)
    order = Order.objects.select_related("customer").filter(symbols=symbols or "").first()
    if order is None:
        raise Http404("no such order")
    return order


def asked_in(rows: Iterable[Conversation]) -> list[tuple[Conversation, Message | None, set[str]]]:
    """Return each conversation with the customer's newest message and the requests that wait in it; two queries."""
    rows = list(rows)
    newest = Message.objects.in_bulk([row.last_of_customer for row in rows])
    requests = Message.objects.filter(order__in=[row.pk for row in rows], kind__in=REQUESTS)
    open_ = requests.filter(pk__gt=F("order__conversation__read_by_staff")).values_list("order_id", "kind").distinct()
    kinds: dict[int, set[str]] = {row.pk: set() for row in rows}
    for order_id, kind in open_.order_by():
        kinds[order_id].add(kind)
    return [(row, newest.get(row.last_of_customer), kinds[row.pk]) for row in rows]
