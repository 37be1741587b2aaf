"""One HTTP address of a node: one deadline for the whole answer, and every failure of the way as Unavailable."""

import time
from collections.abc import Mapping
from urllib.parse import urlsplit

import requests
import urllib3

from .base import BadAnswer, Unavailable

CHUNK = 1 << 18
LARGEST_ANSWER = 1 << 28  # 256 MiB: a block is far smaller, a broken node must not fill the memory
REASONS = {401: "it wants other credentials", 403: "it refuses us", 429: "it limits how often we may ask"}


class Endpoint:
    """Fetches from one node. Messages name host and port only: the rest of a URL often holds a key."""

    def __init__(self, name: str, url: str, timeout: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("The address of a node begins with http:// or https:// and names a host.")
        self.node = f"The {name} node at {parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
        self.timeout = timeout
        self._url = url
        self._session = requests.Session()

    def fetch(
        self, data: bytes | None = None, headers: Mapping[str, str] | None = None, path: str = ""
    ) -> tuple[int, bytes]:
        """Return status and body of a POST of `data`, or of a GET where there is none."""
        try:
            return self._read("GET" if data is None else "POST", self._url + path, data, headers)
        except requests.ConnectionError as error:
            raise Unavailable(f"{self.node} does not answer.") from error
        except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
            raise Unavailable(f"{self.node} did not answer within {self.timeout:g} seconds.") from error
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            raise Unavailable(f"{self.node} broke off its answer.") from error

    def refusal(self, status: int) -> Unavailable:
        """Return the exception that says which status came instead of an answer."""
        return Unavailable(
            f"{self.node} answered with HTTP status {status}" + (f": {REASONS[status]}." if status in REASONS else ".")
        )

    def _read(self, method: str, url: str, data: bytes | None, headers: Mapping[str, str] | None) -> tuple[int, bytes]:
        """Return status and body. A node that sends a byte now and then is stopped by the deadline as well."""
        deadline = time.monotonic() + self.timeout
        with self._session.request(
            method, url, data=data, headers=headers, timeout=self.timeout, stream=True, allow_redirects=False
        ) as response:
            body = bytearray()
            while chunk := response.raw.read1(CHUNK, decode_content=True):
                body += chunk
                if time.monotonic() > deadline:
                    raise Unavailable(f"{self.node} did not answer within {self.timeout:g} seconds.")
                if len(body) > LARGEST_ANSWER:
                    raise BadAnswer(f"{self.node} sent more than {LARGEST_ANSWER >> 20} MiB.")
        return response.status_code, bytes(body)
