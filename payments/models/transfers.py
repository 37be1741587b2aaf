"""Facts of the chains, and how they became credit."""

from collections.abc import Mapping
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from balance.models import Movement
from money.fields import BaseUnitsField

from .promises import PaymentIntent


class TransferQuerySet(models.QuerySet["ChainTransfer"]):
    def known(self) -> "TransferQuerySet":
        """Leave out what the network no longer knows: dropped or replaced."""
        return self.exclude(status__in=ChainTransfer.GONE)

    def that_count(self) -> "TransferQuerySet":
        """Keep money that can keep a promise: of the asked asset, worth at least a cent, in a known transaction."""
        return self.filter(method=F("intent__method"), dust=False, explained=True)


class ChainTransfer(models.Model):
    """A fact of a chain, written by the watcher alone. `(network, txid, position)` names it for ever.

    `position` is the place within its own transaction, so a reorg that moves it keeps the key. `credited` says that a
    live allocation exists; it changes with that row only and keeps the look-up of open work small. `dust` is worth less
    than a cent: it is kept and has no effect. `explained` is false for a balance that grew without a transaction that
    says why. `first_seen_at` is inherited by what raises the fee of an earlier one; `slack_seconds` is by how much the
    block's time may be later than the payment, since the pool was not watched. `seconded` is what the second provider
    said. `verdict` is a person's decision where a rule asks for one.
    """

    class Status(models.TextChoices):
        SEEN = "seen", _("seen, not in a block")
        INCLUDED = "included", _("in a block")
        FINAL = "final", _("final")
        DROPPED = "dropped", _("dropped by the network")
        REPLACED = "replaced", _("replaced by its sender")

    class Verdict(models.TextChoices):
        CREDIT = "credit", _("credit it at the market rate")
        KEEP = "keep", _("do not credit it")

    GONE = (Status.DROPPED, Status.REPLACED)

    TRANSITIONS: ClassVar[Mapping[str, frozenset[str]]] = {
        Status.SEEN: frozenset({Status.INCLUDED, Status.FINAL, Status.DROPPED, Status.REPLACED}),
        Status.INCLUDED: frozenset({Status.SEEN, Status.FINAL, Status.DROPPED, Status.REPLACED}),
        Status.DROPPED: frozenset({Status.SEEN, Status.INCLUDED, Status.FINAL, Status.REPLACED}),
        Status.REPLACED: frozenset({Status.SEEN, Status.INCLUDED, Status.FINAL, Status.DROPPED}),
        Status.FINAL: frozenset({Status.SEEN}),  # its block was replaced after all
    }

    network = models.CharField(_("network"), max_length=32)
    txid = models.CharField(_("transaction id"), max_length=128)
    position = models.CharField(_("position"), max_length=64)
    intent = models.ForeignKey(
        PaymentIntent, on_delete=models.PROTECT, verbose_name=_("intent"), related_name="transfers"
    )
    method = models.CharField(_("method"), max_length=32, blank=True)
    contract = models.CharField(_("contract"), max_length=128, blank=True)
    amount = BaseUnitsField(_("amount"))
    dust = models.BooleanField(_("dust"), default=False)
    first_seen_at = models.DateTimeField(_("first seen"), default=timezone.now)
    status = models.CharField(_("status"), max_length=16, choices=Status.choices, default=Status.SEEN)
    block_height = models.BigIntegerField(_("block height"), null=True)
    block_hash = models.CharField(_("block hash"), max_length=128, blank=True)
    block_time = models.DateTimeField(_("block time"), null=True)
    confirmations = models.PositiveIntegerField(_("confirmations"), default=0)
    finalized = models.BooleanField(_("finalized"), default=False)
    credited = models.BooleanField(_("credited"), default=False)
    explained = models.BooleanField(_("explained"), default=True)
    slack_seconds = models.PositiveIntegerField(_("slack in seconds"), default=0)
    replaced_by = models.CharField(_("replaced by"), max_length=128, blank=True)
    seconded = models.BooleanField(_("confirmed by a second provider"), null=True)
    verdict = models.CharField(_("verdict"), max_length=16, choices=Verdict.choices, blank=True)

    objects = TransferQuerySet.as_manager()

    class Meta:
        verbose_name = _("transfer")
        verbose_name_plural = _("transfers")
        constraints = (
            models.UniqueConstraint(fields=("network", "txid", "position"), name="transfer_once"),
            models.CheckConstraint(
                condition=Q(
                    status__in=("seen", "dropped", "replaced"), block_height=None, block_hash="", block_time=None
                )
                | Q(status__in=("included", "final"), block_height__isnull=False, block_time__isnull=False)
                & ~Q(block_hash=""),
                name="transfer_block_whole",
            ),
        )
        indexes = (
            models.Index(fields=("network", "status"), condition=Q(credited=False), name="transfer_open_work"),
            models.Index(fields=("network",), condition=~Q(status="final"), name="transfer_not_final"),
        )

    def __str__(self) -> str:
        return f"{self.network}/{self.txid}/{self.position}"

    @property
    def is_gone(self) -> bool:
        """Whether the network no longer knows it."""
        return self.status in self.GONE


class SpentOutput(models.Model):
    """An output that a transfer's transaction spends: who spends the same one replaces it."""

    transfer = models.ForeignKey(
        ChainTransfer, on_delete=models.PROTECT, verbose_name=_("transfer"), related_name="spent"
    )
    network = models.CharField(_("network"), max_length=32)
    output = models.CharField(_("output"), max_length=160)

    class Meta:
        verbose_name = _("spent output")
        verbose_name_plural = _("spent outputs")
        constraints = (models.UniqueConstraint(fields=("transfer", "output"), name="spent_output_once"),)
        indexes = (models.Index(fields=("network", "output"), name="spent_output_by"),)

    def __str__(self) -> str:
        return f"{self.network}/{self.output}"


class Allocation(models.Model):
    """How one transfer became credit: once per episode; a new episode starts only after a reversal.

    `movement` is none when less than a cent was credited (dust that completed nothing).
    """

    transfer = models.ForeignKey(
        ChainTransfer, on_delete=models.PROTECT, verbose_name=_("transfer"), related_name="allocations"
    )
    episode = models.PositiveIntegerField(_("episode"), default=1)
    live = models.BooleanField(_("live"), default=True)
    intent = models.ForeignKey(
        PaymentIntent, on_delete=models.PROTECT, verbose_name=_("intent"), related_name="allocations"
    )
    customer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, verbose_name=_("customer"), related_name="+"
    )
    locked_amount = BaseUnitsField(_("locked amount"))
    market_amount = BaseUnitsField(_("market amount"))
    market_rate_e8 = models.BigIntegerField(_("market rate"), null=True)
    usd_cents = models.BigIntegerField(_("USD cents"))
    movement = models.OneToOneField(
        Movement, null=True, on_delete=models.PROTECT, verbose_name=_("movement"), related_name="+"
    )
    at = models.DateTimeField(_("time"), default=timezone.now)

    class Meta:
        verbose_name = _("allocation")
        verbose_name_plural = _("allocations")
        permissions = (("view_reports", "Can see the reports"),)
        constraints = (
            models.UniqueConstraint(fields=("transfer", "episode"), name="allocation_once_per_episode"),
            models.UniqueConstraint(fields=("transfer",), condition=Q(live=True), name="allocation_one_live"),
            models.CheckConstraint(
                condition=Q(usd_cents=0, movement=None) | Q(usd_cents__gt=0, movement__isnull=False),
                name="allocation_credit_is_moved",
            ),
        )

    def __str__(self) -> str:
        return f"{self.transfer} #{self.episode}"
