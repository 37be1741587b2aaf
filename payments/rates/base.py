"""What a source of prices answers: for each symbol a price, or why there is none."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol

E8 = 10**8
HIGHEST = 10**9  # USD: no coin costs a billion dollars; more would not fit the column either
CROSSED = Decimal("0.005")  # a bid above the ask by less is a moment's overlap, by more a broken book
HOLLOW = Decimal("0.02")  # with bid and ask further apart nobody trades there, and their middle says nothing
NUMBER = re.compile(r"\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Quotation:
    """One price of a whole coin in 10⁻⁸ dollars, and the source's own time (ours where it names none)."""

    symbol: str
    price_e8: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Unpriced:
    """A symbol that the source should price and did not, with the reason in words for the operator."""

    symbol: str
    reason: str


class Source(Protocol):
    """A source of prices."""

    @property
    def name(self) -> str: ...

    def fetch(self) -> Sequence[Quotation | Unpriced]:
        """Return the newest prices, outside any transaction. May raise `Unavailable` and `BadAnswer`."""


class NoPrice(ValueError):
    """What a source wrote is no price; the message says why."""


def decimal_of(value: object) -> Decimal:
    """Return a price in USD exactly as written, a string or a JSON number; NoPrice for all that can't be one."""
    if isinstance(value, str) and NUMBER.fullmatch(value):
        value = Decimal(value)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise NoPrice(f"{value!s:.40} is no price")
    price = Decimal(value)
    if not (price.is_finite() and 0 < price <= HIGHEST):
        raise NoPrice(f"{value!s:.40} is no price above zero that can be meant")
    return price


def middle(bid: object, ask: object) -> Decimal:
    """Return the middle of bid and ask; NoPrice if they cross by 0.5 % or more, or lie more than 2 % apart."""
    low, high = decimal_of(bid), decimal_of(ask)
    if low - high >= CROSSED * high:
        raise NoPrice(f"the bid {low} is above the ask {high}")
    if high - low > HOLLOW * high:
        raise NoPrice(f"bid {low} and ask {high} are too far apart")
    return (low + high) / 2


def in_e8(price: Decimal) -> int:
    """Return a price in 10⁻⁸ dollars, the nearest one; NoPrice if that is zero."""
    rounded = int((price * E8).to_integral_value())
    if rounded <= 0:
        raise NoPrice(f"{price} is no price above zero that can be meant")
    return rounded
