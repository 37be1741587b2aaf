"""JSON-RPC over HTTP: one deadline for the whole answer, and every failure as one of two kinds.

A chain library's provider words the requests; its decoding, caching and retries are left out: they hide failures and
cost more than the rest of a pass.
"""

import time
from collections.abc import Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit

import orjson
import requests
import urllib3

from .base import BadAnswer, Unavailable

CHUNK = 1 << 18
LARGEST_ANSWER = 1 << 28  # 256 MiB: a block is far smaller, a broken node must not fill the memory
BATCH = 50  # requests in one batch; some providers refuse more than 100


class RpcError(Unavailable):
    """The node answered with a JSON-RPC error."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Refusal(Unavailable):
    """The node answered with another HTTP status than 200."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Provider(Protocol):
    """What is used of a chain library's provider, such as web3's HTTPProvider."""

    def encode_rpc_request(self, method: Any, params: Any) -> bytes: ...

    def get_request_headers(self) -> dict[str, str]: ...


class Rpc:
    """Calls one node. `calls` counts the methods called, for tests and measurements.

    Messages name host and port only: the rest of a URL often holds a key.
    """

    def __init__(self, name: str, url: str, provider: Provider, timeout: float = 10.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("The address of a node begins with http:// or https:// and names a host.")
        self.node = f"The {name} node at {parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
        self.timeout = timeout
        self.calls = 0
        self._url = url
        self._provider = provider
        self._session = requests.Session()

    def call(self, method: str, *params: Any) -> Any:
        """Return the result of one call. RpcError if the node says no."""
        self.calls += 1
        answer = self._post(self._provider.encode_rpc_request(method, params))
        return self._result(answer, method)

    def batch(self, requests: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
        """Return the results of several calls, in order. RpcError if the node says no to one of them."""
        results: list[Any] = []
        for start in range(0, len(requests), BATCH):
            results += self._batch(requests[start : start + BATCH])
        return results

    def _batch(self, requests: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
        if len(requests) == 1:
            return [self.call(requests[0][0], *requests[0][1])]
        self.calls += len(requests)
        encoded = [self._provider.encode_rpc_request(method, params) for method, params in requests]
        answers = self._post(b"[" + b",".join(encoded) + b"]")
        if isinstance(answers, dict):
            self._result(answers, requests[0][0])  # the whole batch refused: one error object
        if not isinstance(answers, list) or len(answers) != len(requests):
            raise BadAnswer(f"{self.node} did not answer every request of a batch.")
        by_id = {answer.get("id"): answer for answer in answers if isinstance(answer, dict)}
        ids = [orjson.loads(one)["id"] for one in encoded]
        return [self._result(by_id.get(id), method) for id, (method, _) in zip(ids, requests, strict=True)]

    def _result(self, answer: Any, method: str) -> Any:
        if not isinstance(answer, dict):
            raise BadAnswer(f"{self.node} gave no JSON-RPC answer to {method}.")
        error = answer.get("error")
        if error is not None:
            said, code = (error.get("message"), error.get("code")) if isinstance(error, dict) else (error, None)
            raise RpcError(f"{self.node} refused {method}: {said!s:.200}", code if isinstance(code, int) else 0)
        if "result" not in answer:
            raise BadAnswer(f"{self.node} gave neither a result nor an error to {method}.")
        return answer["result"]

    def _post(self, data: bytes) -> Any:
        try:
            body = self._read(data)
        except requests.ConnectionError as error:
            raise Unavailable(f"{self.node} does not answer.") from error
        except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
            raise Unavailable(f"{self.node} did not answer within {self.timeout:g} seconds.") from error
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            raise Unavailable(f"{self.node} broke off its answer.") from error
        try:
            return orjson.loads(body)
        except ValueError as error:
            raise Unavailable(f"{self.node} answered with broken JSON ({len(body)} bytes).") from error

    def _read(self, data: bytes) -> bytes:
        """Return the body. A node that sends a byte now and then is stopped by the deadline as well."""
        deadline = time.monotonic() + self.timeout
        with self._session.post(
            self._url,
            data=data,
            headers=self._provider.get_request_headers(),
            timeout=self.timeout,
            stream=True,
            allow_redirects=False,
        ) as response:
            if response.status_code != 200:
                raise Refusal(self._refusal(response.status_code), response.status_code)
            body = bytearray()
            while chunk := response.raw.read1(CHUNK, decode_content=True):
                body += chunk
                if time.monotonic() > deadline:
                    raise Unavailable(f"{self.node} did not answer within {self.timeout:g} seconds.")
                if len(body) > LARGEST_ANSWER:
                    raise BadAnswer(f"{self.node} sent more than {LARGEST_ANSWER >> 20} MiB.")
        return bytes(body)

    def _refusal(self, status: int) -> str:
        why = {401: "it wants other credentials", 403: "it refuses us", 429: "it limits how often we may ask"}
        return f"{self.node} answered with HTTP status {status}" + (f": {why[status]}." if status in why else ".")
