"""Orders and the lots they hold."""

from collections.abc import Mapping
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.models import Holder
from catalog.models import TERMS, Offer
from events.stateful import Stateful

from . import numbers


class Environment(models.Model):
    """A wished starting point for the machine (ORD-2). Operators edit the list; orders keep a copy of the name."""

    code = models.SlugField(_("code"), unique=True)
    name = models.CharField(_("name"), max_length=80)
    free_text = models.BooleanField(_("asks for a description"), default=False)
    position = models.PositiveIntegerField(_("position"), default=0)
    offered = models.BooleanField(_("offered"), default=True)

    class Meta:
        ordering: ClassVar = ["position", "id"]
        verbose_name = _("environment")
        verbose_name_plural = _("environments")

    def __str__(self) -> str:
        return self.name

    @property
    def label(self) -> str:
        """The name in the reader's language, if it is one of the usual ones; an operator's own name as it is."""
        return gettext(self.name)


class Draft(models.Model):
    """A choice that somebody keeps for later, also as a guest (ACC-6). It holds no stock and promises no price."""

    holder = models.ForeignKey(Holder, on_delete=models.CASCADE, verbose_name=_("holder"), related_name="drafts")
    offer = models.ForeignKey(Offer, on_delete=models.CASCADE, verbose_name=_("offer"), related_name="+")
    term_days = models.PositiveSmallIntegerField(_("term days"))
    lots = models.PositiveSmallIntegerField(_("lots"))
    environment_code = models.CharField(_("environment"), max_length=50, blank=True)
    environment_wish = models.CharField(_("environment wish"), max_length=500, blank=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now)

    class Meta:
        ordering: ClassVar = ["-id"]
        verbose_name = _("kept choice")
        verbose_name_plural = _("kept choices")
        constraints = (
            models.UniqueConstraint(
                fields=("holder", "offer", "term_days", "lots", "environment_code", "environment_wish"),
                name="draft_once",
            ),
            models.CheckConstraint(condition=Q(lots__gte=1, lots__lte=10), name="draft_1_to_10_lots"),
            models.CheckConstraint(condition=Q(term_days__in=TERMS), name="draft_known_term"),
        )

    def __str__(self) -> str:
        days = ngettext("%(days)d day", "%(days)d days", self.term_days) % {"days": self.term_days}
        lots = ngettext("%(lots)d lot", "%(lots)d lots", self.lots) % {"lots": self.lots}
        return f"{self.offer.name}, {days}, {lots}"


