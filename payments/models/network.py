"""The networks as they were read, the addresses made ahead, and the prices that were seen."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


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
    `ended_turn` is that of the last pass which advanced all that it had touched: after another one all is looked at.
    Addresses of the key with an index below `skip_below` are watched and never handed out: they may have been, before
    a back-up was restored.
    """

    class State(models.TextChoices):
        WATCHING = "watching", _("watching")
        STOPPED = "stopped", _("stopped")

    network = models.CharField(_("network"), max_length=32, primary_key=True)
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.WATCHING)
    genesis = models.CharField(_("genesis"), max_length=140, blank=True)
    fingerprint = models.CharField(_("fingerprint"), max_length=40, blank=True)
    skip_below = models.PositiveIntegerField(_("hand out no index below"), default=0)
    recent = models.JSONField(_("recent"), default=list)
    head = models.BigIntegerField(_("head"), null=True)
    watched_until = models.DateTimeField(_("watched until"), null=True)
    last_pass_at = models.DateTimeField(_("last complete pass"), null=True)
    error = models.TextField(_("error"), blank=True)
    error_at = models.DateTimeField(_("time of the error"), null=True)
    turn = models.BigIntegerField(_("turn"), default=0)
    ended_turn = models.BigIntegerField(_("turn that ended"), default=0)
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
    """A receiving address made ahead by a worker. `seal` signs the row; `issued_at` is set once and for ever.

    `balance` (base units as text), `mark` and `looked_at` are what a network that looks at each address kept about it;
    not sealed, since they say nothing about where money goes.
    """

    network = models.CharField(_("network"), max_length=32)
    index = models.PositiveIntegerField(_("index"))
    address = models.CharField(_("address"), max_length=128)
    fingerprint = models.CharField(_("fingerprint"), max_length=40)
    genesis = models.CharField(_("genesis"), max_length=140)
    seal = models.CharField(_("seal"), max_length=64)
    made_at = models.DateTimeField(_("made"), default=timezone.now)
    issued_at = models.DateTimeField(_("issued"), null=True)
    balance = models.CharField(_("balance"), max_length=78, blank=True)
    mark = models.CharField(_("mark"), max_length=128, blank=True)
    looked_at = models.DateTimeField(_("looked at"), null=True)

    class Meta:
        verbose_name = _("reserved address")
        verbose_name_plural = _("reserved addresses")
        constraints = (
            models.UniqueConstraint(fields=("network", "address"), name="address_once"),
            models.UniqueConstraint(fields=("network", "fingerprint", "index"), name="address_index_once"),
        )
        indexes = (
            models.Index(fields=("network", "index"), condition=Q(issued_at=None), name="address_next_free"),
            models.Index(
                fields=("network", "looked_at"), condition=Q(issued_at__isnull=False), name="address_longest_unseen"
            ),
        )

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
