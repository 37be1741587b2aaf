"""What one person proposes and, above a sum, only a second one may carry out."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class TwoPersons(models.Model):
    """A sum that a person proposes for a reason: done at once up to a limit, above it once a `second` one agrees."""

    class State(models.TextChoices):
        PROPOSED = "proposed", _("waits for a second person")
        DONE = "done", _("done")
        WITHDRAWN = "withdrawn", _("withdrawn")

    pk: Any
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.PROPOSED)
    usd_cents = models.BigIntegerField(_("USD cents"))
    reason = models.CharField(_("reason"), max_length=500)
    proposed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, verbose_name=_("proposed by"), related_name="+"
    )
    proposed_at = models.DateTimeField(_("proposed"), default=timezone.now)
    second = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, verbose_name=_("second person"), related_name="+"
    )
    decided_at = models.DateTimeField(_("decided"), null=True)

    class Meta:
        abstract = True
