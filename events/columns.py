"""Columns of admin lists that people read: money in dollars, times with their zone."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, cast

from django.contrib import admin
from django.utils import timezone
from django.utils.dateformat import format as written
from django.utils.functional import Promise
from django.utils.translation import pgettext

from money.usd import localised, plain

Column = Callable[[Any], str]
Label = str | Promise


def dollars(field: str, label: Label) -> Column:
    """Return a column that writes a field of cents as dollars."""
    return column(field, label, localised, plain)


def moment(field: str, label: Label) -> Column:
    """Return a column that writes a time in the reader's zone and names the zone."""
    return column(field, label, zoned, lambda at: at)


def column(
    field: str, label: Label, write: Callable[[Any], str], for_files: Callable[[Any], object] | None = None
) -> Column:
    """Return a column that can be sorted by its field; a missing value is a dash, as Django writes it.

    `for_files` makes of the value what a file shows: no signs of a language in it, such as "1234.50".
    """

    def show(row: Any) -> str:
        value = getattr(row, field)
        return "-" if value is None else write(value)

    def in_file(row: Any) -> object:
        value = getattr(row, field)
        return None if value is None else (for_files or write)(value)

    show.__name__ = field  # the name of its class in the list
    show.in_file = in_file  # type: ignore[attr-defined]  # a mark on a function, as those of admin.display
    return admin.display(description=cast(Any, label), ordering=field)(show)


def zoned(at: datetime) -> str:
    local = timezone.localtime(at)
    return f"{written(local, pgettext('date format', 'j M Y, H:i'))} {local:%Z}"
