"""Corrections of balances by people: each is a new entry of the ledger, never a change of an old one (BAL-4)."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from balance.models import Movement
from orders.models import Order

from .two_persons import TwoPersons


class Adjustment(TwoPersons):
    """A balance that operators correct: a goodwill credit, or the counter-entry of one movement (OPS-8).

    `counter_of` is what it undoes, in the other direction and over the same sum, once per movement; `movement` is what
    it became in the ledger. `order` is what it is about, if anything. `form_key` makes one showing of a page at most
    one adjustment.
    """

    class Direction(models.TextChoices):
        CREDIT = "credit", _("credit")
        DEBIT = "debit", _("debit")

    customer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, verbose_name=_("customer"), related_name="adjustments"
    )
    order = models.ForeignKey(
        Order, null=True, on_delete=models.PROTECT, verbose_name=_("order"), related_name="adjustments"
    )
    direction = models.CharField(_("direction"), max_length=8, choices=Direction.choices)
    counter_of = models.ForeignKey(
        Movement, null=True, on_delete=models.PROTECT, verbose_name=_("undoes"), related_name="counters"
    )
    movement = models.OneToOneField(
        Movement, null=True, on_delete=models.PROTECT, verbose_name=_("movement"), related_name="adjustment"
    )
    form_key = models.UUIDField(_("form key"), default=uuid.uuid4, unique=True)

    class Meta:
        verbose_name = _("adjustment")
        verbose_name_plural = _("adjustments")
        permissions = (("adjust_balance", "Can correct a balance"),)
        constraints = (
            models.UniqueConstraint(fields=("counter_of",), condition=~Q(state="withdrawn"), name="counter_once"),
            models.CheckConstraint(condition=Q(usd_cents__gt=0), name="adjustment_positive"),
            models.CheckConstraint(condition=~Q(reason=""), name="adjustment_has_reason"),
            models.CheckConstraint(
                condition=Q(second=None) | ~Q(second=F("proposed_by")), name="adjustment_two_persons"
            ),
            models.CheckConstraint(
                condition=Q(direction="credit") | Q(direction="debit", counter_of__isnull=False),
                name="adjustment_debits_only_to_undo",
            ),
            models.CheckConstraint(
                condition=Q(state="done", movement__isnull=False) | (~Q(state="done") & Q(movement=None)),
                name="adjustment_done_is_moved",
            ),
        )

    def __str__(self) -> str:
        return self.reference

    @property
    def reference(self) -> str:
        """The unique reference of its movement: the ledger itself lets no movement be undone twice."""
        return f"counter:{self.counter_of_id}" if self.counter_of_id else f"adjustment:{self.pk}"
