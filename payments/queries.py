"""Reads of payments that are used in more than one place."""

import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from django.conf import settings
from django.db.models import Exists, F, Q, QuerySet
from django.http import Http404
from django.utils import timezone

from accounts.models import User
from balance.queries import available_cents
from catalog.models import Pause
from catalog.pausing import METHOD, all_paused, paused
from events.statements import kept_row
from money.units import plain
from money.usd import localised
from orders import numbers
from orders.errors import Refused
from orders.models import Order
from orders.queries import own_order

from . import errors, quotes
from .doctor import Stored
from .models import (
    Allocation,
    ChainTransfer,
    LastRate,
    NetworkCursor,
    PaymentIntent,
    Purpose,
    ReservedAddress,
    ReviewItem,
    TopUp,
)
from .networks.base import Held
from .prices import last_good_at, may_quote, price, price_near, prices
from .registry import Method, families, method_name, methods

Status = ChainTransfer.Status
WAITING = [state for state in PaymentIntent.Settlement.values if state != PaymentIntent.Settlement.REVIEW]
CHUNK = 5000  # addresses in one look-up


def ours_among(network: str, addresses: Iterable[str]) -> set[str]:
    """Return which of these addresses are ours, also those that nobody was given yet: after a restored back-up somebody
    may have been. Cost does not grow with their number in all."""
    wanted = list(set(addresses))
    found: set[str] = set()
    for start in range(0, len(wanted), CHUNK):
        rows = ReservedAddress.objects.filter(network=network, address__in=wanted[start : start + CHUNK])
        found.update(rows.values_list("address", flat=True))
    return found


def watching(cursor: NetworkCursor | None, now: datetime) -> bool:
    """Tell whether a network is watched well enough for new promises."""
    return bool(
        cursor
        and cursor.state == NetworkCursor.State.WATCHING
        and cursor.last_pass_at
        and now - cursor.last_pass_at <= timedelta(seconds=settings.NETWORK_STALE_SECONDS)
    )


@dataclass(frozen=True, slots=True)
class Offered:
    """A method on the choice page: with the amount it would ask for, or the reason why it can't be chosen now."""

    method: Method
    amount: int | None
    reason: Refused | None


def offered_methods(usd_cents: int, now: datetime) -> Iterator[Offered]:
    """Yield every method with the amount it would ask for so many cents, or the reason why it can't be chosen now."""
    cursors, last_good = NetworkCursor.objects.in_bulk(), dict(LastRate.objects.values_list("pk", "at"))
    current, pauses = prices({method.asset.symbol for method in methods()}, now), all_paused(METHOD)
    for method in methods():
        symbol, cursor = method.asset.symbol, cursors.get(method.family.network)
        found = refused_by(method, pauses.get(method.code)) or judge(
            method, usd_cents, cursor, current[symbol], last_good.get(symbol), now
        )
        if isinstance(found, Refused):
            yield Offered(method, None, found)
        else:
            yield Offered(method, due(method, usd_cents, promised_rate(method, found)), None)


def cursor_for(method: Method) -> tuple[NetworkCursor | None, Pause | None]:
    """Return how far the network of a method was read, and the method's pause if an operator has paused it."""
    subject = f"{METHOD}{method.code}"
    cursor = cursor_and_pause(method.family.network, subject)
    return cursor, paused(subject) if cursor is None or cast(Any, cursor).stops else None


@kept_row
def cursor_and_pause(network: str, subject: str) -> QuerySet[NetworkCursor]:
    """Read a cursor, and whether a subject is paused (`stops`), by one statement."""
    pauses = Pause.objects.filter(subject=subject, paused_at__isnull=False)
    return NetworkCursor.objects.filter(network=network).annotate(stops=Exists(pauses))


