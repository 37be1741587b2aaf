"""HTTP to a node: one deadline for the whole answer, and every failure as one of two kinds.

A deadline of `requests` begins anew with each byte that comes. So the body is read against the clock, and while the
head is read a timer stands by that cuts the connection.
"""

import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import orjson
import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from .base import BadAnswer, Unavailable

CHUNK = 1 << 18
LIMITED = "it limits how often we may ask"
WHY = {401: "it wants other credentials", 403: "it refuses us", 418: LIMITED, 429: LIMITED}
GRACE = 1.1  # a node that is silent is told from one that drips: the socket's own deadline comes first
LARGEST_ANSWER = 1 << 28  # 256 MiB: a block is far smaller, a broken node must not fill the memory


class _Timed:
    """Mixed into a connection: its answer's head must come within `timeout` seconds in all."""

    sock: Any
    timeout: Any

    def getresponse(self) -> Any:
        seconds = self.timeout * GRACE if isinstance(self.timeout, (int, float)) else None
        cut = threading.Timer(seconds, _cut, [self.sock]) if seconds else None
        if cut:
            cut.daemon = True
            cut.start()
        try:
            return super().getresponse()  # type: ignore[misc]
        finally:
            if cut:
                cut.cancel()


def _cut(connection: Any) -> None:
    """End a connection that another thread reads from. Below TLS, whose own shutdown would wait for that thread."""
    if connection is not None:
        with suppress(OSError):
            socket.socket.shutdown(connection, socket.SHUT_RDWR)


class _Plain(_Timed, HTTPConnection): ...


class _Secure(_Timed, HTTPSConnection): ...


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _Plain


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _Secure


class TimedAdapter(HTTPAdapter):
    """Makes connections that keep the deadline also while the head of an answer is read."""

    def init_poolmanager(self, *arguments: Any, **named: Any) -> None:
        super().init_poolmanager(*arguments, **named)
        self.poolmanager.pool_classes_by_scheme = {"http": _PlainPool, "https": _SecurePool}


def timed_session() -> requests.Session:
    """Return a session whose connections keep the deadline from the first byte on."""
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, TimedAdapter())
    return session


class HttpStatus(Unavailable):
    """The node answered with another status than 200. `body` is what it said with it."""

    def __init__(self, message: str, status: int, body: bytes) -> None:
        super().__init__(message)
        self.status = status
        self.body = body


class Http:
    """Talks to one node, or to another public source that `who` names. `node` names it in messages.

    Messages name host and port only: the rest of a URL often holds a key.
    """

    def __init__(
        self,
        name: str,
        url: str,
        timeout: float = 10.0,
        headers: Mapping[str, str] | None = None,
        *,
        who: str = "",
        largest: int = LARGEST_ANSWER,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("The address of a node begins with http:// or https:// and names a host.")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        self.node = who or f"The {name} node at {parts.hostname}:{port}"
        self.largest = largest
        self.timeout = timeout
        self.url = url
        self._session = timed_session()
        self._session.headers.update(headers or {})

    def get(self, path: str = "") -> Any:
        """Return the JSON found at `path` below the node's URL."""
        return self.decode(self.read("GET", path))

    def post(self, data: bytes, headers: Mapping[str, str] | None = None, path: str = "") -> Any:
        """Send `data` to `path` below the node's URL and return the JSON of the answer."""
        return self.decode(self.read("POST", path, data, headers))

    def decode(self, body: bytes) -> Any:
        try:
            return orjson.loads(body)
        except ValueError as error:
            raise Unavailable(f"{self.node} answered with broken JSON ({len(body)} bytes).") from error

    def read(
        self, method: str, path: str = "", data: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        """Return the body of the answer. HttpStatus if its status is not 200; redirects are not followed."""
        try:
            return self._read(method, path, data, headers)
        except requests.ConnectionError as error:
            raise Unavailable(f"{self.node} does not answer.") from error
        except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
            raise Unavailable(f"{self.node} did not answer within {self.timeout:g} seconds.") from error
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            raise Unavailable(f"{self.node} broke off its answer.") from error

    def _read(self, method: str, path: str, data: bytes | None, headers: Mapping[str, str] | None) -> bytes:
        deadline = time.monotonic() + self.timeout
        with self._session.request(
            method,
            self.url if not path else f"{self.url.rstrip('/')}/{path.lstrip('/')}",
            data=data,
            headers=headers,
            timeout=self.timeout,
            stream=True,
            allow_redirects=False,
        ) as response:
            body = self._body(response, deadline)
            if response.status_code != 200:
                raise HttpStatus(self._refusal(response.status_code), response.status_code, body)
            return body

    def _body(self, response: requests.Response, deadline: float) -> bytes:
        """Read to the end. A node that sends a byte now and then is stopped by the deadline as well."""
        body = bytearray()
        while chunk := response.raw.read1(CHUNK, decode_content=True):
            body += chunk
            if time.monotonic() > deadline:
                raise Unavailable(f"{self.node} did not answer within {self.timeout:g} seconds.")
            if len(body) > self.largest:
                raise BadAnswer(f"{self.node} sent more than {self.largest >> 20} MiB.")
        return bytes(body)

    def _refusal(self, status: int) -> str:
        return f"{self.node} answered with HTTP status {status}" + (f": {WHY[status]}." if status in WHY else ".")
