"""Which customers wait for an answer, for the work list of the staff."""

from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from events.todo import Row, Section, first

from . import queries


def unanswered(now: datetime) -> Section:
    rows, count = first(queries.waiting())
    lines = [
        Row(
            row.order.number,
            reverse("conversations:answer", args=[row.order.number]),
            row.waiting_since,
            str(row.order.customer),
        )
        for row in rows
    ]
    return Section(_("Customers who wait for an answer"), count, lines, reverse("conversations:waiting"))
