"""Used addresses with their derivation paths and what arrived: for the operator's own wallet."""

import csv
from collections.abc import Iterable, Iterator
from typing import Protocol

from django.db.models import QuerySet

from events.spreadsheets import as_text
from money.units import plain

from .derivation_paths import derivation_path
from .models import ChainTransfer, ReservedAddress
from .registry import methods

HEADER = ("index", "path", "address", "key", "given_utc", "given_for", "received", "credited_usd_cents")
CHUNK = 1000


class Written(Protocol):
    """What text can be written to."""

    def write(self, text: str, /) -> object:
        """Write a piece of text."""


def used_addresses(network: str) -> QuerySet[ReservedAddress]:
    """Return every address that was handed out or retired, by key and index."""
    rows = ReservedAddress.objects.filter(network=network, issued_at__isnull=False)
    return rows.select_related("intent__order", "intent__topup").order_by("fingerprint", "index")


def write_csv(network: str, file: Written) -> int:
    """Write the addresses as CSV and return the gap limit that a wallet needs to find what arrived on them."""
    writer = csv.writer(file)
    writer.writerow(HEADER)
    for row, received, cents in with_receipts(used_addresses(network).iterator(CHUNK)):
        writer.writerow(line(row, received, cents))
    return max(gaps(network), default=0)


def with_receipts(rows: Iterable[ReservedAddress]) -> Iterator[tuple[ReservedAddress, dict[str, int], int]]:
    """Yield each address with the base units it received of each asset and the cents they were credited with."""
    chunk: list[ReservedAddress] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == CHUNK:
            yield from receipts_of(chunk)
            chunk = []
    yield from receipts_of(chunk)


def receipts_of(rows: list[ReservedAddress]) -> Iterator[tuple[ReservedAddress, dict[str, int], int]]:
    received: dict[int, dict[str, int]] = {row.pk: {} for row in rows}
    cents: dict[int, int] = {row.pk: 0 for row in rows}
    transfers = ChainTransfer.objects.filter(intent__address__in=rows, status=ChainTransfer.Status.FINAL)
    for transfer in transfers.select_related("intent").prefetch_related("allocations"):
        key, asset = transfer.intent.address_id, transfer.method or transfer.contract
        received[key][asset] = received[key].get(asset, 0) + transfer.amount
        cents[key] += sum(allocation.usd_cents for allocation in transfer.allocations.all() if allocation.live)
    for row in rows:
        yield row, received[row.pk], cents[row.pk]


def line(row: ReservedAddress, received: dict[str, int], cents: int) -> tuple[object, ...]:
    """Return one line: nothing in it can begin like a formula."""
    intent = getattr(row, "intent", None)
    return (
        row.index,
        as_text(derivation_path(row.network, row.address, row.index)),
        as_text(row.address),
        as_text(row.fingerprint),
        f"{row.issued_at:%Y-%m-%dT%H:%M:%SZ}",
        as_text(intent.purpose.number if intent else "nobody"),
        as_text("; ".join(amount_text(asset, units) for asset, units in sorted(received.items()))),
        cents,
    )


def amount_text(code: str, units: int) -> str:
    """Return an amount with its symbol; of an unknown token base units and the contract."""
    asset = next((known.asset for known in methods() if known.code == code), None)
    return f"{plain(units, asset.decimals)} {asset.symbol}" if asset else f"{units} of {code}"


def gaps(network: str) -> Iterator[int]:
    """Yield how many unused addresses in a row, and the used one after them, a wallet must look at, for each key."""
    paid = ChainTransfer.objects.filter(network=network, status=ChainTransfer.Status.FINAL)
    places = paid.values_list("intent__address__fingerprint", "intent__address__index").distinct()
    key, last = "", -1
    for fingerprint, index in places.order_by("intent__address__fingerprint", "intent__address__index").iterator():
        last = -1 if fingerprint != key else last
        yield index - last
        key, last = fingerprint, index
