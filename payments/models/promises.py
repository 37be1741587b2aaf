"""Promises: what is to be paid, for an order or a top-up."""

import uuid
from collections.abc import Mapping
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from events.stateful import Stateful
from money.fields import BaseUnitsField
from orders import numbers
from orders.models import Order

from .network import ReservedAddress


class TopUp(Stateful):
    """Money for the balance, in an amount of the list (BAL-1). It is credited as it arrives; *settled* = covered."""

    class State(models.TextChoices):
        OPEN = "open", _("open")
        SETTLED = "settled", _("covered")

    TRANSITIONS: ClassVar[Mapping[str, frozenset[str]]] = {
        State.OPEN: frozenset({State.SETTLED}),
        State.SETTLED: frozenset(),
    }

    symbols = models.CharField(_("symbols"), max_length=numbers.LENGTH, unique=True)
    customer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, verbose_name=_("customer"), related_name="topups"
    )
    form_key = models.UUIDField(_("form key"))
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.OPEN)
    amount_cents = models.BigIntegerField(_("amount in cents"))
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    settled_at = models.DateTimeField(_("settled"), null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        verbose_name = _("top-up")
        verbose_name_plural = _("top-ups")
        constraints = (
            models.UniqueConstraint(fields=("customer", "form_key"), name="topup_once_per_form"),
            models.CheckConstraint(condition=Q(amount_cents__gte=1), name="topup_not_free"),
            models.CheckConstraint(
                condition=Q(state="settled", settled_at__isnull=False) | Q(state="open", settled_at=None),
                name="topup_settled_has_time",
            ),
        )
        indexes = (models.Index(fields=("customer", "-id"), name="topup_of_customer"),)

    def __str__(self) -> str:
        return self.number

    @property
    def number(self) -> str:
        """The public reference: TU-7K3M-9QX2."""
        return numbers.pretty(self.symbols, settings.TOPUP_NUMBER_PREFIX)

    def get_absolute_url(self) -> str:
        return reverse("payments:topup", args=[self.number])

    @property
    def is_payable(self) -> bool:
        return self.state == self.State.OPEN

    @property
    def total_cents(self) -> int:
        return self.amount_cents


Purpose = Order | TopUp
"""What a promise is for."""


class PaymentIntent(models.Model):
    """A price promise: this many units at this address until this time count as this many dollars. Never edited.

    It is for one order (`order`) or one top-up (`topup`). `exchange`: the customer pays from an exchange, so it lives
    longer. `pay_if_late`: the customer asked that money too late for the promise still pays the order. `quote`,
    `funding` and `settlement` are caches that one function (`advance`) writes from the facts.
    """

    class Quote(models.TextChoices):
        OPEN = "open", pgettext_lazy("payment instructions", "open")
        EXPIRED = "expired", _("expired")
        CANCELLED = "cancelled", pgettext_lazy("payment instructions", "cancelled")
        SUPERSEDED = "superseded", _("superseded")

    class Funding(models.TextChoices):
        NONE = "none", _("nothing seen")
        SEEN = "seen", _("seen")
        PARTIAL = "partial", _("partial")
        COVERED = "covered", _("covered")
        OVER = "over", _("over")

    class Settlement(models.TextChoices):
        UNSETTLED = "unsettled", _("unsettled")
        SETTLED = "settled", _("settled")
        CREDITED = "credited", _("credited")
        REVIEW = "review", _("in review")
        REVERSED = "reversed", _("reversed")

    id = models.UUIDField(_("number"), primary_key=True, default=uuid.uuid4)
    order = models.ForeignKey(
        Order, null=True, on_delete=models.PROTECT, verbose_name=_("order"), related_name="intents"
    )
    topup = models.ForeignKey(
        TopUp, null=True, on_delete=models.PROTECT, verbose_name=_("top-up"), related_name="intents"
    )
    customer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, verbose_name=_("customer"), related_name="+"
    )
    form_key = models.UUIDField(_("form key"))
    method = models.CharField(_("method"), max_length=32)
    network = models.CharField(_("network"), max_length=32)
    amount = BaseUnitsField(_("amount"))
    usd_cents = models.BigIntegerField(_("USD cents"))
    rate_e8 = models.BigIntegerField(_("rate"))
    rate_evidence = models.JSONField(_("rate evidence"), default=dict)
    address = models.OneToOneField(
        ReservedAddress, on_delete=models.PROTECT, verbose_name=_("address"), related_name="intent"
    )
    born_height = models.BigIntegerField(_("born height"), null=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    expires_at = models.DateTimeField(_("valid until"))
    closed_at = models.DateTimeField(_("closed"), null=True)
    declared_at = models.DateTimeField(_("declared"), null=True)
    exchange = models.BooleanField(_("from an exchange"), default=False)
    pay_if_late = models.BooleanField(_("pay the order also if late"), default=False)
    quote = models.CharField(_("quote"), max_length=16, choices=Quote.choices, default=Quote.OPEN)
    funding = models.CharField(_("funding"), max_length=16, choices=Funding.choices, default=Funding.NONE)
    settlement = models.CharField(
        _("settlement"), max_length=16, choices=Settlement.choices, default=Settlement.UNSETTLED
    )
    late = models.BooleanField(_("late"), default=False)
    unwatched = models.BooleanField(_("unwatched"), default=False)
    ended_at = models.DateTimeField(_("ended"), null=True)

    class Meta:
        verbose_name = _("payment instructions")
        verbose_name_plural = _("payment instructions")
        constraints = (
            models.UniqueConstraint(fields=("order", "form_key"), name="intent_once_per_form"),
            models.UniqueConstraint(fields=("topup", "form_key"), name="intent_once_per_topup_form"),
            models.CheckConstraint(
                condition=Q(order__isnull=False, topup=None) | Q(order=None, topup__isnull=False),
                name="intent_for_one_thing",
            ),
            models.CheckConstraint(condition=Q(usd_cents__gte=1), name="intent_not_free"),
            models.CheckConstraint(condition=Q(rate_e8__gt=0), name="intent_has_rate"),
            models.CheckConstraint(condition=Q(expires_at__gt=F("created_at")), name="intent_expires_later"),
        )
        indexes = (models.Index(fields=("network", "expires_at"), condition=Q(ended_at=None), name="intent_live"),)

    def __str__(self) -> str:
        return f"{self.method} for {self.purpose}"

    @property
    def purpose(self) -> Purpose:
        """What is to be paid: the order or the top-up. Its timeline tells the story of the intent."""
        purpose = self.order or self.topup
        if purpose is None:
            raise ValueError(f"intent {self.pk} is for nothing")
        return purpose
