"""What of money, orders and networks needs a person now. The number of queries does not grow with the rows."""

from collections.abc import Iterable
from datetime import datetime

from django.conf import settings
from django.db.models import Count, Min, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from events.todo import Row, Section, Words, first, page
from money.usd import localised
from orders.models import Order
from orders.queries import waiting_for_stock

from .models import Adjustment, HandSettlement, NetworkCursor, ReservedAddress, ReviewItem
from .queries import watching
from .registry import families, methods
from .review_facts import links_of


def reviews(now: datetime) -> Section:
    """Return the open review items, the longest waiting first; counted by reason where they are too many to list."""
    rows = ReviewItem.objects.filter(decided_at=None).select_related(
        "transfer__intent__order", "transfer__intent__topup"
    )
    found, count = first(rows.order_by("opened_at", "id"))
    if count > len(found):
        return reviews_by_reason()
    lines = [
        Row(
            item.get_reason_display(),
            reverse("admin:payments_reviewitem_change", args=[item.pk]),
            item.opened_at,
            " · ".join(str(link.text) for link in links_of(item)),
        )
        for item in found
    ]
    return Section(_("Review items"), count, lines, page("payments_reviewitem", decided="no"))


def reviews_by_reason() -> Section:
    rows = ReviewItem.objects.filter(decided_at=None).values("reason").order_by()
    found = rows.annotate(count=Count("pk"), oldest=Min("opened_at")).order_by("oldest")
    lines = [
        Row(
            ReviewItem.Reason(row["reason"]).label,
            page("payments_reviewitem", decided="no", reason=row["reason"]),
            row["oldest"],
            ngettext("%(count)d item", "%(count)d items", row["count"]) % {"count": row["count"]},
        )
        for row in found
    ]
    total = sum(row["count"] for row in found)
    return Section(_("Review items"), total, lines, page("payments_reviewitem", decided="no"))


def hands(now: datetime) -> Section:
    found = HandSettlement.objects.filter(state=HandSettlement.State.PROPOSED).select_related("order", "proposed_by")
    rows, count = first(found.order_by("proposed_at"))
    lines = [
        Row(
            hand.order.number,
            reverse("admin:payments_handsettlement_change", args=[hand.pk]),
            hand.proposed_at,
            proposed(localised(hand.usd_cents), hand),
        )
        for hand in rows
    ]
    url = page("payments_handsettlement", state__exact="proposed")
    return Section(_("Settlements by hand that wait for a second person"), count, lines, url)


def corrections(now: datetime) -> Section:
    found = Adjustment.objects.filter(state=Adjustment.State.PROPOSED).select_related("customer", "proposed_by")
    rows, count = first(found.order_by("proposed_at"))
    lines = [
        Row(
            str(row.customer),
            reverse("admin:payments_adjustment_change", args=[row.pk]),
            row.proposed_at,
            proposed(f"{row.get_direction_display()}, {localised(row.usd_cents)}", row),
        )
        for row in rows
    ]
    url = page("payments_adjustment", state__exact="proposed")
    return Section(_("Corrections of balances that wait for a second person"), count, lines, url)


def proposed(what: str, row: HandSettlement | Adjustment) -> str:
    return _("%(what)s, proposed by %(who)s") % {"what": what, "who": row.proposed_by}


def help_needed(now: datetime) -> Section:
    found = Order.objects.filter(needs_help_at__isnull=False).order_by("needs_help_at")
    title = _("Orders whose payment the network took back: decide about the rental")
    return orders(title, found, page("orders_order", help="needed"), "needs_help_at", bad=True)


def stock_needed(now: datetime) -> Section:
    title = _("Paid orders that wait for stock")
    return orders(title, waiting_for_stock().order_by("settled_at"), page("orders_order", waiting="yes"), "settled_at")


def orders(title: Words, found: QuerySet[Order], url: str, since: str, *, bad: bool = False) -> Section:
    rows, count = first(found)
    lines = [
        Row(order.number, reverse("admin:orders_order_change", args=[order.pk]), getattr(order, since), what(order))
        for order in rows
    ]
    return Section(title, count, lines, url, bad=bad)


def what(order: Order) -> str:
    return f"{order.lots} × {order.offer_name}, {localised(order.total_cents)}"


def networks(now: datetime) -> Section:
    """Name the networks that are stopped, that were not read lately, or never."""
    cursors = NetworkCursor.objects.in_bulk()
    lines = [unwatched(code, cursors.get(code)) for code in families() if not watching(cursors.get(code), now)]
    return Section(_("Networks that are not watched"), len(lines), lines, page("payments_networkcursor"), bad=True)


def unwatched(network: str, cursor: NetworkCursor | None) -> Row:
    """Return the row of a network that is not watched: which methods rest, why, how far it was read. Of a stopped one
    operators are told by an event of its own."""
    family = families()[network]
    resting = ", ".join(one.asset.symbol for one in methods() if one.family.network == network)
    stopped = cursor is not None and cursor.state == NetworkCursor.State.STOPPED
    detail = _("%(why)s; no instructions are made for %(methods)s") % {"why": why(cursor), "methods": resting}
    return Row(
        family.name,
        network_url(cursor),
        cursor.last_pass_at if cursor else None,
        f"{detail}{progress(cursor)}",
        alarm="" if stopped else f"network:{network}",
    )


def network_url(cursor: NetworkCursor | None) -> str:
    if cursor is None:
        return page("payments_networkcursor")
    return reverse("admin:payments_networkcursor_change", args=[cursor.pk])


def why(cursor: NetworkCursor | None) -> Words:
    if cursor is None or cursor.last_pass_at is None:
        return (cursor.error if cursor else "") or _("no complete pass yet")
    if cursor.state == NetworkCursor.State.STOPPED:
        return _("stopped: %(error)s") % {"error": cursor.error}
    return cursor.error or _("no complete pass lately")


def progress(cursor: NetworkCursor | None) -> str:
    """Write how far a network was read, where that is known."""
    if cursor is None or cursor.height is None or cursor.head is None:
        return ""
    facts = {"height": cursor.height, "head": cursor.head, "behind": max(cursor.head - cursor.height, 0)}
    return ". " + str(_("Read up to height %(height)d of %(head)d, %(behind)d behind.") % facts)


def reserves(now: datetime) -> Section:
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
            yield Row(family.name, network_url(cursor), detail=left, alarm=f"reserve:{cursor.network}")
