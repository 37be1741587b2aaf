"""Which payouts wait for an operator: to agree, to send, or to look why one did not arrive."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from events.todo import SHOWN, Row, Section, Words, page

from .models import Payout
from .shown import coins

State = Payout.State


def to_approve(now: datetime) -> Section:
    found = Payout.objects.filter(state=State.REQUESTED)
    return section(_("Payouts and refunds to approve"), found, state="requested")


def to_send(now: datetime) -> Section:
    found = Payout.objects.filter(state=State.APPROVED)
    return section(_("Payouts and refunds to send"), found, state="approved")


def astray(now: datetime) -> Section:
    title = _("Payouts that were sent and did not arrive")
    return section(title, Payout.objects.filter(stuck(now)), state="stuck", bad=True)


def stuck(now: datetime) -> Q:
    """Return which sent payouts a person must look at: those whose transaction is wrong, or not shown for long."""
    unseen = Q(position="", sent_at__lt=now - timedelta(minutes=settings.PAYOUT_UNSEEN_MINUTES))
    wrong = Q(problem__in=(Payout.Problem.FAILED, Payout.Problem.OTHER))
    return Q(state=State.SENT) & (unseen | wrong)


def section(title: Words, found: QuerySet[Payout], *, state: str, bad: bool = False) -> Section:
    lines = [
        Row(
            payout.number,
            reverse("admin:payments_payout_change", args=[payout.pk]),
            payout.sent_at or payout.approved_at or payout.requested_at,
            f"{payout.get_kind_display()}, {coins(payout.amount, payout.method)}",
        )
        for payout in found.order_by("requested_at")[:SHOWN]
    ]
    count = len(lines) if len(lines) < SHOWN else found.count()
    return Section(title, count, lines, page("payments_payout", state=state), bad=bad)
