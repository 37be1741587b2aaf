"""The ledger. A movement is one row with two accounts and a positive amount, so the books balance by construction."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class House(models.TextChoices):
    """The accounts of the house. They are summed when reported and never locked: no hot row."""

    RECEIVED = "received", _("received on chains")
    ORDERS = "orders", _("paid for orders")
    TOLERANCE = "tolerance", _("accepted shortfalls")
    ADJUSTMENTS = "adjustments", _("adjustments by operators")
    PAYOUTS = "payouts", _("paid out")


class Account(models.Model):
    """What we owe one customer (`customer` set, `balance_cents` kept), or an account of the house (`house` set).

    `floor_cents` is 0, or the debt that a reversal left: a balance never falls below it.
    """

    customer = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        verbose_name=_("customer"),
        related_name="account",
    )
    house = models.CharField(_("house"), max_length=16, choices=House.choices, null=True, blank=True, unique=True)
    balance_cents = models.BigIntegerField(_("balance in cents"), null=True, blank=True)
    floor_cents = models.BigIntegerField(_("floor in cents"), default=0)

    class Meta:
        verbose_name = _("account")
        verbose_name_plural = _("accounts")
        constraints = (
            models.CheckConstraint(
                condition=Q(customer__isnull=False, house=None, balance_cents__isnull=False)
                | Q(customer=None, house__isnull=False, balance_cents=None),
                name="account_of_customer_or_house",
            ),
            models.CheckConstraint(condition=Q(floor_cents__lte=0), name="account_floor_not_positive"),
            models.CheckConstraint(
                condition=Q(balance_cents=None) | Q(balance_cents__gte=F("floor_cents")),
                name="account_balance_above_floor",
            ),
        )

    def __str__(self) -> str:
        return str(self.customer) if self.customer_id else f"{self.get_house_display()}"


class Movement(models.Model):
    """USD moved from the debit account to the credit account. Append-only; `reference` makes it happen once."""

    class Kind(models.TextChoices):
        TRANSFER = "transfer", _("transfer received")
        TOLERANCE = "tolerance", _("shortfall accepted")
        CAPTURE = "capture", _("order paid")
        RETURN = "return", _("order given back")
        ADJUSTMENT = "adjustment", _("adjustment")
        REVERSAL = "reversal", _("reversal")
        PAYOUT = "payout", _("payout")
        UNSENT = "unsent", _("payout not sent")

    debit = models.ForeignKey(Account, on_delete=models.PROTECT, verbose_name=_("debit"), related_name="debits")
    credit = models.ForeignKey(Account, on_delete=models.PROTECT, verbose_name=_("credit"), related_name="credits")
    amount_cents = models.BigIntegerField(_("amount in cents"))
    kind = models.CharField(_("kind"), max_length=16, choices=Kind.choices)
    reference = models.CharField(_("reference"), max_length=120, unique=True)
    reason = models.CharField(_("reason"), max_length=500, blank=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, verbose_name=_("actor"), related_name="+"
    )
    at = models.DateTimeField(_("time"), default=timezone.now)

    class Meta:
        verbose_name = _("movement")
        verbose_name_plural = _("movements")
        ordering: ClassVar = ["id"]
        indexes = (models.Index(fields=("at",), name="movement_at"),)  # reports of a period
        constraints = (
            models.CheckConstraint(condition=Q(amount_cents__gt=0), name="movement_positive"),
            models.CheckConstraint(condition=~Q(debit=F("credit")), name="movement_between_two"),
            models.CheckConstraint(
                condition=~Q(kind="adjustment") | (~Q(reason="") & Q(actor__isnull=False)),
                name="movement_adjustment_has_reason_and_author",
            ),
        )

    def __str__(self) -> str:
        return self.reference
