"""Reports as files: plain numbers and UTC, whatever the language."""

from collections.abc import Iterator
from typing import Any, cast

from balance.models import Movement
from balance.reports import Books
from money.units import plain
from money.usd import plain as usd

from ..models import Allocation
from ..registry import Method
from ..shown import known_methods
from .period import Period
from .received import Received, transfers, why

Row = list[object]
SUMMARY = (
    "section", "line", "count", "units", "units_promised", "units_market", "rate_lowest_usd", "rate_highest_usd",
    "rate_average_usd", "in_usd", "out_usd", "balance_usd",
)  # fmt: skip
DETAIL = (
    "credited_utc", "seen_utc", "block_utc", "network", "method", "txid", "position", "units", "base_units",
    "units_promised", "rate_promised_usd", "units_market", "rate_market_usd", "usd", "for", "reversed_since", "why",
)  # fmt: skip


def rate(price_e8: int | None) -> str:
    """Write the price of a whole coin with every digit that it has."""
    return "" if price_e8 is None else plain(price_e8, 8)


def summary(period: Period, received: list[Received], books: Books) -> Iterator[Row]:
    """Yield the report of a period: what came in, each kind of movement, and the line that must add up."""
    yield list(SUMMARY)
    yield ["period", f"{period.first} to {period.last} {period.zone.key}"]
    yield ["balances owed", "opening", *blank(9), usd(books.opening)]
    for line in received:
        yield received_row(line)
    for flow in books.flows:
        count = flow.into_count + flow.out_count
        yield ["ledger", flow.kind.value, count, *blank(6), usd(flow.into), usd(flow.out), ""]
    yield ["ledger", "sum", *blank(7), usd(books.into), usd(books.out), ""]
    yield ["balances owed", "closing", *blank(9), usd(books.closing)]
    yield ["check", "opening + in - out - closing", *blank(9), usd(books.difference)]


def received_row(line: Received) -> Row:
    written = [plain(units, line.decimals) for units in (line.units, line.promised_units, line.market_units)]
    rates = [rate(one) for one in (line.lowest_e8, line.highest_e8, line.average_e8)]
    return ["received", line.code, line.count, *written, *rates, usd(line.cents), "", ""]


def blank(cells: int) -> list[str]:
    return [""] * cells


def detail(period: Period) -> Iterator[Row]:
    """Yield every transfer that became credit in a period, with its rate and why it got that one."""
    yield list(DETAIL)
    known = known_methods()
    for row in transfers(period.start, period.end):
        yield detail_row(row, known.get(row.transfer.method))


def detail_row(row: Allocation, method: Method | None) -> Row:
    transfer, movement = row.transfer, cast(Movement, row.movement)  # it was found by its movement

    def units(amount: int) -> Any:
        return plain(amount, method.asset.decimals) if method else ""

    return [
        movement.at,
        transfer.first_seen_at,
        transfer.block_time,
        transfer.network,
        transfer.method,
        transfer.txid,
        transfer.position,
        units(transfer.amount),
        transfer.amount,
        units(row.locked_amount),
        rate(row.intent.rate_e8) if row.locked_amount else "",
        units(row.market_amount),
        rate(row.market_rate_e8) if row.market_amount else "",
        usd(row.usd_cents),
        row.intent.purpose.number,
        "" if row.live else "yes",
        why(row),
    ]
