"""The sample catalog: facts of 46 cards and prices per lot, as data. Operators change them in the admin."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .models import TERMS

FILE = Path(__file__).parent / "data" / "offers.csv"
NUMBERS = (
    "memory_gb", "usable_mib", "bandwidth_gbps", "board_power_w", "devices_per_card", "cards_per_lot", "lots",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SampleOffer:
    """`facts` are columns of Offer; `cents` is the price of one lot by term."""

    slug: str
    facts: dict[str, Any]
    cents: dict[int, int]


def read() -> Iterator[SampleOffer]:
    """Yield the sample offers in the order of the list."""
    with FILE.open(newline="", encoding="utf-8") as file:
        for position, row in enumerate(csv.DictReader(file), start=1):
            cents = {term: int(row.pop(f"usd_{term}_days")) * 100 for term in TERMS}
            facts: dict[str, Any] = {**row, **{name: int(row[name]) if row[name] else None for name in NUMBERS}}
            yield SampleOffer(facts.pop("slug"), facts | {"position": position * 10}, cents)
