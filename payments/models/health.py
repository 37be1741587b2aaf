"""How the sources of prices are, for operators; and when each asset last had a price that could be promised."""

from django.db import models
from django.db.models import Q
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
