"""The statement as a file that spreadsheets open."""

import csv
import io
from collections.abc import Iterable, Mapping

from events.spreadsheets import as_text, instant
from money.usd import plain

from .queries import Row

HEADER = ("time_utc", "entry", "words", "reference", "reason", "amount_usd", "balance_usd")


def statement_csv(rows: Iterable[Row], words: Mapping[int, str]) -> str:
    """Return the rows as CSV: UTC times of ISO 8601, amounts in plain dollars whatever the language.

    `words` says by a movement's id what it was: whoever made it knows.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEADER)
    for row in rows:
        entry = row.movement
        said = (entry.get_kind_display(), words[entry.pk], entry.reference, entry.reason)
        writer.writerow((instant(entry.at), *map(as_text, said), plain(row.amount_cents), plain(row.balance_cents)))
    return text.getvalue()
