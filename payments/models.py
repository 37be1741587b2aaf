"""Promises (intents), facts of chains (transfers), and how facts became credit (allocations)."""

import uuid
from collections.abc import Mapping
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from balance.models import Movement
from money.fields import BaseUnitsField
from orders.models import Order


class Installation(models.Model):
    """What this installation was born as. One row; demo money must never become spendable."""

    class Kind(models.TextChoices):
        SIMULATED = "simulated", _("simulated")
        REAL = "real", _("real")

    id = models.PositiveSmallIntegerField(_("number"), primary_key=True, default=1)
    identity = models.UUIDField(_("identity"), default=uuid.uuid4)
    kind = models.CharField(_("kind"), max_length=16, choices=Kind.choices)
    born_at = models.DateTimeField(_("born"), default=timezone.now)

    class Meta:
        verbose_name = _("installation")
        verbose_name_plural = _("installation")
        constraints = (models.CheckConstraint(condition=Q(id=1), name="installation_is_one"),)

    def __str__(self) -> str:
        return f"{self.kind} since {self.born_at:%Y-%m-%d}"


class NetworkCursor(models.Model):
    """How far one network was read, and how it is. Facts and cursor commit together.

    `fingerprint` names the key that the worker derives addresses from: only its addresses are handed out.
    `recent` holds [height, hash] of the last blocks read, oldest first. `watched_until`: every block with a time up to
    this one was read (the honest clock). `turn` grows with every write: a pass that read an older turn is thrown away.
    """

    class State(models.TextChoices):
        WATCHING = "watching", _("watching")
        STOPPED = "stopped", _("stopped")

    network = models.CharField(_("network"), max_length=32, primary_key=True)
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.WATCHING)
    genesis = models.CharField(_("genesis"), max_length=140, blank=True)
    fingerprint = models.CharField(_("fingerprint"), max_length=40, blank=True)
    recent = models.JSONField(_("recent"), default=list)
    head = models.BigIntegerField(_("head"), null=True)
    watched_until = models.DateTimeField(_("watched until"), null=True)
    last_pass_at = models.DateTimeField(_("last complete pass"), null=True)
    error = models.TextField(_("error"), blank=True)
    error_at = models.DateTimeField(_("time of the error"), null=True)
    turn = models.BigIntegerField(_("turn"), default=0)
    leased_until = models.DateTimeField(_("leased until"), default=timezone.now)

    class Meta:
        verbose_name = _("network")
        verbose_name_plural = _("networks")

    def __str__(self) -> str:
        return self.network

    @property
    def height(self) -> int | None:
        return self.recent[-1][0] if self.recent else None


class ReservedAddress(models.Model):
    """A receiving address made ahead by a worker. `seal` signs the row; `issued_at` is set once and for ever."""

    network = models.CharField(_("network"), max_length=32)
    index = models.PositiveIntegerField(_("index"))
    address = models.CharField(_("address"), max_length=128)
    fingerprint = models.CharField(_("fingerprint"), max_length=40)
    genesis = models.CharField(_("genesis"), max_length=140)
    seal = models.CharField(_("seal"), max_length=64)
    made_at = models.DateTimeField(_("made"), default=timezone.now)
    issued_at = models.DateTimeField(_("issued"), null=True)

    class Meta:
        verbose_name = _("reserved address")
        verbose_name_plural = _("reserved addresses")
        constraints = (
            models.UniqueConstraint(fields=("network", "address"), name="address_once"),
            models.UniqueConstraint(fields=("network", "fingerprint", "index"), name="address_index_once"),
        )
        indexes = (models.Index(fields=("network", "index"), condition=Q(issued_at=None), name="address_next_free"),)

    def __str__(self) -> str:
        return f"{self.network}/{self.index}"


class RateSample(models.Model):
    """One price from one source, for one whole coin in 10⁻⁸ dollars."""

    source = models.CharField(_("source"), max_length=32)
    symbol = models.CharField(_("symbol"), max_length=12)
    price_e8 = models.BigIntegerField(_("price"))
    source_at = models.DateTimeField(_("source's time"))
    received_at = models.DateTimeField(_("received"), default=timezone.now)

    class Meta:
        verbose_name = _("price sample")
        verbose_name_plural = _("price samples")
        constraints = (models.CheckConstraint(condition=Q(price_e8__gt=0), name="rate_positive"),)
        indexes = (models.Index(fields=("symbol", "-received_at"), name="rate_newest"),)

    def __str__(self) -> str:
        return f"{self.symbol} {self.price_e8} ({self.source})"