def market(
    method: Method, usd_cents: int, cursor: NetworkCursor | None, pause: Pause | None, now: datetime
) -> quotes.Price | Refused:
    """Return the market price that a promise may be made from now, or why none can be made."""
    if refusal := refused_by(method, pause):
        return refusal
    found = price(method.asset.symbol, now)
    return judge(method, usd_cents, cursor, found, None if found else last_good_at(method.asset.symbol), now)


def refused_by(method: Method, pause: Pause | None) -> Refused | None:
    """Return why a method can't be chosen while an operator has paused it."""
    return errors.MethodPaused(method_name(method), pause.sentence) if pause else None


def judge(
    method: Method,
    usd_cents: int,
    cursor: NetworkCursor | None,
    found: quotes.Price | None,
    last_good: datetime | None,
    now: datetime,
) -> quotes.Price | Refused:
    """Return the price if a promise may be made from it; `last_good`: when there was one, if there is none now."""
    if usd_cents < method.asset.minimum_cents:
        return errors.TooSmall(method_name(method), localised(method.asset.minimum_cents))
    if not watching(cursor, now):
        return errors.NetworkUnwatched(method.family.name, cursor.last_pass_at if cursor else None)
    symbol = method.asset.symbol
    if found is None:
        return errors.NoRate(symbol, last_good)
    if not may_quote(method.asset.stable, found):
        return errors.Depegged(symbol, dollars(found.price_e8))
    if due(method, usd_cents, promised_rate(method, found)) < method.asset.minimum_amount:
        least = f"{plain(method.asset.minimum_amount, method.asset.decimals)} {symbol}"
        return errors.TooSmall(method_name(method), least)
    return found


def dollars(price_e8: int) -> str:
    """Write the price of a stablecoin with three decimals, so that 0.979 is not shown as 0.98."""
    return f"${plain(price_e8 // 10**5, 3)}"


def promised_rate(method: Method, market: quotes.Price) -> int:
    """Return the rate that counts for the customer, the markup included, in USD times 10⁸ for a whole coin."""
    return quotes.with_markup(market.price_e8, settings.MARKUP_BASIS_POINTS[method.volatility])


def due(method: Method, usd_cents: int, rate_e8: int) -> int:
    """Return the amount to ask for, in base units."""
    return quotes.units_for(usd_cents, rate_e8, method.asset.decimals, method.asset.due_decimals)


def tolerance(method: Method) -> tuple[int, int]:
    """Return by how much a payment may be short: basis points of the due, and cents at most."""
    return settings.TOLERANCE_STABLE if method.asset.stable else settings.TOLERANCE_VOLATILE


def credited_cents(intents: Iterable[PaymentIntent], *, willing: bool = False) -> int:
    """Return the cents that live allocations of these intents credited; `willing`: only those that may pay their order
    by themselves, which money too late for its promise does only if the customer asked for it."""
    if isinstance(intents, Sequence) and not intents:  # asked first, a query set would be read to tell
        return 0
    rows = Allocation.objects.filter(intent__in=intents, live=True).select_related("intent")
    return sum(row.usd_cents for row in rows if not willing or row.intent.pay_if_late or not row.market_amount)


@dataclass(frozen=True, slots=True)
class Remainder:
    """What is left to pay of an order or a top-up, in cents: `credited` by its own instructions, `available` in the
    customer's balance. Of an order counts what the customer still has (BAL-3); a top-up spends nothing."""

    total: int
    credited: int
    available: int
    for_order: bool

    @property
    def counted(self) -> int:
        """What of the credit counts."""
        return min(self.credited, self.available) if self.for_order else self.credited

    @property
    def rest(self) -> int:
        """What is left; may be zero or less."""
        return self.total - self.counted

    @property
    def spent(self) -> int:
        """What was credited for the order and is not in the balance any more."""
        return self.credited - self.counted

    @property
    def covered(self) -> bool:
        """Whether the balance pays the order now."""
        return self.for_order and self.available >= self.total


