"""What a customer chose: it travels in the address of the page, so that signing in or going back loses nothing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.utils.translation import gettext

from catalog.models import MAX_LOTS, MIN_LOTS, TERMS

NUMBER = re.compile(r"[0-9]{1,3}")  # a longer one is no term and no number of lots
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # PostgreSQL refuses NUL, and nobody means the others


@dataclass(frozen=True, slots=True)
class Choice:
    """An offer, a term in days, a number of lots and an environment (code and name, or a wish in own words)."""

    offer_slug: str
    term_days: int
    lots: int
    environment_code: str = ""
    environment_name: str = ""
    environment_wish: str = ""

    @property
    def environment_label(self) -> str:
        """The environment in the reader's language."""
        return gettext(self.environment_name) if self.environment_name else ""

    def query(self) -> str:
        """Return the query string that leads back to this choice."""
        return urlencode(
            {
                "offer": self.offer_slug,
                "term": self.term_days,
                "lots": self.lots,
                "environment": self.environment_code,
                "environment_other": self.environment_wish,
            }
        )


@dataclass(frozen=True, slots=True)
class Contact:
    """The customer's data as confirmed at the check step."""

    first_name: str
    last_name: str
    email: str


def read(data: Mapping[str, str]) -> Choice | None:
    """Return the choice in a query or form; none if offer, term or lots are missing or not on offer."""
    term, lots = data.get("term", ""), data.get("lots", "")
    if not (data.get("offer") and NUMBER.fullmatch(term) and NUMBER.fullmatch(lots)):
        return None
    if int(term) not in TERMS or not MIN_LOTS <= int(lots) <= MAX_LOTS:
        return None
    return Choice(
        offer_slug=printable(data["offer"]),
        term_days=int(term),
        lots=int(lots),
        environment_code=printable(data.get("environment", ""))[:50],
        environment_wish=printable(data.get("environment_other", "")).strip()[:500],
    )


def printable(text: str) -> str:
    """Return a text without the characters that no person types."""
    return UNPRINTABLE.sub("", text)
