"""The history of everything that happened, which is also the outbox of what must still happen."""

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Event(models.Model):
    """One thing that happened. Append-only. `thread` names the story it belongs to, e.g. "order:17"."""

    kind = models.CharField(_("kind"), max_length=64)
    thread = models.CharField(_("thread"), max_length=64, db_index=True)
    subject = models.CharField(_("subject"), max_length=64)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        verbose_name=_("actor"),
        related_name="+",
        db_constraint=True,
        db_index=False,  # by `event_actor_at`, which leaves out what the system did: most of the rows
    )
    data = models.JSONField(_("facts"), default=dict, encoder=DjangoJSONEncoder)
    at = models.DateTimeField(_("time"), default=timezone.now)

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        indexes = (
            models.Index(fields=("kind", "at"), name="event_kind_at"),
            models.Index(fields=("at",), name="event_at"),
            models.Index(fields=("actor", "at"), condition=models.Q(actor__isnull=False), name="event_actor_at"),
        )

    def __str__(self) -> str:
        return f"{self.kind} ({self.subject})"


class Delivery(models.Model):
    """One event for one handler. `done_at` is set in the same transaction as the handler's writes."""

    event = models.ForeignKey(Event, on_delete=models.PROTECT, verbose_name=_("event"), related_name="deliveries")
    handler = models.CharField(_("handler"), max_length=128)
    due_at = models.DateTimeField(_("due"), default=timezone.now)
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    error = models.TextField(_("error"), blank=True)
    done_at = models.DateTimeField(_("done"), null=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("event", "handler"), name="delivery_once"),)
        indexes = (models.Index(fields=("due_at", "id"), condition=models.Q(done_at=None), name="delivery_due"),)

    def __str__(self) -> str:
        return f"{self.event_id} → {self.handler}"
