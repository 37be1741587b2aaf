"""What customers and support say to each other about an order (ORD-12). What was said stays."""

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from orders.models import Order

BODY_LENGTH = 8_000  # code points; a complete error with its stack fits, a log file doesn't


class Side(models.TextChoices):
    CUSTOMER = "customer", _("customer")
    STAFF = "staff", _("support")


class Conversation(models.Model):
    """Where the conversation of one order stands: which message each side wrote last and has read up to.

    The numbers are ids of messages, 0 for none. `waiting_since` is when the customer wrote what nobody has answered or
    set aside yet.
    """

    order = models.OneToOneField(
        Order, on_delete=models.PROTECT, primary_key=True, verbose_name=_("order"), related_name="conversation"
    )
    last_of_customer = models.BigIntegerField(default=0)
    last_of_staff = models.BigIntegerField(default=0)
    read_by_customer = models.BigIntegerField(default=0)
    read_by_staff = models.BigIntegerField(default=0)
    waiting_since = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")
        indexes = (
            models.Index(
                fields=("waiting_since",), condition=Q(waiting_since__isnull=False), name="conversation_waiting"
            ),
        )

    def __str__(self) -> str:
        return str(self.order)

    @property
    def unread(self) -> bool:
        """Whether support has written something that the customer has not opened."""
        return self.last_of_staff > self.read_by_customer


class Message(models.Model):
    """One message. Append-only: the database lets nobody change it, but for the removal of its words (ACC-7).

    `author` is none for what the system wrote. `context` holds what was filled in about a run, or the wish's deadline;
    `topic` the date that is asked for. `forgotten_at` is when the words were removed.
    """

    class Kind(models.TextChoices):
        QUESTION = "question", _("message")
        CANCELLATION = "cancellation", _("request to cancel")
        DATE = "date", _("request for a date")
        CHANGE = "change", _("request for a change")
        ANSWER = "answer", _("answer")

    class Topic(models.TextChoices):
        START = "start", _("the start of the rental")
        END = "end", _("the end of the rental")

    order = models.ForeignKey(Order, on_delete=models.PROTECT, verbose_name=_("order"), related_name="messages")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        verbose_name=_("author"),
        related_name="+",
    )
    side = models.CharField(_("side"), max_length=8, choices=Side.choices)
    kind = models.CharField(_("kind"), max_length=16, choices=Kind.choices)
    topic = models.CharField(_("date asked for"), max_length=8, choices=Topic.choices, blank=True)
    body = models.TextField(_("text"), blank=True)
    context = models.JSONField(_("details"), default=dict, blank=True)
    form_key = models.UUIDField(_("form key"), default=uuid.uuid4)
    at = models.DateTimeField(_("time"), default=timezone.now)
    forgotten_at = models.DateTimeField(_("words removed"), null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        permissions = (("answer", "Can answer customers"),)
        constraints = (
            models.UniqueConstraint(fields=("order", "side", "form_key"), name="message_once_per_form"),
            models.UniqueConstraint(fields=("order", "topic"), condition=~Q(topic=""), name="message_one_per_date"),
            models.CheckConstraint(condition=Q(kind="date") ^ Q(topic=""), name="message_of_date_has_topic"),
            models.CheckConstraint(condition=Q(side="staff") ^ ~Q(kind="answer"), name="message_answer_is_of_staff"),
            models.CheckConstraint(condition=Q(side="staff") | Q(author__isnull=False), name="message_has_author"),
            models.CheckConstraint(condition=Q(forgotten_at=None) | Q(body=""), name="message_forgotten_is_empty"),
        )
        indexes = (
            models.Index(fields=("order", "-id"), name="message_of_order"),
            models.Index(fields=("author", "at"), condition=Q(side="customer"), name="message_of_customer"),
        )

    def __str__(self) -> str:
        return f"{self.order}: {self.get_kind_display()}"


class CannedText(models.Model):
    """A text that support inserts and then changes to fit. Operators edit the list."""

    LANGUAGES: ClassVar = (("en", "English"), ("ru", "Русский"), ("pl", "Polski"), ("vi", "Tiếng Việt"))

    title = models.CharField(_("title"), max_length=80)
    language = models.CharField(_("language"), max_length=10, choices=LANGUAGES, default="en")
    body = models.TextField(_("text"), max_length=BODY_LENGTH, help_text=_("{number} becomes the number of the order."))
    position = models.PositiveIntegerField(_("position"), default=0)

    class Meta:
        ordering: ClassVar = ["language", "position", "id"]
        verbose_name = _("prepared answer")
        verbose_name_plural = _("prepared answers")
        constraints = (models.UniqueConstraint(fields=("language", "title"), name="canned_text_once"),)

    def __str__(self) -> str:
        return self.title
