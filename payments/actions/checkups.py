"""Ask for a check-up of the installation; a worker makes it and keeps what it found."""

from collections.abc import Sequence
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from events.nudge import nudge

from ..findings import Finding
from ..models import Checkup

TASK = "config.tasks.examine"
LEASE = timedelta(minutes=3)  # longer than the slowest check-up; after it another worker begins again
KEPT = 30  # check-ups; older ones tell nothing any more


def ask(*, actor: User) -> Checkup:
    """Ask for a check-up; while one is under way it is that one."""
    try:
        with transaction.atomic():
            checkup = Checkup.objects.create(asked_by=actor)
            transaction.on_commit(lambda: nudge(TASK), robust=True)
            return checkup
    except IntegrityError:
        return Checkup.objects.filter(waits=True).first() or Checkup.objects.latest("pk")


def claim() -> Checkup | None:
    """Begin the check-up that waits; none if there is none, or another worker is at it."""
    now = timezone.now()
    free = Q(started_at=None) | Q(started_at__lt=now - LEASE)
    checkup = Checkup.objects.filter(free, waits=True).first()
    if checkup and Checkup.objects.filter(free, pk=checkup.pk, waits=True).update(started_at=now):
        checkup.started_at = now
        return checkup
    return None


def settle(checkup: Checkup, findings: Sequence[Finding]) -> None:
    """Keep what was found by whoever began last, and forget the oldest check-ups."""
    kept = [finding.as_json() for finding in findings]
    mine = Checkup.objects.filter(pk=checkup.pk, started_at=checkup.started_at, waits=True)
    if mine.update(findings=kept, done_at=timezone.now(), waits=False):
        newest = Checkup.objects.order_by("-pk").values_list("pk", flat=True)[:KEPT]
        Checkup.objects.filter(pk__lt=min(newest)).delete()
