"""What the pages of payment instructions show: one value, read with few queries."""

import zlib
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import segno
from django.db.models import QuerySet, Sum
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from events.statements import kept_query
from money.units import plain
from orders.models import Order
from orders.words import Word

from .actions.settling import known_since, promise_of, wants_second
from .models import Allocation, ChainTransfer, PaymentIntent, Purpose, TopUp
from .networks.base import Asset
from .path import Step, steps
from .queries import Remainder, remainder
from .registry import Method, families
from .registry import method as method_by_code
from .rules import Rules, rules_of
from .standing import FAIR_BAND, Promise
from .words import Progress, Waits, intent_word, may_send

SOURCES = {"fixed": _("the operator"), "coingecko": "CoinGecko"}  # the others write their name with one capital
OVER = ("cancelled", "expired", "unwatched", "closed", "credited", "late")
# The pattern over a QR code is said in the code, so readers take any. The standard scores all eight and takes the best;
# over the payment requests of our methods this one scores 3 % worse than the best in the mean, 19 % at worst.
MASK = 2
Status, Settlement = ChainTransfer.Status, PaymentIntent.Settlement
COMING = ("seen", "confirming", "second", "band")
CREDITED = (Settlement.SETTLED, Settlement.CREDITED, Settlement.REVERSED)


