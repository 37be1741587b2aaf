"""Give a new row a public number that nobody has."""

from typing import Any

from django.db import IntegrityError, transaction

from . import numbers


def insert_with_fresh_number(row: Any) -> None:
    """Insert an order, or another row with `symbols`. 35 random bits clash about never, but then others are drawn."""
    same = type(row)._base_manager
    for _attempt in range(5):
        row.symbols = numbers.draw()
        if same.filter(symbols=row.symbols).exists():
            continue
        try:
            with transaction.atomic():
                row.save(force_insert=True)
            return
        except IntegrityError:
            if not same.filter(symbols=row.symbols).exists():
                raise
    raise RuntimeError("no free number was found")
