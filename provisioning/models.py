"""Rentals: what an operator does for a paid order. Separate from payment and from the rental period (ORD-5)."""

import uuid
from collections.abc import Mapping
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.sealed import EncryptedTextField
from events.stateful import Stateful
from orders.models import Order


class RentalManager(models.Manager["Rental"]):
    """Reads rentals without their access: it is opened where it is asked for, and nowhere else."""

    def get_queryset(self) -> models.QuerySet["Rental"]:
        return super().get_queryset().defer("access")


class Rental(Stateful):
    """The machine of one order. It exists once the order is settled and holds its lots (PRV-1).

    The period starts at hand-over (*active*), never at payment; an unknown date is none, never guessed (PRV-3).
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        PREPARING = "preparing", _("preparing")
        READY = "ready", _("ready")
        ACTIVE = "active", _("active")
        SUSPENDED = "suspended", _("suspended")
        FAILED = "failed", _("failed")
        ENDED = "ended", _("ended")
        CANCELLED = "cancelled", pgettext_lazy("rental", "cancelled")

    TRANSITIONS: ClassVar[Mapping[str, frozenset[str]]] = {
        State.QUEUED: frozenset({State.PREPARING, State.FAILED, State.CANCELLED}),
        State.PREPARING: frozenset({State.READY, State.FAILED, State.QUEUED, State.CANCELLED}),
        State.READY: frozenset({State.ACTIVE, State.PREPARING, State.FAILED, State.CANCELLED}),
        State.ACTIVE: frozenset({State.SUSPENDED, State.ENDED}),
        State.SUSPENDED: frozenset({State.ACTIVE, State.ENDED}),
        State.FAILED: frozenset({State.QUEUED, State.CANCELLED}),
        State.ENDED: frozenset(),
        State.CANCELLED: frozenset(),
    }

    order = models.OneToOneField(Order, on_delete=models.PROTECT, verbose_name=_("order"), related_name="rental")
    token = models.UUIDField(_("token"), default=uuid.uuid4, unique=True)
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.QUEUED)
    host = models.CharField(_("host"), max_length=200, blank=True)
    planned_start_at = models.DateTimeField(_("planned start"), null=True, blank=True)
    planned_end_at = models.DateTimeField(_("planned end"), null=True, blank=True)
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    ends_at = models.DateTimeField(_("ends"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    wiped_at = models.DateTimeField(_("wiped"), null=True, blank=True)
    access = EncryptedTextField(_("access"), blank=True, default="")
    created_at = models.DateTimeField(_("created"), default=timezone.now)

    objects = RentalManager()

    class Meta:
        verbose_name = _("rental")
        verbose_name_plural = _("rentals")
        constraints = (
            models.CheckConstraint(
                condition=Q(
                    state__in=("queued", "preparing", "ready", "failed", "cancelled"), started_at=None, ends_at=None
                )
                | Q(state__in=("active", "suspended", "ended"), started_at__isnull=False, ends_at__isnull=False),
                name="rental_runs_from_hand_over",
            ),
            models.CheckConstraint(
                condition=Q(state="ended", ended_at__isnull=False)
                | (~Q(state="ended") & Q(ended_at=None, wiped_at=None)),
                name="rental_ended_has_time",
            ),
        )

    def __str__(self) -> str:
        return f"{self.order} ({self.get_state_display()})"

    def story(self) -> models.Model:
        return self.order