@dataclass(frozen=True)
class IntentPage:
    """An intent with everything that its page and its row in the history show."""

    intent: PaymentIntent
    method: Method
    transfers: list[ChainTransfer]
    now: datetime

    @property
    def asset(self) -> Asset:
        return self.method.asset

    @property
    def network_name(self) -> str:
        return self.method.family.name

    @property
    def may_declare(self) -> bool:
        """Whether "I paid" makes sense: not once the money is settled or credited."""
        return self.intent.declared_at is None and self.intent.settlement == Settlement.UNSETTLED

    @property
    def may_cancel(self) -> bool:
        alive = self.intent.purpose.is_payable and self.intent.ended_at is None
        return alive and self.intent.quote == PaymentIntent.Quote.OPEN and not self.transfers

    @property
    def for_topup(self) -> bool:
        return self.intent.topup_id is not None

    @property
    def choose_url(self) -> str:
        """Where new instructions are asked for."""
        return choose_url(self.intent.purpose)

    @cached_property
    def promise(self) -> Promise:
        return promise_of(self.intent, self.method)

    @property
    def asked(self) -> list[ChainTransfer]:
        """The transfers of the asked asset that the network knows."""
        return [t for t in self.transfers if not t.is_gone and t.method == self.intent.method]

    @cached_property
    def progress(self) -> Progress:
        coming = [t for t in self.asked if not t.credited] or self.asked
        done = min((t.confirmations for t in coming), default=0)
        return Progress(done, families()[self.intent.network].finality(self.intent.usd_cents).confirmations)

    @cached_property
    def band_until(self) -> datetime | None:
        """Until when money that is a little late may still count, if some has arrived and nothing is decided yet."""
        undecided = self.intent.quote == PaymentIntent.Quote.EXPIRED and not self.promise.kept and not self.for_topup
        late = [t for t in self.asked if not t.credited and self.promise.in_fair_band(known_since(t))]
        return self.promise.until + FAIR_BAND if late and undecided and self.intent.purpose.is_payable else None

    @cached_property
    def waits(self) -> Waits:
        """What final money still waits for."""
        final = [t for t in self.asked if t.status == Status.FINAL and not t.credited]
        if not final or len(final) < len([t for t in self.asked if not t.credited]):
            return Waits()
        return Waits(any(wants_second(t, self.promise) for t in final), self.band_until)

    @cached_property
    def word(self) -> Word:
        payable = self.intent.purpose.is_payable
        return intent_word(self.intent, self.transfers, self.progress, payable=payable, now=self.now, waits=self.waits)

    @property
    def steps(self) -> list[Step]:
        """The way of the payment, up to the money's end."""
        return list(steps(self.word, topup=self.for_topup))

    @cached_property
    def may_send(self) -> bool:
        return may_send(self.intent, self.now, payable=self.intent.purpose.is_payable)

    @property
    def amount_text(self) -> str:
        """The exact amount in plain form, for copying."""
        return plain(self.intent.amount, self.method.asset.decimals)

    @property
    def received(self) -> int:
        """Base units of the asked asset that the network knows about."""
        return sum(t.amount for t in self.asked)

    @property
    def listed_amount(self) -> str:
        """The amount as the history shows it: nothing that could still be sent by mistake (PAY-9)."""
        return self.amount_text if self.may_send or self.word.code == "paid" else ""

    @property
    def received_text(self) -> str:
        return plain(self.received, self.asset.decimals)

    @property
    def address_text(self) -> str:
        return self.method.family.display(self.intent.address.address)

    @property
    def rate_text(self) -> str:
        """USD for one whole coin, as promised: cents, and millionths of a coin that costs less than ten dollars."""
        rate = self.intent.rate_e8
        return plain(rate // 10**2, 6) if rate < 10**9 else plain(rate // 10**6, 2)

    @property
    def markup_percent(self) -> str:
        return plain(int(self.intent.rate_evidence.get("markup_basis_points", 0)), 2)

    @property
    def samples(self) -> list[dict[str, str]]:
        """The prices that the promised rate was made from."""
        return list(self.intent.rate_evidence.get("samples", []))

    @property
    def sources(self) -> str:
        """Who said the price (PAY-2)."""
        return ", ".join(source_name(sample["source"]) for sample in self.samples)

    @property
    def rate_at(self) -> datetime | None:
        """When the newest of the prices was received (PAY-2)."""
        return max((datetime.fromisoformat(sample["received_at"]) for sample in self.samples), default=None)

    @property
    def rules(self) -> Rules:
        """The numbers of the rules that hold for this method."""
        return rules_of(self.method)

    @property
    def poll_seconds(self) -> int:
        """How often the open page looks: rarely once the promise is over, but late money must appear there as well."""
        return 10 if self.word.code in OVER else 2

    @property
    def covered(self) -> bool:
        """Whether what is on its way in time is enough."""
        return self.intent.funding in (PaymentIntent.Funding.COVERED, PaymentIntent.Funding.OVER)

    @property
    def lacks(self) -> bool:
        """Whether a transfer was seen in time, and more is to come."""
        on_time = self.intent.ended_at is None and not self.intent.late
        return on_time and not self.covered and self.word.code in ("seen", "confirming")

    @cached_property
    def credited_cents(self) -> int:
        """What all transfers to this address were credited with so far. One query."""
        live = Allocation.objects.filter(intent=self.intent, live=True)
        return int(live.aggregate(sum=Sum("usd_cents"))["sum"] or 0)

    @property
    def extra_cents(self) -> int:
        """What was credited beyond the promise."""
        return max(self.credited_cents - self.intent.usd_cents, 0)

    @property
    def sending(self) -> str:
        """A short mark of what the part "Send" says. An open page exchanges that part only when the mark differs, so
        that nothing moves under the hand that copies the amount."""
        facts = (self.word.code, self.may_send, self.received, self.covered, self.waits_for_clock, self.intent.ended_at)
        later = (len(self.transfers), self.intent.purpose.is_payable, self.intent.settlement, self.intent.pay_if_late)
        return mark(*facts, *later)

    @property
    def waits_for_clock(self) -> bool:
        """The promised time is over, but the network was not watched beyond it yet: the clock stands still."""
        return self.intent.ended_at is None and self.now >= self.intent.expires_at and not self.transfers

    @property
    def missing(self) -> int:
        """Base units still to send: the whole amount, or what is missing after a part has arrived."""
        return max(self.intent.amount - self.received, 0)

    @property
    def missing_text(self) -> str:
        """The amount to send now in plain form, for copying."""
        return plain(self.missing, self.asset.decimals)

    @property
    def payment_text(self) -> str:
        """What the QR code holds: what the network's wallets read safely."""
        return self.method.family.payment_uri(self.intent.address.address, self.asset, self.missing)

    @property
    def payment_link(self) -> str:
        """The same as a link that opens a wallet, where that is safe: a coin's own scheme, never a token's."""
        text = self.payment_text
        return text if self.asset.contract is None and text.startswith(f"{self.intent.network}:") else ""

    @cached_property
    def wallet_text(self) -> str:
        """The payment request that also names the token, for wallets known to read it; empty if there is none."""
        return self.method.family.wallet_uri(self.intent.address.address, self.asset, self.missing) or ""

    def qr(self) -> SafeString:
        return qr_of(self.payment_text)

    def wallet_qr(self) -> SafeString:
        return qr_of(self.wallet_text)


def source_name(source: str) -> str:
    """Write the name of a price's source."""
    return str(SOURCES.get(source, source.capitalize()))


def qr_of(text: str) -> SafeString:
    """Return the QR code of a text as SVG, in 2 ms instead of 7."""
    svg = segno.make(text, error="m", mask=MASK).svg_inline(border=2, omitsize=True, svgclass=None, lineclass=None)
    return mark_safe(svg)  # noqa: S308  made by segno from our own text


def choose_url(purpose: Purpose) -> str:
    """Return the page that offers the methods for an order or a top-up."""
    name = "payments:choose_topup" if isinstance(purpose, TopUp) else "payments:choose"
    return reverse(name, args=[purpose.number])


def panel_of(purpose: Purpose, pages: list[IntentPage]) -> dict[str, object]:
    """Return what the panel of an order or a top-up shows: what is left, its instructions, the ways on."""
    credited = any(page.intent.settlement in CREDITED for page in pages)

    def left() -> Remainder | None:
        return remainder(purpose) if purpose.is_payable else None

    return {
        "purpose": purpose,
        "pages": pages,
        "left": SimpleLazyObject(left),  # two queries, which a look that finds nothing new does without
        "choose_url": choose_url(purpose),
        "coming": any(page.word.code in COMING for page in pages),
        "has_receipt": credited or purpose.settled_at is not None or purpose.state == Order.State.RETURNED,
    }


def mark(*facts: object) -> str:
    return f"{zlib.crc32(repr(facts).encode()):x}"


def history_mark(history: list[IntentPage]) -> str:
    """Return a short mark of what the history says, as `sending` is one of the part above it."""
    return mark(*((str(p.intent.pk), str(p.word.label), p.listed_amount, p.may_declare) for p in history))


def page_of(intent: PaymentIntent) -> IntentPage:
    """Return the page of one intent."""
    return pages_of(intent.purpose, [intent])[0]


def pages_of(purpose: Purpose, intents: list[PaymentIntent] | None = None) -> list[IntentPage]:
    """Return the pages of the intents of an order or a top-up, newest first, in a query, and in one for the intents."""
    if intents is None:
        intents = list(purpose.intents.select_related("address").order_by("-created_at"))
    transfers: dict[object, list[ChainTransfer]] = {intent.pk: [] for intent in intents}
    for transfer in transfers_of([intent.pk for intent in intents]):
        transfers[transfer.intent_id].append(transfer)
    now = timezone.now()
    return [IntentPage(intent, method_by_code(intent.method), transfers[intent.pk], now) for intent in intents]


@kept_query
def transfers_of(intents: list[Any]) -> QuerySet[ChainTransfer]:
    return ChainTransfer.objects.filter(intent__pk__in=intents, dust=False).order_by("pk")
