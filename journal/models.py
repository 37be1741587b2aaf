"""The experiment journal: one card per question, kept by the person who asks it, also as a guest (ACC-6)."""

from django.db import models
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import Holder
from orders.models import Order


class Card(models.Model):
    """One experimental question, from what was expected to what was decided. Failures are kept as results (JRN-1)."""

    holder = models.ForeignKey(Holder, on_delete=models.CASCADE, related_name="journal_cards")
    order = models.ForeignKey(
        Order, on_delete=models.SET_NULL, null=True, blank=True, related_name="journal_cards", verbose_name=_("order")
    )
    question = models.CharField(_("question"), max_length=300)
    hypothesis = models.TextField(_("hypothesis"), max_length=20_000, blank=True)
    control = models.TextField(_("control"), max_length=20_000, blank=True)
    variants = models.TextField(_("variants"), max_length=20_000, blank=True)
    environment = models.TextField(_("environment versions"), max_length=20_000, blank=True)
    parameters = models.TextField(_("parameters"), max_length=20_000, blank=True)
    data_version = models.CharField(_("data version"), max_length=300, blank=True)
    seeds = models.CharField(_("seeds"), max_length=300, blank=True)
    observations = models.TextField(_("observations"), max_length=20_000, blank=True)
    conclusion = models.TextField(_("conclusion"), max_length=20_000, blank=True)
    decision = models.TextField(_("decision"), max_length=20_000, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-updated_at", "-id"]
        verbose_name = _("journal card")
        verbose_name_plural = _("journal cards")
        indexes = [models.Index(fields=["holder", "-updated_at"], name="card_of_holder")]

    def __str__(self) -> str:
        return self.question

    def get_absolute_url(self) -> str:
        return reverse("journal:card", args=[self.pk])
