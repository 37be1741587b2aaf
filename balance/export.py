"""The statement as a file that spreadsheets open."""

import csv
import io
from collections.abc import Iterable

from money.usd import plain

from .queries import Row

HEADER = ("time_utc", "entry", "reference", "reason", "amount_usd", "balance_usd")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what makes a spreadsheet compute a cell instead of showing it


def as_text(cell: str) -> str:
    """Return a cell that a spreadsheet shows as it is: people write reasons, so one may begin like a formula."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def statement_csv(rows: Iterable[Row]) -> str:
    """Return the rows as CSV: UTC times of ISO 8601, amounts in plain dollars whatever the language."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEADER)
    for row in rows:
        entry = row.movement
        words = (entry.get_kind_display(), entry.reference, entry.reason)
        writer.writerow(
            (f"{entry.at:%Y-%m-%dT%H:%M:%SZ}", *map(as_text, words), plain(row.amount_cents), plain(row.balance_cents))
        )
    return text.getvalue()
