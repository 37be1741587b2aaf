"""Read one JSON answer of a public source: one deadline, a limit of size, no redirect, numbers exactly as written."""

import json
import time
from decimal import Decimal
from typing import Any

import requests
import urllib3

from payments.networks.base import BadAnswer, Unavailable
from payments.networks.http import timed_session

SECONDS = 6.0  # for the whole answer: sources are asked every 20 seconds, at the same time
LARGEST = 4 << 20  # bytes: all of Bitstamp's or Kraken's pairs are a tenth of it
CHUNK = 1 << 16
HEADERS = {"Accept": "application/json", "User-Agent": "gridlot"}
REFUSALS = {403: "it refuses us", 418: "it limits how often we may ask", 429: "it limits how often we may ask"}


def read_json(source: str, url: str, seconds: float = SECONDS) -> Any:
    """Return the answer with every fraction as a Decimal. Unavailable for whatever may be better next time."""
    try:
        body = read(source, url, seconds)
    except requests.ConnectionError as error:
        raise Unavailable(f"{source} does not answer.") from error
    except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
        raise Unavailable(f"{source} did not answer within {seconds:g} seconds.") from error
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        raise Unavailable(f"{source} broke off its answer.") from error
    try:
        return json.loads(body, parse_float=Decimal, parse_constant=Decimal)
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise Unavailable(f"{source} answered with something that is no JSON ({len(body)} bytes).") from error


def read(source: str, url: str, seconds: float) -> bytes:
    """Return the body. A source that sends a byte now and then is stopped by the deadline as well."""
    deadline = time.monotonic() + seconds
    with (
        timed_session() as session,
        session.get(url, headers=HEADERS, timeout=seconds, stream=True, allow_redirects=False) as response,
    ):
        if response.status_code != 200:
            why = REFUSALS.get(response.status_code)
            raise Unavailable(f"{source} answered with HTTP status {response.status_code}{f': {why}' if why else ''}.")
        body = bytearray()
        while chunk := response.raw.read1(CHUNK, decode_content=True):
            body += chunk
            if time.monotonic() > deadline:
                raise Unavailable(f"{source} did not answer within {seconds:g} seconds.")
            if len(body) > LARGEST:
                raise BadAnswer(f"{source} sent more than {LARGEST >> 20} MiB.")
    return bytes(body)