class Order(Stateful):
    """What a customer ordered, as it was when they confirmed it (ORD-3): later edits elsewhere don't change it.

    `state` is about the promise, `payment` is what payments last told about money (a cache for lists), `promised_until`
    how long it may still keep payment instructions for the order, `needs_help_at` since when the money that paid it is
    gone again; provisioning and the rental period are other rows of other apps (ORD-5). `client` is a keyed mark of
    where it came from.
    """

    class State(models.TextChoices):
        OPEN = "open", _("open")
        SETTLED = "settled", _("paid")
        CANCELLED = "cancelled", _("cancelled")
        EXPIRED = "expired", _("expired")
        RETURNED = "returned", _("given back")

    class Payment(models.TextChoices):
        NONE = "none", _("nothing seen")
        SEEN = "seen", _("seen")
        PAID = "paid", _("paid")

    TRANSITIONS: ClassVar[Mapping[str, frozenset[str]]] = {
        State.OPEN: frozenset({State.SETTLED, State.CANCELLED, State.EXPIRED}),
        State.SETTLED: frozenset({State.RETURNED}),
        State.RETURNED: frozenset(),
        State.CANCELLED: frozenset(),
        State.EXPIRED: frozenset(),
    }

    symbols = models.CharField(_("symbols"), max_length=numbers.LENGTH, unique=True)
    customer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, verbose_name=_("customer"), related_name="orders"
    )
    form_key = models.UUIDField(_("form key"))
    client = models.CharField(_("client's mark"), max_length=32, blank=True)
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.OPEN)
    payment = models.CharField(_("payment"), max_length=8, choices=Payment.choices, default=Payment.NONE)

    offer = models.ForeignKey(Offer, on_delete=models.PROTECT, verbose_name=_("offer"), related_name="orders")
    offer_name = models.CharField(_("offer name"), max_length=120)
    cards_per_lot = models.PositiveSmallIntegerField(_("cards per lot"))
    term_days = models.PositiveSmallIntegerField(_("term days"))
    lots = models.PositiveSmallIntegerField(_("lots"))
    unit_price_cents = models.BigIntegerField(_("price per lot in cents"))
    total_cents = models.BigIntegerField(_("total in cents"))
    environment = models.CharField(_("environment"), max_length=80)
    environment_wish = models.CharField(_("environment wish"), max_length=500, blank=True)
    first_name = models.CharField(_("first name"), max_length=150)
    last_name = models.CharField(_("last name"), max_length=150)
    email = models.EmailField(_("contact email"))

    created_at = models.DateTimeField(_("created"), default=timezone.now)
    settled_at = models.DateTimeField(_("settled"), null=True, blank=True)
    promised_until = models.DateTimeField(_("promised until"), null=True, blank=True)
    needs_help_at = models.DateTimeField(_("needs help since"), null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        verbose_name = _("order")
        verbose_name_plural = _("orders")
        constraints = (
            models.UniqueConstraint(fields=("customer", "form_key"), name="order_once_per_form"),
            models.CheckConstraint(condition=Q(lots__gte=1, lots__lte=10), name="order_1_to_10_lots"),
            models.CheckConstraint(condition=Q(term_days__in=TERMS), name="order_known_term"),
            models.CheckConstraint(condition=Q(unit_price_cents__gte=1), name="order_not_free"),
            models.CheckConstraint(
                condition=Q(total_cents=F("unit_price_cents") * F("lots")), name="order_total_is_price_times_lots"
            ),
            models.CheckConstraint(
                condition=Q(state="settled", settled_at__isnull=False, payment="paid")
                | (~Q(state="settled") & Q(settled_at=None) & ~Q(payment="paid")),
                name="order_settled_is_paid",
            ),
        )
        indexes = (
            models.Index(fields=("customer", "-id"), name="order_of_customer"),
            models.Index(Lower("email"), name="order_contact_email"),
            models.Index(fields=("created_at",), condition=Q(state="open"), name="order_open_by_age"),
            models.Index(fields=("client",), condition=Q(state="open") & ~Q(client=""), name="order_open_of_client"),
        )

    def __str__(self) -> str:
        return self.number

    @property
    def number(self) -> str:
        """The public number: GL-7K3M-9QX2."""
        return numbers.pretty(self.symbols, settings.ORDER_NUMBER_PREFIX)

    def get_absolute_url(self) -> str:
        return reverse("orders:detail", args=[self.number])

    @property
    def cards(self) -> int:
        return self.lots * self.cards_per_lot

    @property
    def environment_label(self) -> str:
        """The environment in the reader's language; its name was not empty when the order was saved, or it is none."""
        return gettext(self.environment) if self.environment else ""

    @property
    def is_payable(self) -> bool:
        return self.state == self.State.OPEN


class Hold(models.Model):
    """Lots that an order keeps: one *held* row per order, flipped to released once, and only that flip gives lots back.

    `until` is none once the order is settled: then the lots stay with it until the machine is wiped (PRV-7).
    """

    class State(models.TextChoices):
        HELD = "held", _("held")
        RELEASED = "released", _("released")

    order = models.ForeignKey(Order, on_delete=models.PROTECT, verbose_name=_("order"), related_name="holds")
    offer = models.ForeignKey(Offer, on_delete=models.PROTECT, verbose_name=_("offer"), related_name="+")
    lots = models.PositiveSmallIntegerField(_("lots"))
    state = models.CharField(_("state"), max_length=8, choices=State.choices, default=State.HELD)
    until = models.DateTimeField(_("until"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    released_at = models.DateTimeField(_("released"), null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("order",), condition=Q(state="held"), name="hold_one_held_per_order"),
            models.CheckConstraint(condition=Q(lots__gte=1), name="hold_some_lots"),
            models.CheckConstraint(
                condition=Q(state="held", released_at=None) | Q(state="released", released_at__isnull=False),
                name="hold_released_has_time",
            ),
        )
        indexes = (models.Index(fields=("until",), condition=Q(state="held"), name="hold_by_end"),)

    def __str__(self) -> str:
        return f"{self.order} holds {self.lots}"
