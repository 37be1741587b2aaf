"""Amounts of coins: integers of base units inside, plain strings outside (`^\\d+(\\.\\d+)?$`)."""

import re

PLAIN = re.compile(r"\d+(\.\d+)?", re.ASCII)


def plain(units: int, decimals: int) -> str:
    """Return base units as whole units in plain ASCII: no exponent, comma or grouping, no trailing zeros."""
    if units < 0:
        raise ValueError("an amount of coins is never negative")
    whole, part = divmod(units, 10**decimals)
    fraction = str(part).zfill(decimals).rstrip("0") if part else ""
    return f"{whole}.{fraction}" if fraction else str(whole)


def parse(text: str, decimals: int) -> int:
    """Return the base units of a plain string; ValueError for anything else, also for too many decimals."""
    if not PLAIN.fullmatch(text):
        raise ValueError(f"{text!r} is not a plain amount")
    whole, _, fraction = text.partition(".")
    if len(fraction) > decimals:
        raise ValueError(f"{text!r} has more than {decimals} decimals")
    scale: int = 10**decimals
    return int(whole) * scale + int(fraction.ljust(decimals, "0") or "0")


def round_up(units: int, decimals: int, shown: int) -> int:
    """Return the smallest amount of at least `units` that has at most `shown` decimals."""
    step: int = 10 ** max(decimals - shown, 0)
    return -(-units // step) * step
