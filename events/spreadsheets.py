"""Files that spreadsheets open: cells that are shown and never computed, and rows that are written as they come."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from django.http import StreamingHttpResponse

# What makes a spreadsheet compute a cell instead of showing it; some also take the wide forms of eastern alphabets.
FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
CONTROL = ("\t", "\r", "\n")
NUMBER = re.compile(r"-?\d+(\.\d+)?", re.ASCII)


def as_text(cell: str) -> str:
    """Return a cell that a spreadsheet shows as it is: people write reasons, so one may begin like a formula."""
    return f"'{cell}" if cell.startswith(CONTROL) or cell.lstrip().startswith(FORMULA) else cell


def instant(at: datetime) -> str:
    """Return a time as ISO 8601 in UTC, to the second."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def cell(value: object) -> str:
    """Return any value as the text of a cell: times in UTC, nothing for none, numbers as they are."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return instant(value)
    text = str(value)
    return text if NUMBER.fullmatch(text) else as_text(text)


class Echo:
    """What `csv` writes to: it hands each line back."""

    def write(self, text: str) -> str:
        return text


def lines(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield each row as one line of CSV."""
    writer = csv.writer(Echo())
    for row in rows:
        yield writer.writerow([cell(value) for value in row])


def csv_file(name: str, rows: Iterable[Sequence[object]]) -> StreamingHttpResponse:
    """Answer with rows as a file, written while they are read: it costs no memory, however many there are."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(lines(rows), content_type="text/csv; charset=utf-8", headers=headers)
