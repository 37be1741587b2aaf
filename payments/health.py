"""How prices, networks and books are: what needs a person, and the calm facts where nothing does."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Max, Min
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.timesince import timesince
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from catalog.pausing import all_paused
from events.columns import zoned
from events.todo import Fact, Row, Section, Words, page
from orders.errors import Refused

from . import errors
from .models import LastRate, NetworkCursor, RateSourceHealth, Reconciliation
from .pausable import pausables
from .queries import offered_methods, watching
from .registry import Method, families, method_name, methods

PROBE_CENTS = 1_000_000  # a sum that no method is too small for
CHECKS_MISSED = 3  # so many checks of the books may be left out before a person should look


def sources(now: datetime) -> Section:
    """Name the sources of prices whose last answer was none."""
    found = RateSourceHealth.objects.exclude(error="").order_by("pk")
    lines = [
        Row(row.source, reverse("admin:payments_ratesourcehealth_change", args=[row.pk]), row.error_at, row.error)
        for row in found
    ]
    return Section(_("Price sources with errors"), len(lines), lines, page("payments_ratesourcehealth"))


def prices(now: datetime) -> Section:
    """Name the assets that no promise can be made in, with the methods that rest, since when and why. A network that is
    not watched is named as such, and what an operator paused is no trouble."""
    last_good = dict(LastRate.objects.values_list("pk", "at"))
    resting: dict[str, tuple[Refused, list[Method]]] = {}
    for offered in offered_methods(PROBE_CENTS, now):
        if offered.reason and not isinstance(offered.reason, errors.NetworkUnwatched | errors.MethodPaused):
            resting.setdefault(offered.method.asset.symbol, (offered.reason, []))[1].append(offered.method)
    lines = [
        Row(
            symbol,
            page("payments_ratesourcehealth"),
            last_good.get(symbol),
            f"{', '.join(method_name(method) for method in which)}: {no_quote(reason, symbol, last_good)}",
            alarm=f"price:{symbol}",
        )
        for symbol, (reason, which) in resting.items()
    ]
    title = _("Assets without payment instructions")
    return Section(title, len(lines), lines, page("payments_ratesourcehealth"), bad=True)


def no_quote(reason: Refused, symbol: str, last_good: dict[str, datetime]) -> str:
    """Write for an operator why no promise is made in an asset."""
    if isinstance(reason, errors.Depegged):
        lowest, highest = settings.STABLE_RANGE
        return str(_("its price is outside $%(lowest)s to $%(highest)s") % {"lowest": lowest, "highest": highest})
    if not isinstance(reason, errors.NoRate):
        return str(reason)
    asked = {"quorum": settings.RATE_QUORUM, "age": settings.RATE_MAX_AGE_SECONDS}
    text = ngettext(
        "no source has a price younger than %(age)d s",
        "no %(quorum)d sources agree on a price younger than %(age)d s",
        settings.RATE_QUORUM,
    )
    return text % asked if symbol in last_good else str(_("no price was known yet"))


def books(now: datetime) -> Section:
    """Name the checks of chain and books that differ, could not ask their node, or are overdue."""
    last = last_checks(now)
    lines = [row for row in (check_row(check, now) for check in last) if row]
    bad = any(row.bad for row in lines)
    return Section(_("Chain and books"), len(lines), lines, page("payments_reconciliation"), bad=bad)


def last_checks(now: datetime) -> list[Reconciliation]:
    """Return the last check of each network and of the ledger as a whole; of what was never checked there is none.

    Lately first, in one query; only for what is overdue the whole history is asked.
    """
    names = [*families(), ""]
    since = now - overdue_after()
    found = {row.network: row for row in Reconciliation.objects.filter(network__in=names, at__gte=since).order_by("at")}
    absent = [name for name in names if name not in found]
    if absent:
        ids = (
            Reconciliation.objects.filter(network__in=absent).values("network").annotate(last=Max("pk")).values("last")
        )
        found |= {row.network: row for row in Reconciliation.objects.filter(pk__in=ids)}
    return [found[name] for name in names if name in found]


def overdue_after() -> timedelta:
    return timedelta(seconds=CHECKS_MISSED * settings.RECONCILE_SECONDS)


def check_row(check: Reconciliation, now: datetime) -> Row | None:
    """Return what an operator must know of a check; none if all is well."""
    key = f"books:{check.network or 'ledger'}"
    url = reverse("admin:payments_reconciliation_change", args=[check.pk])
    if not check.agrees:
        return Row(name_of(check), url, check.at, _("they differ: run verifyledger, it names the rows"), True, key)
    if now - check.at > overdue_after():
        return Row(name_of(check), url, check.at, _("not compared since then"), alarm=key)
    return Row(name_of(check), url, check.at, check.error) if check.error else None


def name_of(check: Reconciliation) -> Words:
    family = families().get(check.network)
    return family.name if family else _("Ledger")


def facts(now: datetime) -> Iterator[Fact]:
    """Yield a line for each thing that is well: networks that are watched, prices, books; and what is paused."""
    cursors = NetworkCursor.objects.in_bulk()
    for code, family in families().items():
        cursor = cursors.get(code)
        if cursor and cursor.last_pass_at and watching(cursor, now):
            read = {
                "network": family.name,
                "height": number_format(cursor.height or 0, force_grouping=True),
                "behind": behind((cursor.head or 0) - (cursor.height or 0)),
                "age": ago(cursor.last_pass_at, now),
            }
            yield Fact(
                _("%(network)s at height %(height)s%(behind)s, read %(age)s") % read,
                page("payments_networkcursor"),
            )
    oldest = oldest_price()
    if oldest:
        yield Fact(_("Oldest price in use: %(age)s") % {"age": ago(oldest, now)}, page("payments_ratesourcehealth"))
    yield Fact(balanced(last_checks(now)), page("payments_reconciliation"))
    if all_paused(""):
        names = ", ".join(str(one.name) for one in pausables() if one.pause)
        yield Fact(_("Paused by operators: %(names)s") % {"names": names}, page("catalog_pause"))


def behind(blocks: int) -> str:
    """Write by how many blocks the reading is behind the network's head; nothing if it is not."""
    return (
        ngettext(", %(count)d block behind", ", %(count)d blocks behind", blocks) % {"count": blocks}
        if blocks > 0
        else ""
    )


def oldest_price() -> datetime | None:
    """Return when the asset whose price is oldest had a good one; none: no asset ever had one."""
    symbols = {method.asset.symbol for method in methods()}
    oldest: datetime | None = LastRate.objects.filter(pk__in=symbols).aggregate(oldest=Min("at"))["oldest"]
    return oldest


def balanced(checks: list[Reconciliation]) -> str:
    """Write when chain and books last agreed, or that they were never compared."""
    if not checks:
        return str(_("Chain and books were not compared yet"))
    if not all(check.agrees for check in checks):
        return str(_("Chain and books differ"))
    return str(_("Books balanced at %(time)s") % {"time": zoned(min(check.at for check in checks))})


def ago(at: datetime, now: datetime) -> str:
    """Write an age: in seconds while it is short."""
    seconds = max(round((now - at).total_seconds()), 0)
    if seconds >= 120:
        return str(_("%(time)s ago") % {"time": timesince(at, now, depth=1)})
    return str(_("%(seconds)d s ago") % {"seconds": seconds})
