"""What needs a person, and what people decided."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from orders.models import Order

from .promises import PaymentIntent
from .transfers import ChainTransfer
from .two_persons import TwoPersons


class ReviewItem(models.Model):
    """Something that needs a person: what, why, and what we suggest. One open item per subject and reason."""

    class Reason(models.TextChoices):
        STOPPED = "network_stopped", _("a network stopped: another chain, or a reorganisation too deep")
        ADDRESS = "address_mismatch", _("an address is not the one that our key derives")
        ORPHANED = "final_orphaned", _("the block of a final transfer was replaced")
        CHANGED = "transfer_changed", _("a transfer came again with another amount or address")
        AMOUNT = "amount_unbelievable", _("a transfer is worth more than can be believed")
        ASSET = "other_asset", _("an asset arrived that was not asked for")
        TOKEN = "unknown_token", _("an unknown token arrived")
        LARGE = "large_unpromised", _("a large transfer arrived to which no promise applies")
        DISAGREE = "providers_disagree", _("two providers disagree about a transfer")
        UNEXPLAINED = "unexplained_balance", _("a balance grew and no transaction says why")
        CLAIM = "claim", _("a customer claims a payment")
        STRAY = "no_instructions", _("money arrived at an address that was given to nobody")
        SHARED = "key_used_elsewhere", _("the key of a network is used elsewhere too")
        BOOKS = "books_differ", _("chain and books differ")

    class Outcome(models.TextChoices):
        CREDITED = "credited", _("credited")
        KEPT = "kept", _("not credited")
        NOTED = "noted", _("noted")

    reason = models.CharField(_("reason"), max_length=32, choices=Reason.choices)
    subject = models.CharField(_("subject"), max_length=64)
    transfer = models.ForeignKey(
        ChainTransfer, null=True, on_delete=models.PROTECT, verbose_name=_("transfer"), related_name="reviews"
    )
    facts = models.JSONField(_("facts"), default=dict)
    suggestion = models.CharField(_("suggestion"), max_length=300, blank=True)
    opened_at = models.DateTimeField(_("opened"), default=timezone.now)
    decided_at = models.DateTimeField(_("decided"), null=True)
    outcome = models.CharField(_("outcome"), max_length=16, choices=Outcome.choices, blank=True)
    decision = models.CharField(_("decision"), max_length=300, blank=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, verbose_name=_("actor"), related_name="+"
    )

    class Meta:
        verbose_name = _("review item")
        verbose_name_plural = _("review items")
        constraints = (
            models.UniqueConstraint(fields=("reason", "subject"), condition=Q(decided_at=None), name="review_one_open"),
            models.CheckConstraint(
                condition=Q(decided_at=None, outcome="", actor=None)
                | (Q(decided_at__isnull=False, actor__isnull=False) & ~Q(outcome="") & ~Q(decision="")),
                name="review_decided_by_someone_for_a_reason",
            ),
        )
        indexes = (models.Index(fields=("subject",), name="review_of_subject"),)

    def __str__(self) -> str:
        return f"{self.get_reason_display()}: {self.subject}"

    @property
    def advice(self) -> str:
        """The suggestion in the reader's language: it is stored in English."""
        return gettext(self.suggestion) if self.suggestion else ""


class HandSettlement(TwoPersons):
    """An order that operators settle without a payment on a chain: by whom, why, with what evidence (PAY-5).

    `second` is the other person, needed above a sum. Chain money that comes later goes to the balance.
    """

    order = models.ForeignKey(Order, on_delete=models.PROTECT, verbose_name=_("order"), related_name="hand_settlements")
    evidence = models.CharField(_("evidence"), max_length=1000)

    class Meta:
        verbose_name = _("settlement by hand")
        verbose_name_plural = _("settlements by hand")
        permissions = (("settle_order", "Can settle an order by hand"),)
        constraints = (
            models.UniqueConstraint(fields=("order",), condition=~Q(state="withdrawn"), name="hand_settlement_once"),
            models.CheckConstraint(condition=Q(usd_cents__gte=0), name="hand_settlement_not_negative"),
            models.CheckConstraint(condition=~Q(reason="") & ~Q(evidence=""), name="hand_settlement_has_grounds"),
            models.CheckConstraint(
                condition=Q(second=None) | ~Q(second=F("proposed_by")), name="hand_settlement_two_persons"
            ),
        )

    def __str__(self) -> str:
        return f"{self.order} ({self.state})"


class Inquiry(models.Model):
    """A question to the payment doctor: a transaction, an explorer's link or an address, and what was found.

    A worker answers it: web processes ask no node. `answer` holds what the page shows, as codes and plain values; it
    may be there before `answered_at`, while the network is still asked again: at `due_at`, for the `tries`-th time.
    """

    id = models.UUIDField(_("number"), primary_key=True, default=uuid.uuid4)
    customer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, verbose_name=_("customer"), related_name="+"
    )
    intent = models.ForeignKey(
        PaymentIntent, null=True, on_delete=models.PROTECT, verbose_name=_("intent"), related_name="inquiries"
    )
    text = models.CharField(_("text"), max_length=500)
    asked_at = models.DateTimeField(_("asked"), default=timezone.now)
    due_at = models.DateTimeField(_("due"), default=timezone.now)
    tries = models.PositiveSmallIntegerField(_("tries"), default=0)
    answered_at = models.DateTimeField(_("answered"), null=True)
    answer = models.JSONField(_("answer"), default=dict)

    class Meta:
        verbose_name = _("inquiry")
        verbose_name_plural = _("inquiries")
        indexes = (
            models.Index(fields=("due_at",), condition=Q(answered_at=None), name="inquiry_due"),
            models.Index(fields=("customer", "-asked_at"), name="inquiry_of_customer"),
        )

    def __str__(self) -> str:
        return f"{self.pk}"
