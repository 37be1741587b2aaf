"""Who looked at whom: the log of the support desk. A story is shown for a row of it and for nothing else (OPS-3)."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import User


class Lookup(models.Model):
    """One look-up: by whom, what was typed, what it was read as, what was found. Append-only, like events.

    `hits` are the rows found, named as in events ("order:17"). With one hit `subject` is its name and `customer` whose
    it is: what the story was shown of. `kind` holds the codes of the finders that could read the text. Of an email
    `text` keeps only a mask: the row is never deleted, and whose it is says `customer`.
    """

    class Outcome(models.TextChoices):
        FOUND = "found", _("found")
        SEVERAL = "several", _("several found")
        SUGGESTED = "suggested", _("similar ones suggested")
        NOTHING = "nothing", _("nothing found")
        REFUSED = "refused", _("refused: too many look-ups")

    id = models.UUIDField(_("number"), primary_key=True, default=uuid.uuid4)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, verbose_name=_("actor"), related_name="+"
    )
    text = models.CharField(_("typed"), max_length=200)
    kind = models.CharField(_("read as"), max_length=64, blank=True)
    outcome = models.CharField(_("outcome"), max_length=16, choices=Outcome.choices)
    hits = models.JSONField(_("found"), default=list)
    subject = models.CharField(_("shown"), max_length=64, blank=True)
    customer = models.ForeignKey(
        User, null=True, on_delete=models.PROTECT, verbose_name=_("customer"), related_name="+"
    )
    at = models.DateTimeField(_("time"), default=timezone.now)

    class Meta:
        verbose_name = _("look-up")
        verbose_name_plural = _("look-ups")
        permissions = (("use_desk", "Can use the support desk"),)
        constraints = (
            models.CheckConstraint(
                condition=(Q(outcome="found", customer__isnull=False) & ~Q(subject=""))
                | (~Q(outcome="found") & Q(subject="", customer=None)),
                name="lookup_shows_what_it_found",
            ),
        )
        indexes = (
            models.Index(fields=("-at",), name="lookup_by_time"),
            models.Index(fields=("actor", "-at"), name="lookup_of_actor"),
            models.Index(fields=("subject", "-at"), condition=~Q(subject=""), name="lookup_of_subject"),
        )

    def __str__(self) -> str:
        return f"{self.actor}: {self.text}"
