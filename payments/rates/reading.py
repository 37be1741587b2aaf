"""Read one JSON answer of a public source: one deadline, a limit of size, no redirect, numbers exactly as written."""

import json
from decimal import Decimal
from typing import Any

from payments.networks.base import Unavailable
from payments.networks.http import Http

SECONDS = 6.0  # for the whole answer: sources are asked every 20 seconds, at the same time
LARGEST = 4 << 20  # bytes: all of Bitstamp's or Kraken's pairs are a tenth of it
HEADERS = {"Accept": "application/json", "User-Agent": "gridlot"}


def read_json(source: str, url: str, seconds: float = SECONDS) -> Any:
    """Return the answer with every fraction as a Decimal. Unavailable for whatever may be better next time."""
    body = Http(source, url, seconds, HEADERS, who=source, largest=LARGEST).read("GET")
    try:
        return json.loads(body, parse_float=Decimal, parse_constant=Decimal)
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise Unavailable(f"{source} answered with something that is no JSON ({len(body)} bytes).") from error
