"""How the sources of prices and the installation as a whole are; and when each asset last had a good price."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class RateSourceHealth(models.Model):
    """One source of prices. `error` says why its last answer was none, "" after a good one.

    `unpriced` holds the symbols that its last answer gave no price for, each with the reason.
    """

    source = models.CharField(_("source"), max_length=32, primary_key=True)
    last_success_at = models.DateTimeField(_("last answer"), null=True)
    error = models.TextField(_("error"), blank=True)
    error_at = models.DateTimeField(_("time of the error"), null=True)
    unpriced = models.JSONField(_("without a price"), default=dict)

    class Meta:
        verbose_name = _("price source")
        verbose_name_plural = _("price sources")

    def __str__(self) -> str:
        return self.source


class LastRate(models.Model):
    """The newest price of an asset that promises could be made from, in 10⁻⁸ dollars."""

    symbol = models.CharField(_("symbol"), max_length=12, primary_key=True)
    price_e8 = models.BigIntegerField(_("price"))
    at = models.DateTimeField(_("time"))

    class Meta:
        verbose_name = _("last good price")
        verbose_name_plural = _("last good prices")
        constraints = (models.CheckConstraint(condition=Q(price_e8__gt=0), name="last_rate_positive"),)

    def __str__(self) -> str:
        return f"{self.symbol} {self.price_e8}"


class Checkup(models.Model):
    """One check of the whole installation, as somebody asked for it. A worker makes it: web processes ask no node.

    `findings` are those of `payments.findings`, as JSON, in the order in which they are read. `started_at`: a worker is
    at it since then; one that was killed leaves it to the next.
    """

    asked_at = models.DateTimeField(_("asked"), default=timezone.now)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, verbose_name=_("asked by"), related_name="+"
    )
    started_at = models.DateTimeField(_("started"), null=True)
    done_at = models.DateTimeField(_("done"), null=True)
    waits = models.BooleanField(_("waits for a worker"), default=True)
    findings = models.JSONField(_("findings"), default=list)

    class Meta:
        verbose_name = _("check-up")
        verbose_name_plural = _("check-ups")
        constraints = (
            models.UniqueConstraint(fields=("waits",), condition=Q(waits=True), name="checkup_one_waits"),
            models.CheckConstraint(
                condition=Q(waits=True, done_at=None) | Q(waits=False, done_at__isnull=False),
                name="checkup_done_or_waits",
            ),
        )

    def __str__(self) -> str:
        return f"check-up of {self.asked_at:%Y-%m-%d %H:%M}"
