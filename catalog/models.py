"""What can be rented: offers (one GPU model each), their stock in lots, and the price of a lot for each term."""

from typing import ClassVar

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

TERMS = (3, 7, 30)  # days
MIN_LOTS, MAX_LOTS = 1, 10  # of one order


class Backend(models.TextChoices):
    CUDA = "CUDA", "CUDA"
    ROCM = "ROCm", "ROCm"
    METAL = "Metal", "Metal"


class Confidence(models.TextChoices):
    """How well the facts of an offer are known: operators check the last ones before they publish."""

    A = "A", _("measured by us")
    B = "B", _("published by the vendor")
    C = "C", _("several sources agree")
    D = "D", _("to be checked")


class OfferQuerySet(models.QuerySet["Offer"]):
    def published(self) -> "OfferQuerySet":
        return self.filter(published=True)

    def available(self) -> "OfferQuerySet":
        return self.filter(taken__lt=F("lots"))


class Offer(models.Model):
    """One GPU model. Memory, bandwidth and power are per card; stock is counted in lots."""

    slug = models.SlugField(_("address of the page"), max_length=60, unique=True)
    name = models.CharField(_("name"), max_length=80, unique=True)
    vendor = models.CharField(_("vendor"), max_length=40)
    architecture = models.CharField(_("architecture"), max_length=40)
    arch_code = models.CharField(_("architecture code"), max_length=20, blank=True)
    memory_gb = models.PositiveIntegerField(_("memory per card, GB"), validators=[MinValueValidator(1)])
    memory_type = models.CharField(_("memory type"), max_length=30)
    usable_mib = models.PositiveIntegerField(_("usable memory per device, MiB"), null=True, blank=True)
    bandwidth_gbps = models.PositiveIntegerField(_("memory bandwidth, GB/s"), validators=[MinValueValidator(1)])
    board_power_w = models.PositiveIntegerField(_("board power, W"))
    backend = models.CharField(_("backend"), max_length=10, choices=Backend)
    devices_per_card = models.PositiveSmallIntegerField(
        _("devices per card"), default=1, validators=[MinValueValidator(1)]
    )
    cards_per_lot = models.PositiveSmallIntegerField(_("cards per lot"), default=1, validators=[MinValueValidator(1)])
    lots = models.PositiveIntegerField(_("lots"), default=0)
    taken = models.PositiveIntegerField(_("lots taken"), default=0, editable=False)
    short = models.PositiveIntegerField(_("lots short"), default=0, editable=False)
    published = models.BooleanField(_("published"), default=True)
    position = models.PositiveIntegerField(_("position"), default=0)
    confidence = models.CharField(_("confidence"), max_length=1, choices=Confidence, default=Confidence.C)

    objects = OfferQuerySet.as_manager()

    class Meta:
        verbose_name = _("offer")
        verbose_name_plural = _("offers")
        ordering = ["position", "id"]
        constraints = [
            models.CheckConstraint(condition=Q(taken__lte=F("lots") + F("short")), name="offer_never_oversold"),
            models.CheckConstraint(
                condition=Q(cards_per_lot__gte=1, devices_per_card__gte=1, memory_gb__gte=1, bandwidth_gbps__gte=1),
                name="offer_holds_cards",
            ),
            models.CheckConstraint(condition=Q(backend__in=Backend.values), name="offer_backend_known"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("catalog:offer", args=[self.slug])

    @property
    def available_lots(self) -> int:
        """Lots that can be ordered now. A shortfall shows as none, never as fewer than none."""
        return max(0, self.lots - self.taken)

    @property
    def memory_per_device_gb(self) -> int:
        """What one device sees: some cards are two devices, each with half of the memory."""
        return self.memory_gb // self.devices_per_card

    @property
    def usable_gib(self) -> float | None:
        """Usable memory of one device in GiB (1 GiB = 1,024 MiB); None when nobody has measured it."""
        return None if self.usable_mib is None else self.usable_mib / 1024

    @property
    def full_read_ms(self) -> float:
        """Milliseconds to read the whole memory once: the least time of a step that needs all of it."""
        return self.memory_gb / self.bandwidth_gbps * 1000

    @property
    def term_prices(self) -> list[tuple[int, int | None]]:
        """Each term in days with the price of one lot in US cents; None for a term that is not offered."""
        cents = {price.term_days: price.unit_price_cents for price in self.prices.all()}
        return [(term, cents.get(term)) for term in TERMS]

    def unit_price_cents(self, term_days: int) -> int | None:
        """Return the price of one lot for a term; None when it is not offered."""
        return dict(self.term_prices).get(term_days)


class Price(models.Model):
    """The price of one lot of an offer for one term, in US cents. Orders copy it: a change touches none of them."""

    offer = models.ForeignKey(Offer, on_delete=models.CASCADE, related_name="prices", verbose_name=_("offer"))
    term_days = models.PositiveSmallIntegerField(_("term, days"), choices=[(days, str(days)) for days in TERMS])
    unit_price_cents = models.PositiveIntegerField(_("price per lot, US cents"), validators=[MinValueValidator(1)])

    class Meta:
        verbose_name = _("price")
        verbose_name_plural = _("prices")
        ordering = ["offer_id", "term_days"]
        constraints = [
            models.UniqueConstraint(fields=["offer", "term_days"], name="price_once_per_term"),
            models.CheckConstraint(condition=Q(term_days__in=TERMS), name="price_term_known"),
            models.CheckConstraint(condition=Q(unit_price_cents__gte=1), name="price_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.term_days}: {self.unit_price_cents}"


class PauseQuerySet(models.QuerySet["Pause"]):
    def on(self) -> "PauseQuerySet":
        return self.filter(paused_at__isnull=False).select_related("actor")


class Pause(models.Model):
    """What takes nothing new at the moment, or once did: all orders, an offer, a payment method (OPS-8).

    One row per subject: "orders", "offer:17", "method:eth". It stays when the pause is over; events tell the history.
    `reason` is the staff's; `sentences` are what customers read, by language, and may be none.
    """

    ORDERS = "orders"

    subject = models.CharField(_("subject"), max_length=64, unique=True)
    paused_at = models.DateTimeField(_("paused"), null=True, blank=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        verbose_name=_("actor"),
        related_name="+",
    )
    reason = models.CharField(_("reason"), max_length=300, blank=True)
    sentences = models.JSONField(_("what customers read"), default=dict, blank=True)

    objects = PauseQuerySet.as_manager()

    class Meta:
        verbose_name = _("pause")
        verbose_name_plural = _("open and paused")
        ordering: ClassVar = ["subject"]
        constraints = (
            models.CheckConstraint(
                condition=Q(paused_at=None, actor=None, reason="")
                | (Q(paused_at__isnull=False, actor__isnull=False) & ~Q(reason="")),
                name="pause_by_someone_for_a_reason",
            ),
        )

    def __str__(self) -> str:
        return self.subject

    @property
    def sentence(self) -> str:
        """What customers read, in the active language; else in the site's first, else in any; "" if nothing is said."""
        said = {language: text for language, text in self.sentences.items() if text}
        wanted = (get_language() or "", settings.LANGUAGE_CODE, *said)
        return str(next((said[language] for language in wanted if language in said), ""))
