"""Checks that chain and books agree, as they were made."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Reconciliation(models.Model):
    """One check of one network, or of the ledger as a whole (`network` is empty).

    `sums` holds, for each asset, base units as text: what arrived and what became of it; for the ledger, cents.
    `checked` transfers were read again at the node, `missing` of them it does not have as they were stored. `newest`
    and `oldest` are how far the two rounds have come: over new transfers, and over all of them again and again. `error`
    says why the node could not be asked.
    """

    network = models.CharField(_("network"), max_length=32, blank=True)
    at = models.DateTimeField(_("time"), default=timezone.now)
    sums = models.JSONField(_("sums"), default=dict)
    agrees = models.BooleanField(_("chain and books agree"))
    checked = models.PositiveIntegerField(_("transfers checked"), default=0)
    missing = models.PositiveIntegerField(_("transfers missing"), default=0)
    newest = models.BigIntegerField(_("new ones checked up to"), default=0)
    oldest = models.BigIntegerField(_("old ones checked up to"), default=0)
    error = models.CharField(_("error"), max_length=500, blank=True)

    class Meta:
        verbose_name = _("reconciliation")
        verbose_name_plural = _("reconciliations")
        indexes = (models.Index(fields=("network", "-at"), name="reconciliation_newest"),)

    def __str__(self) -> str:
        return f"{self.network or 'ledger'} at {self.at:%Y-%m-%d %H:%M}"
