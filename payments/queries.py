"""Reads of payments that are used in more than one place."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet

from money.units import plain
from money.usd import localised
from orders.errors import Refused
from orders.models import Order

from . import errors, quotes
from .models import ChainTransfer, LastRate, NetworkCursor, PaymentIntent, RateSample, ReservedAddress
from .registry import Method, methods

Status = ChainTransfer.Status
CHUNK = 5000  # addresses in one look-up
NEAR = timedelta(minutes=5)  # so far from a block's time a price still counts as the market's of that time


def price(symbol: str, now: datetime) -> quotes.Price | None:
    """Return the current price of an asset, or none if too few sources are live and agree."""
    guard = rate_guard(symbol)
    return quotes.median(samples(symbol, now - guard.max_age, now + guard.max_age), guard, now=now)


def price_near(symbol: str, moment: datetime, now: datetime) -> int | None:
    """Return the market price for late money: the price nearest to `moment` within 5 minutes, else today's price."""
    guard = rate_guard(symbol)
    known = samples(symbol, moment - NEAR - guard.max_age, moment + NEAR)
    found = quotes.price_at(known, guard, moment=moment, window=NEAR) or price(symbol, now)
    return found.price_e8 if found else None


def samples(symbol: str, since: datetime, until: datetime) -> list[quotes.Sample]:
    rows = RateSample.objects.filter(symbol=symbol, received_at__range=(since, until))
    return [quotes.Sample(*row) for row in rows.values_list("received_at", "source_at", "price_e8", "source")]


def rate_guard(symbol: str) -> quotes.Guard:
    """Return what a price of this asset must be. An asset without a sane range has no price."""
    lowest, highest = settings.RATE_SANE_RANGE.get(symbol, ("1", "0"))
    return quotes.Guard(
        max_age=timedelta(seconds=settings.RATE_MAX_AGE_SECONDS),
        quorum=settings.RATE_QUORUM,
        lowest_e8=quotes.e8(lowest),
        highest_e8=quotes.e8(highest),
        apart_basis_points=settings.RATE_APART_BASIS_POINTS,
    )


def may_quote(stable: bool, price: quotes.Price) -> bool:
    """Tell whether new promises may be made at a price: a stablecoin must be worth about a dollar."""
    lowest, highest = settings.STABLE_RANGE
    return not stable or quotes.e8(lowest) <= price.price_e8 <= quotes.e8(highest)


def last_good_at(symbol: str) -> datetime | None:
    """Return when promises could last be made in an asset."""
    row = LastRate.objects.filter(pk=symbol).first()
    return row.at if row else None


def issued_among(network: str, addresses: Iterable[str]) -> set[str]:
    """Return which of these addresses were ever given to a customer. Cost does not grow with their number in all."""
    wanted = list(set(addresses))
    found: set[str] = set()
    for start in range(0, len(wanted), CHUNK):
        rows = ReservedAddress.objects.filter(
            network=network, address__in=wanted[start : start + CHUNK], issued_at__isnull=False
        )
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


def offered_methods(order: Order, now: datetime) -> Iterator[Offered]:
    cursors = NetworkCursor.objects.in_bulk()
    for method in methods():
        found = market(method, order.total_cents, cursors.get(method.family.network), now)
        if isinstance(found, Refused):
            yield Offered(method, None, found)
        else:
            yield Offered(method, due(method, order.total_cents, promised_rate(method, found)), None)


def market(method: Method, usd_cents: int, cursor: NetworkCursor | None, now: datetime) -> quotes.Price | Refused:
    """Return the market price that a promise may be made from now, or why none can be made."""
    if usd_cents < method.asset.minimum_cents:
        return errors.TooSmall(method_name(method), localised(method.asset.minimum_cents))
    if not watching(cursor, now):
        return errors.NetworkUnwatched(method.family.name, cursor.last_pass_at if cursor else None)
    symbol = method.asset.symbol
    found = price(symbol, now)
    if found is None:
        return errors.NoRate(symbol, last_good_at(symbol))
    return found if may_quote(method.asset.stable, found) else errors.Depegged(symbol, dollars(found.price_e8))


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


def method_name(method: Method) -> str:
    return f"{method.asset.symbol} ({method.family.name})"


def open_work(network: str, now: datetime) -> QuerySet[ChainTransfer]:
    """Return the transfers of a network whose fate is open: not final, or final and not credited; and those dropped
    lately, since a node may have lied."""
    return ChainTransfer.objects.filter(network=network, credited=False).exclude(
        status=Status.DROPPED, first_seen_at__lt=now - timedelta(days=2)
    )


def due_intents(network: str, now: datetime) -> list[PaymentIntent]:
    """Return the intents of a network that may have to move, with their addresses: those past their time, those with
    money that waits for credit, and those that still speak of a transfer which was dropped.

    From the transfers to their intents, in two steps: joined into one, every intent there ever was is read each time.
    """
    work = ChainTransfer.objects.filter(network=network, credited=False, dust=False)
    transfers = list(work.values_list("intent", "status", "method"))
    intents = PaymentIntent.objects.select_related("address", "order")
    touched = {intent.pk: intent for intent in intents.filter(pk__in={pk for pk, _, _ in transfers})}
    moving = [touched[pk] for pk, status, method in transfers if may_move(touched[pk], status, method)]
    overdue = intents.filter(network=network, ended_at=None, expires_at__lt=now)
    return list({intent.pk: intent for intent in [*overdue, *moving]}.values())


def may_move(intent: PaymentIntent, status: str, method: str) -> bool:
    """Tell whether a transfer that is not credited may still move its intent."""
    if status != Status.DROPPED:
        return method == intent.method
    told = intent.order.payment == Order.Payment.SEEN
    return told or (intent.ended_at is None and intent.funding != PaymentIntent.Funding.NONE)
