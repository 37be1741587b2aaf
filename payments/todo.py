"""What needs a person now, from all apps that payments can see. The number of queries does not grow with the rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Count, Min, QuerySet
from django.urls import reverse
from django.utils.functional import Promise as Words
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from catalog.models import Offer
from money.usd import localised
from orders.models import Order
from orders.queries import waiting_for_stock

from .models import Adjustment, HandSettlement, NetworkCursor, RateSourceHealth, ReservedAddress, ReviewItem
from .queries import watching
from .registry import families

SHOWN = 20


@dataclass(frozen=True, slots=True)
class Row:
    """One thing to do: what, where, since when."""

    text: str | Words
    url: str
    since: datetime | None = None
    detail: str | Words = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Things to do of one kind; `rows` may be only the oldest of `count`, and `url` leads to all."""

    title: str | Words
    count: int
    rows: list[Row]
    url: str


def sections(now: datetime) -> list[Section]:
    """Return what there is to do; a kind without anything is left out."""
    found = [
        reviews(),
        hands(),
        corrections(),
        help_needed(),
        stock_needed(),
        short_offers(),
        networks(now),
        sources(),
        reserves(),
    ]
    return [section for section in found if section.count]


def page(name: str, **query: str) -> str:
    """Return the address of a list in the admin."""
    address = reverse(f"admin:{name}_changelist")
    return f"{address}?{urlencode(query)}" if query else address


def reviews() -> Section:
    """Count open review items by reason, the longest waiting first."""
    rows = ReviewItem.objects.filter(decided_at=None).values("reason").order_by()
    found = rows.annotate(count=Count("pk"), oldest=Min("opened_at")).order_by("oldest")
    lines = [
        Row(
            ReviewItem.Reason(row["reason"]).label,
            page("payments_reviewitem", decided="no", reason=row["reason"]),
            row["oldest"],
            str(row["count"]),
        )
        for row in found
    ]
    total = sum(row["count"] for row in found)
    return Section(_("Review items"), total, lines, page("payments_reviewitem", decided="no"))


def hands() -> Section:
    found = HandSettlement.objects.filter(state=HandSettlement.State.PROPOSED).select_related("order", "proposed_by")
    lines = [
        Row(
            hand.order.number,
            reverse("admin:payments_handsettlement_change", args=[hand.pk]),
            hand.proposed_at,
            f"{localised(hand.usd_cents)}, {hand.proposed_by}",
        )
        for hand in found.order_by("proposed_at")
    ]
    url = page("payments_handsettlement", state__exact="proposed")
    return Section(_("Settlements by hand that wait for a second person"), len(lines), lines[:SHOWN], url)


def corrections() -> Section:
    found = Adjustment.objects.filter(state=Adjustment.State.PROPOSED).select_related("customer", "proposed_by")
    lines = [
        Row(
            str(row.customer),
            reverse("admin:payments_adjustment_change", args=[row.pk]),
            row.proposed_at,
            f"{row.get_direction_display()}, {localised(row.usd_cents)}, {row.proposed_by}",
        )
        for row in found.order_by("proposed_at")
    ]
    url = page("payments_adjustment", state__exact="proposed")
    return Section(_("Corrections of balances that wait for a second person"), len(lines), lines[:SHOWN], url)


def short_offers() -> Section:
    """Name the offers of which more lots are taken than exist (S16)."""
    numbers = _("%(short)d lots short: %(taken)d are taken, %(lots)d exist")
    lines = [
        Row(
            offer.name,
            reverse("admin:catalog_offer_change", args=[offer.pk]),
            detail=numbers % {"short": offer.short, "taken": offer.taken, "lots": offer.lots},
        )
        for offer in Offer.objects.filter(short__gt=0)
    ]
    return Section(_("Offers with fewer lots than are taken"), len(lines), lines[:SHOWN], page("catalog_offer"))


def help_needed() -> Section:
    found = Order.objects.filter(needs_help_at__isnull=False).order_by("needs_help_at")
    title = _("Orders whose payment the network took back: decide about the rental")
    return orders(title, found, page("orders_order", help="needed"), "needs_help_at")


def stock_needed() -> Section:
    title = _("Paid orders that wait for stock")
    return orders(title, waiting_for_stock().order_by("settled_at"), page("orders_order", waiting="yes"), "settled_at")


def orders(title: str | Words, found: QuerySet[Order], url: str, since: str) -> Section:
    rows = list(found)
    lines = [
        Row(order.number, reverse("admin:orders_order_change", args=[order.pk]), getattr(order, since), what(order))
        for order in rows[:SHOWN]
    ]
    return Section(title, len(rows), lines, url)


def what(order: Order) -> str:
    return f"{order.lots} × {order.offer_name}, {localised(order.total_cents)}"


def networks(now: datetime) -> Section:
    """Name the networks that are stopped, that were not read lately, or never."""
    cursors = NetworkCursor.objects.in_bulk()
    lines = []
    for code, family in families().items():
        cursor = cursors.get(code)
        if not watching(cursor, now):
            lines.append(Row(family.name, network_url(cursor), cursor.last_pass_at if cursor else None, why(cursor)))
    return Section(_("Networks that are not watched"), len(lines), lines, page("payments_networkcursor"))


def network_url(cursor: NetworkCursor | None) -> str:
    if cursor is None:
        return page("payments_networkcursor")
    return reverse("admin:payments_networkcursor_change", args=[cursor.pk])


def why(cursor: NetworkCursor | None) -> str | Words:
    if cursor is None or cursor.last_pass_at is None:
        return _("no complete pass yet")
    if cursor.state == NetworkCursor.State.STOPPED:
        return _("stopped: %(error)s") % {"error": cursor.error}
    return cursor.error or _("no complete pass lately")


def sources() -> Section:
    """Name the sources of prices whose last answer was none."""
    found = RateSourceHealth.objects.exclude(error="").order_by("pk")
    lines = [
        Row(row.source, reverse("admin:payments_ratesourcehealth_change", args=[row.pk]), row.error_at, row.error)
        for row in found
    ]
    return Section(_("Price sources with errors"), len(lines), lines, page("payments_ratesourcehealth"))


def reserves() -> Section:
    """Name the networks with few ready addresses of the key in use."""
    free = ReservedAddress.objects.filter(issued_at=None).values_list("network", "fingerprint", "genesis").order_by()
    ready = {tuple(key): count for *key, count in free.annotate(count=Count("pk"))}
    lines = list(low(NetworkCursor.objects.order_by("pk"), ready))
    return Section(_("Few receiving addresses are ready"), len(lines), lines, page("payments_networkcursor"))


def low(cursors: Iterable[NetworkCursor], ready: dict[tuple[str, ...], int]) -> Iterable[Row]:
    for cursor in cursors:
        family = families().get(cursor.network)
        count = ready.get((cursor.network, cursor.fingerprint, cursor.genesis), 0)
        if family and count < settings.RESERVE_LOW:
            left = _("%(count)d left; the worker makes more if its key is there") % {"count": count}
            yield Row(family.name, network_url(cursor), detail=left)
