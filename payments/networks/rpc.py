"""JSON-RPC over HTTP.

A chain library's provider words the requests; its decoding, caching and retries are left out: they hide failures and
cost more than the rest of a pass.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import orjson

from .base import BadAnswer, Unavailable
from .http import Http

BATCH = 50  # requests in one batch; some providers refuse more than 100


class RpcError(Unavailable):
    """The node answered with a JSON-RPC error."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Provider(Protocol):
    """What is used of a chain library's provider, such as web3's HTTPProvider."""

    def encode_rpc_request(self, method: Any, params: Any) -> bytes: ...

    def get_request_headers(self) -> dict[str, str]: ...


class Rpc:
    """Calls one node. `calls` counts the methods called, for tests and measurements."""

    def __init__(self, name: str, url: str, provider: Provider, timeout: float = 10.0) -> None:
        self.http = Http(name, url, timeout)
        self.node = self.http.node
        self.calls = 0
        self._provider = provider

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
        return self.http.post(data, self._provider.get_request_headers())
