"""The first addresses of each key, to compare with the wallet, and how many are ready to be given out."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_noop as _

from .. import seals
from ..actions import reserve
from ..derivation_paths import derivation_path
from ..findings import ATTENTION, BAD, GOOD, Finding
from ..models import Installation, NetworkCursor, ReservedAddress
from ..networks.base import Family
from ..registry import families, is_simulated

ADDRESSES = 5  # so many are shown for each key: enough to see that it is the wallet's
RESERVE, WALLET = _("Ready addresses"), _("Your wallet")


def of_addresses(network: str, family: Family, addresses: tuple[str, ...], facts: dict[str, Any]) -> Finding:
    """Show the first addresses, to be compared with the wallet, after comparing them with those that were stored."""
    rows = [
        [index, shown_path(network, address, index), family.display(address)] for index, address in enumerate(addresses)
    ]
    facts = facts | {"addresses": rows}
    if changed := changed_addresses(network, addresses):
        return Finding(
            WALLET,
            BAD,
            _("%(network)s: the address with the index %(index)d is not the one that the key makes."),
            _("Somebody changed the database or the key: customers could pay to a stranger."),
            _("Pause the site and find out by whom before anybody pays."),
            facts | {"index": changed[0]},
        )
    if is_simulated():
        text = _("%(network)s: the first addresses. They are made up: no wallet has them.")
        return Finding(WALLET, GOOD, text, facts=facts)
    return Finding(
        WALLET,
        GOOD,
        _("%(network)s: the first addresses that are made from %(key)s."),
        _("If your wallet shows others, it does not have the money that customers send."),
        _("Compare them with the receiving addresses of your wallet, letter by letter."),
        facts,
    )


def shown_path(network: str, address: str, index: int) -> str:
    return "" if is_simulated() else derivation_path(network, address, index)


def changed_addresses(network: str, addresses: tuple[str, ...]) -> list[int]:
    """Return the indexes whose stored address is another one, or whose seal is broken."""
    cursor, installation = NetworkCursor.objects.filter(pk=network).first(), Installation.objects.first()
    if cursor is None or installation is None:
        return []
    rows = ReservedAddress.objects.filter(network=network, fingerprint=cursor.fingerprint, index__lt=len(addresses))
    return [
        row.index
        for row in rows.order_by("index")
        if row.address != addresses[row.index] or not seals.holds(row, installation)
    ]


def reserves() -> Iterator[Finding]:
    for network, family in families().items():
        yield reserve_of(network, family)


def reserve_of(network: str, family: Family) -> Finding:
    """Say how many addresses are ready to be given to customers."""
    cursor = NetworkCursor.objects.filter(pk=network).first()
    left = reserve.ready(cursor).count() if cursor else 0
    facts = {"network": family.name, "count": left, "low": settings.RESERVE_LOW}
    if left >= settings.RESERVE_LOW:
        return Finding(RESERVE, GOOD, _("%(network)s: %(count)d addresses are ready."), facts=facts)
    return Finding(
        RESERVE,
        BAD if left < settings.RESERVE_EMPTY else ATTENTION,
        _("%(network)s: only %(count)d addresses are ready; there should be %(low)d at least."),
        _("With none left, customers get no payment instructions for this network."),
        _("A worker makes more every minute while it runs, has the key, and reaches the node."),
        facts,
    )
