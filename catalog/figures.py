"""The three figures of a choice, shown before anything is saved: lots, cards, total. Values in, value out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figures:
    """What a number of lots for a term comes to. Cents are US cents; the price is of one lot for the whole term."""

    term_days: int
    lots: int
    cards_per_lot: int
    unit_price_cents: int

    @property
    def cards(self) -> int:
        return self.lots * self.cards_per_lot

    @property
    def total_cents(self) -> int:
        """Price times lots (CAT-4): cards per lot never enter, as the price is of the whole lot."""
        return self.unit_price_cents * self.lots