class PaymentIntent(models.Model):
    """A price promise: this many units at this address until this time count as this many dollars. Never edited.

    `quote`, `funding` and `settlement` are caches that one function (`advance`) writes from the facts.
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

    id = models.UUIDField(_("number"), primary_key=True, default=uuid.uuid4)
    order = models.ForeignKey(Order, on_delete=models.PROTECT, verbose_name=_("order"), related_name="intents")
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
            models.CheckConstraint(condition=Q(usd_cents__gte=1), name="intent_not_free"),
            models.CheckConstraint(condition=Q(rate_e8__gt=0), name="intent_has_rate"),
            models.CheckConstraint(condition=Q(expires_at__gt=F("created_at")), name="intent_expires_later"),
        )
        indexes = (models.Index(fields=("network", "expires_at"), condition=Q(ended_at=None), name="intent_live"),)

    def __str__(self) -> str:
        return f"{self.method} for {self.order}"


class TransferQuerySet(models.QuerySet["ChainTransfer"]):
    def known(self) -> "TransferQuerySet":
        """Leave out what the network has dropped."""
        return self.exclude(status=ChainTransfer.Status.DROPPED)

    def that_count(self) -> "TransferQuerySet":
        """Keep money that can keep a promise: of the asked asset, and worth at least a cent."""
        return self.filter(method=F("intent__method"), dust=False)


class ChainTransfer(models.Model):
    """A fact of a chain, written by the watcher alone. `(network, txid, position)` names it for ever.

    `position` is the place within its own transaction, so a reorg that moves it keeps the key. `credited` says that a
    live allocation exists; it changes with that row only and keeps the look-up of open work small. `dust` is worth less
    than a cent: it is kept and has no effect.
    """

    class Status(models.TextChoices):
        SEEN = "seen", _("seen, not in a block")
        INCLUDED = "included", _("in a block")
        FINAL = "final", _("final")
        DROPPED = "dropped", _("dropped by the network")

    TRANSITIONS: ClassVar[Mapping[str, frozenset[str]]] = {
        Status.SEEN: frozenset({Status.INCLUDED, Status.FINAL, Status.DROPPED}),
        Status.INCLUDED: frozenset({Status.SEEN, Status.FINAL, Status.DROPPED}),
        Status.DROPPED: frozenset({Status.SEEN, Status.INCLUDED, Status.FINAL}),
        Status.FINAL: frozenset(),
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

    objects = TransferQuerySet.as_manager()

    class Meta:
        verbose_name = _("transfer")
        verbose_name_plural = _("transfers")
        constraints = (
            models.UniqueConstraint(fields=("network", "txid", "position"), name="transfer_once"),
            models.CheckConstraint(
                condition=Q(status__in=("seen", "dropped"), block_height=None, block_hash="", block_time=None)
                | Q(status__in=("included", "final"), block_height__isnull=False, block_time__isnull=False)
                & ~Q(block_hash=""),
                name="transfer_block_whole",
            ),
        )
        indexes = (models.Index(fields=("network", "status"), condition=Q(credited=False), name="transfer_open_work"),)

    def __str__(self) -> str:
        return f"{self.network}/{self.txid}/{self.position}"


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


class ReviewItem(models.Model):
    """Something that needs a person: what, why, and what we suggest. One open item per subject and reason."""

    class Reason(models.TextChoices):
        STOPPED = "network_stopped", _("a network stopped: another chain, or a reorganisation too deep")
        ADDRESS = "address_mismatch", _("an address is not the one that our key derives")
        ORPHANED = "final_orphaned", _("the block of a final transfer was replaced")
        CHANGED = "transfer_changed", _("a transfer came again with another amount or address")
        AMOUNT = "amount_unbelievable", _("a transfer is worth more than can be believed")
        ASSET = "other_asset", _("an asset arrived that was not asked for")

    reason = models.CharField(_("reason"), max_length=32, choices=Reason.choices)
    subject = models.CharField(_("subject"), max_length=64)
    facts = models.JSONField(_("facts"), default=dict)
    suggestion = models.CharField(_("suggestion"), max_length=300, blank=True)
    opened_at = models.DateTimeField(_("opened"), default=timezone.now)
    decided_at = models.DateTimeField(_("decided"), null=True)
    decision = models.CharField(_("decision"), max_length=300, blank=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, verbose_name=_("actor"), related_name="+"
    )

    class Meta:
        verbose_name = _("review item")
        verbose_name_plural = _("review items")
        constraints = (
            models.UniqueConstraint(fields=("reason", "subject"), condition=Q(decided_at=None), name="review_one_open"),
        )

    def __str__(self) -> str:
        return f"{self.get_reason_display()}: {self.subject}"


from .models_health import LastRate as LastRate  # noqa: E402
from .models_health import RateSourceHealth as RateSourceHealth  # noqa: E402
