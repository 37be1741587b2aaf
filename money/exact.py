"""Exact sums of base units in SQL. On SQLite they are text, so each is summed in pieces that fit 64 bits."""

from typing import Any

from .fields import DIGITS

PIECE = 10  # digits: a sum of pieces overflows after some 900 million rows, with an error


def summed(column: str, vendor: str) -> list[str]:
    """Return SQL for the sum of a column of base units: one expression or, on SQLite, one for each piece."""
    if vendor == "postgresql":
        return [f"CAST(COALESCE(SUM({column}), 0) AS text)"]
    return [f"COALESCE(SUM(CAST(substr({column}, {start}, {end - start}) AS INTEGER)), 0)" for start, end in pieces()]


def pieces() -> list[tuple[int, int]]:
    """Return where each piece begins and ends, counted from one: the first is the shorter one."""
    ends = [*range(DIGITS % PIECE + 1, DIGITS + 2, PIECE)]
    return list(zip([1, *ends[:-1]], ends, strict=True))


def total(values: list[Any]) -> int:
    """Return the sum from what such expressions gave."""
    if len(values) == 1:
        return int(values[0])
    result: int = 0
    for value in values:
        result = result * 10**PIECE + int(value)
    return result