def remainder(purpose: Purpose) -> Remainder:
    return Remainder(
        total=purpose.total_cents,
        credited=credited_cents(purpose.intents.all()),
        available=available_cents(purpose.customer),
        for_order=isinstance(purpose, Order),
    )


def pending_cents(customer: User) -> int:
    """Return about how much is on its way to a customer: seen and not credited yet, at the promised rates."""
    rows = ChainTransfer.objects.filter(intent__customer=customer, credited=False).known().that_count()
    rows = rows.exclude(verdict=ChainTransfer.Verdict.KEEP).select_related("intent")
    return sum(row.amount * row.intent.usd_cents // row.intent.amount for row in rows)


def rest_cents(order: Order, intents: Iterable[PaymentIntent] | None = None) -> int:
    """Return what is left to pay of an order; may be zero or less. The balance counts only where something was credited
    for it. `intents` are all that it has, where the caller has read them."""
    credited = credited_cents(order.intents.all() if intents is None else intents)
    return order.total_cents - min(credited, available_cents(order.customer)) if credited else order.total_cents


def own_topup(customer: User, number: str) -> TopUp:
    """Return the customer's top-up with this number, typed in any way; 404 for a wrong one and for anybody else's."""
    symbols = numbers.read(number, settings.TOPUP_NUMBER_PREFIX)
    topup = TopUp.objects.filter(customer=customer, symbols=symbols or "").first()
    if topup is None:
        raise Http404("no such top-up")
    topup.customer = customer  # no query for whom we know
    return topup


def own_purpose(customer: User, number: str) -> Purpose:
    """Return the customer's order or top-up with this number; 404 for a wrong one and for anybody else's."""
    try:
        return own_order(customer, number)
    except Http404:
        return own_topup(customer, number)


def can_be_valued(transfer: ChainTransfer) -> bool:
    """Tell whether a transfer is of an asset that we know the price of."""
    return any(known.code == transfer.method for known in methods())


def open_work(network: str, now: datetime) -> QuerySet[ChainTransfer]:
    """Return the transfers of a network whose fate is open: not final, or credited and not final any more; of those
    that are gone the lately seen ones, since a node may have lied."""
    rows = ChainTransfer.objects.filter(network=network).exclude(status=Status.FINAL)
    return rows.exclude(status__in=ChainTransfer.GONE, first_seen_at__lt=now - timedelta(days=2))


def wants_second(network: str) -> Iterator[ChainTransfer]:
    """Yield the final transfers that a second provider must confirm before they count, or may confirm so that no person
    must: those worth much, by the price of their promise or, without one, by today's."""
    rows = ChainTransfer.objects.filter(network=network, status=Status.FINAL, credited=False, dust=False)
    rows = rows.filter(explained=True).exclude(method="").exclude(seconded=True).exclude(verdict__gt="")
    prices: dict[str, int] = {}
    for row in rows.select_related("intent__address").prefetch_related("spent"):
        if worth_cents(row, prices) > settings.SECOND_PROVIDER_ABOVE_CENTS:
            yield row


def worth_cents(row: ChainTransfer, prices: dict[str, int]) -> int:
    """Return about how much a transfer is worth; unbelievably much if nothing tells."""
    if row.method == row.intent.method:
        return row.amount * row.intent.usd_cents // row.intent.amount
    asset = next(known.asset for known in methods() if known.code == row.method)
    if asset.symbol not in prices:
        now = timezone.now()
        prices[asset.symbol] = price_near(asset.symbol, now, now) or quotes.BELIEVED_CENTS
    return quotes.cents_for(row.amount, prices[asset.symbol], asset.decimals)


def held_addresses(network: str) -> list[Held]:
    """Return the addresses that the network must look at one by one in a pass: those of live promises and with open
    transfers first, then those that were not looked at for longest."""
    limit = families()[network].looks_per_pass
    if not limit:
        return []
    issued = ReservedAddress.objects.filter(network=network, issued_at__isnull=False)
    longest = F("looked_at").asc(nulls_first=True)
    urgent = Q(intent__ended_at=None) | Q(intent__declared_at__gt=timezone.now() - timedelta(days=1))
    rows = list(issued.filter(urgent).order_by(longest).values_list("address", "balance", "mark")[:limit])
    if len(rows) < limit:
        known = [address for address, _, _ in rows]
        others = issued.exclude(address__in=known).order_by(longest)
        rows += others.values_list("address", "balance", "mark")[: limit - len(rows)]
    return [Held(address, int(balance) if balance else None, mark) for address, balance, mark in rows]


def due_intents(network: str, now: datetime, news: Collection[uuid.UUID] | None) -> list[PaymentIntent]:
    """Return the intents of a network that may have to move, with addresses and customers: those past their time, those
    with money that waits for credit or whose credit is gone, and those that still speak of a transfer which was dropped
    or is not to be credited.

    Nothing moves an intent while its transfers wait to be final, unless it is told something new: of these only the
    ones in `news` are returned, or all of them if that is none. Else each pass would cost as much as all that waits.

    From the transfers to their intents, in two steps: joined into one, every intent there ever was is read each time.
    """
    work = ChainTransfer.objects.filter(network=network, credited=False, dust=False).exclude(method="")
    old = Q(status__in=ChainTransfer.GONE, first_seen_at__lt=now - timedelta(days=2))
    spoken_of = Q(intent__settlement=PaymentIntent.Settlement.REVIEW) | Q(intent__order__payment=Order.Payment.SEEN)
    decided = Q(verdict=ChainTransfer.Verdict.KEEP) & ~spoken_of
    if news is not None:
        work = work.exclude(status__in=(Status.SEEN, Status.INCLUDED), intent__settlement__in=WAITING)
    rows = list(work.exclude(old).exclude(decided).select_related("intent__order"))
    moving = {row.intent_id for row in rows if may_move(row)} | set(news or ())
    lost = ChainTransfer.objects.filter(network=network, credited=True).exclude(status=Status.FINAL)
    moving |= set(lost.values_list("intent", flat=True))
    overdue = PaymentIntent.objects.filter(network=network, ended_at=None, expires_at__lt=now)
    moving |= set(overdue.values_list("pk", flat=True))
    return list(PaymentIntent.objects.select_related("address", "customer").filter(pk__in=moving).order_by("pk"))


def may_move(row: ChainTransfer) -> bool:
    """Tell whether a transfer that is not credited may still move its intent."""
    if not row.is_gone:
        return True
    intent, order = row.intent, row.intent.order
    told = order is not None and order.payment == Order.Payment.SEEN
    return told or (intent.ended_at is None and intent.funding != PaymentIntent.Funding.NONE)


def stored_transfers(customer: User, network: str, **which: object) -> list[Stored]:
    """Return the customer's own transfers of one transaction (`txid=`) or one promise (`intent=`), with what they were
    credited with and whether a person looks at them. Other customers' are not read."""
    rows = ChainTransfer.objects.filter(network=network, intent__customer=customer, **which).select_related("intent")
    return stored(rows.order_by("pk"))


def stored(transfers: Iterable[ChainTransfer]) -> list[Stored]:
    """Return transfers with their intents as the doctor judges them, in two queries whatever their number."""
    found = list(transfers)
    cents = dict(Allocation.objects.filter(transfer__in=found, live=True).values_list("transfer", "usd_cents"))
    open_items = ReviewItem.objects.filter(transfer__in=found, decided_at=None)
    reviewed = set(open_items.exclude(reason=ReviewItem.Reason.CLAIM).values_list("transfer", flat=True))
    known = families()

    def needed(row: ChainTransfer) -> int:
        return known[row.network].finality(row.intent.usd_cents).confirmations

    return [Stored(row, needed(row), cents.get(row.pk), row.pk in reviewed) for row in found]
