"""Money that goes out: a balance that its owner wants back, and the refund of a transfer."""

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

from .transfers import ChainTransfer


class PayoutQuerySet(models.QuerySet["Payout"]):
    def standing(self) -> "PayoutQuerySet":
        """Leave out what will never be sent: its sum is back where it was."""
        return self.exclude(state__in=Payout.CLOSED)

    def on_their_way(self) -> "PayoutQuerySet":
        """Keep those that somebody still has to do something for, or the network."""
        return self.filter(state__in=(Payout.State.REQUESTED, Payout.State.APPROVED, Payout.State.SENT))


class Payout(Stateful):
    """Coins that an operator sends from a wallet of their own, reserved in the ledger first.

    `usd_cents` were debited at the request; 0 is the refund of a transfer that was never credited. `quoted_amount` are
    the base units that the receiver gets by the price of that moment; `amount` is the same until the approval fixes
    what is to be sent; `fee` base units are kept by the house. `sending_by` is who is sending it at this moment: nobody
    refuses it meanwhile. `seal` signs where money goes, and how much.
    `checked_by` is the first of two persons, where two are needed. What the network says of a sent one: `position` in
    its transaction once it pays what it must, its block, and else the `problem`; a worker looks again at `look_at`.
    """

    class Kind(models.TextChoices):
        BALANCE = "balance", _("payout of the balance")
        REFUND = "refund", _("refund of a transfer")

    class State(models.TextChoices):
        REQUESTED = "requested", pgettext_lazy("payout", "asked for")
        APPROVED = "approved", pgettext_lazy("payout", "approved, to be sent")
        SENT = "sent", pgettext_lazy("payout", "sent")
        FINAL = "final", pgettext_lazy("payout", "final")
        REFUSED = "refused", pgettext_lazy("payout", "refused")
        CANCELLED = "cancelled", pgettext_lazy("payout", "cancelled")

    class Problem(models.TextChoices):
        UNKNOWN = "unknown", _("the network does not know the transaction")
        FAILED = "failed", _("the transaction failed: it moved nothing")
        OTHER = "other", _("the transaction does not pay this amount to this address")

    CLOSED = (State.REFUSED, State.CANCELLED)
    OUT = (State.SENT, State.FINAL)

    TRANSITIONS: ClassVar[Mapping[str, frozenset[str]]] = {
        State.REQUESTED: frozenset({State.APPROVED, State.REFUSED, State.CANCELLED}),
        State.APPROVED: frozenset({State.SENT, State.REFUSED}),
        State.SENT: frozenset({State.FINAL, State.APPROVED}),  # back: the transaction id was wrong, or it failed
        State.FINAL: frozenset(),
        State.REFUSED: frozenset(),
        State.CANCELLED: frozenset(),
    }

    symbols = models.CharField(_("symbols"), max_length=numbers.LENGTH, unique=True)
    customer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, verbose_name=_("customer"), related_name="payouts"
    )
    form_key = models.UUIDField(_("form key"))
    kind = models.CharField(_("kind"), max_length=16, choices=Kind.choices)
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.REQUESTED)
    transfer = models.ForeignKey(
        ChainTransfer, null=True, on_delete=models.PROTECT, verbose_name=_("transfer"), related_name="payouts"
    )
    method = models.CharField(_("method"), max_length=32)
    network = models.CharField(_("network"), max_length=32)
    address = models.CharField(_("address"), max_length=128)
    seal = models.CharField(_("seal"), max_length=64)
    usd_cents = models.BigIntegerField(_("USD cents"))
    quoted_amount = BaseUnitsField(_("amount at the request"))
    quoted_rate_e8 = models.BigIntegerField(_("rate at the request"), null=True)
    amount = BaseUnitsField(_("amount"))
    fee = BaseUnitsField(_("fee"))
    rate_e8 = models.BigIntegerField(_("rate"), null=True)
    rate_evidence = models.JSONField(_("rate evidence"), default=dict)
    reason = models.CharField(_("reason"), max_length=500, blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, verbose_name=_("asked for by"), related_name="+"
    )
    requested_at = models.DateTimeField(_("asked for"), default=timezone.now)
    checked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, verbose_name=_("first person"), related_name="+"
    )
    checked_at = models.DateTimeField(_("first approval"), null=True)
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, verbose_name=_("approved by"), related_name="+"
    )
    approved_at = models.DateTimeField(_("approved"), null=True)
    sending_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, verbose_name=_("being sent by"), related_name="+"
    )
    sending_at = models.DateTimeField(_("being sent since"), null=True)
    sent_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, verbose_name=_("sent by"), related_name="+"
    )
    sent_at = models.DateTimeField(_("sent"), null=True)
    txid = models.CharField(_("transaction id"), max_length=128, blank=True)
    position = models.CharField(_("position"), max_length=64, blank=True)
    seen_at = models.DateTimeField(_("seen"), null=True)
    block_height = models.BigIntegerField(_("block height"), null=True)
    block_hash = models.CharField(_("block hash"), max_length=128, blank=True)
    confirmations = models.PositiveIntegerField(_("confirmations"), default=0)
    problem = models.CharField(_("problem"), max_length=16, choices=Problem.choices, blank=True)
    look_at = models.DateTimeField(_("looked at next"), null=True)
    final_at = models.DateTimeField(_("final"), null=True)
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, verbose_name=_("closed by"), related_name="+"
    )
    closed_at = models.DateTimeField(_("closed"), null=True)
    decision = models.CharField(_("reason of the decision"), max_length=300, blank=True)

    objects = PayoutQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-id"]
        verbose_name = _("payout")
        verbose_name_plural = _("payouts")
        permissions = (("decide_payout", "Can make refunds, approve, refuse and send payouts"),)
        constraints = (
            models.UniqueConstraint(fields=("customer", "form_key"), name="payout_once_per_form"),
            models.UniqueConstraint(
                fields=("network", "txid", "address"), condition=~Q(txid=""), name="payout_one_per_transaction"
            ),
            models.CheckConstraint(
                condition=Q(kind="balance", transfer=None, usd_cents__gte=1, quoted_rate_e8__gte=1)
                | (Q(kind="refund", transfer__isnull=False, usd_cents__gte=0) & ~Q(reason="")),
                name="payout_of_balance_or_transfer",
            ),
            models.CheckConstraint(condition=~Q(quoted_amount=0) & ~Q(amount=0), name="payout_pays_something"),
            models.CheckConstraint(condition=~Q(address="") & ~Q(seal=""), name="payout_has_sealed_address"),
            models.CheckConstraint(
                condition=Q(
                    state__in=("approved", "sent", "final"), approved_by__isnull=False, approved_at__isnull=False
                )
                | Q(state__in=("requested", "cancelled"), approved_by=None, approved_at=None)
                | Q(state="refused"),
                name="payout_approved_by_someone",
            ),
            models.CheckConstraint(
                condition=(Q(state__in=("sent", "final"), sent_by__isnull=False, sent_at__isnull=False) & ~Q(txid=""))
                | (
                    ~Q(state__in=("sent", "final"))
                    & Q(txid="", sent_by=None, sent_at=None, seen_at=None, position="", problem="")
                ),
                name="payout_sent_by_someone",
            ),
            models.CheckConstraint(
                condition=Q(state="approved", sending_by__isnull=False, sending_at__isnull=False)
                | Q(sending_by=None, sending_at=None),
                name="payout_being_sent_by_one",
            ),
            models.CheckConstraint(
                condition=Q(state="final", final_at__isnull=False) | (~Q(state="final") & Q(final_at=None)),
                name="payout_final_has_time",
            ),
            models.CheckConstraint(
                condition=Q(state="cancelled", closed_at__isnull=False, closed_by__isnull=False)
                | (Q(state="refused", closed_at__isnull=False, closed_by__isnull=False) & ~Q(decision=""))
                | (~Q(state__in=("refused", "cancelled")) & Q(closed_at=None, closed_by=None)),
                name="payout_closed_by_someone",
            ),
            models.CheckConstraint(
                condition=~Q(approved_by=F("requested_by"))
                & ~Q(approved_by=F("checked_by"))
                & ~Q(checked_by=F("requested_by")),
                name="payout_two_persons",
            ),
        )
        indexes = (
            models.Index(fields=("customer", "-id"), name="payout_of_customer"),
            models.Index(fields=("look_at",), condition=Q(state="sent"), name="payout_to_look_at"),
        )

    def __str__(self) -> str:
        return self.number

    @property
    def number(self) -> str:
        """The public reference: PO-7K3M-9QX2."""
        return numbers.pretty(self.symbols, settings.PAYOUT_NUMBER_PREFIX)

    @property
    def reference(self) -> str:
        """The reference of its debit in the ledger."""
        return f"payout:{self.pk}"

    @property
    def is_refund(self) -> bool:
        return self.kind == self.Kind.REFUND

    @property
    def is_closed(self) -> bool:
        """Whether it will never be sent."""
        return self.state in self.CLOSED

    @property
    def taken(self) -> int:
        """Base units that it takes from what a refunded transfer brought: what is sent, and the fee."""
        return self.quoted_amount + self.fee

    def story(self) -> models.Model:
        return self.transfer.intent.purpose if self.transfer else self

    def get_absolute_url(self) -> str:
        return reverse("payments:payout", args=[self.number])
