"""The history of everything that happened, which is also the outbox of what must still happen; and what operators are
told of it."""

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


class Heartbeat(models.Model):
    """When a worker last did what the clock asked for. One row: a worker, the beat and the broker between them live."""

    id = models.PositiveSmallIntegerField(_("number"), primary_key=True, default=1)
    at = models.DateTimeField(_("time"))

    class Meta:
        verbose_name = _("heartbeat")
        verbose_name_plural = _("heartbeat")
        constraints = (models.CheckConstraint(condition=models.Q(id=1), name="heartbeat_is_one"),)

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S}"


class Alarm(models.Model):
    """A state that needs a person while it lasts, such as "network:ethereum". One open row for each.

    `raised_at` is set, and operators are told, once it has lasted for a while; one that ended before leaves no row.
    """

    key = models.CharField(_("about"), max_length=80)
    since = models.DateTimeField(_("since"))
    raised_at = models.DateTimeField(_("told"), null=True)
    cleared_at = models.DateTimeField(_("over"), null=True)

    class Meta:
        verbose_name = _("alarm")
        verbose_name_plural = _("alarms")
        constraints = (
            models.UniqueConstraint(fields=("key",), condition=models.Q(cleared_at=None), name="alarm_one_open"),
        )

    def __str__(self) -> str:
        return self.key


class Notice(models.Model):
    """One event that operators are told about, by one channel.

    `batch` names what it is being sent with: it is set before the sending and stays when the sender dies, so that the
    same news go out again under the same name. `due_at` is when this may be tried next.
    """

    class Channel(models.TextChoices):
        MAIL = "mail", _("mail")
        WEBHOOK = "webhook", _("webhook")

    event = models.ForeignKey(Event, on_delete=models.PROTECT, verbose_name=_("event"), related_name="notices")
    channel = models.CharField(_("channel"), max_length=8, choices=Channel.choices)
    batch = models.UUIDField(_("sent with"), null=True)
    due_at = models.DateTimeField(_("due"), default=timezone.now)
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    error = models.CharField(_("error"), max_length=500, blank=True)
    sent_at = models.DateTimeField(_("sent"), null=True)

    class Meta:
        verbose_name = _("notice")
        verbose_name_plural = _("notices")
        constraints = (models.UniqueConstraint(fields=("event", "channel"), name="notice_once"),)
        indexes = (
            models.Index(fields=("channel", "id"), condition=models.Q(sent_at=None), name="notice_waiting"),
            models.Index(fields=("channel", "sent_at"), name="notice_sent"),
        )

    def __str__(self) -> str:
        return f"{self.event_id} → {self.channel}"
