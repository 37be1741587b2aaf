"""JSON-RPC over HTTP.

A chain library's provider words the requests; its decoding, caching and retries are left out: they hide failures and
cost more than the rest of a pass.
"""

import itertools
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Protocol

import orjson

from .base import BadAnswer, Unavailable
from .http import Http, HttpStatus

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


class Plain:
    """The provider for nodes that need no library: JSON-RPC 1.0, as Bitcoin Core has spoken it from the beginning, or
    another version."""

    def __init__(self, version: str = "1.0") -> None:
        self._version = version
        self._ids = itertools.count()

    def encode_rpc_request(self, method: Any, params: Any) -> bytes:
        return orjson.dumps({"jsonrpc": self._version, "id": next(self._ids), "method": method, "params": list(params)})

    def get_request_headers(self) -> dict[str, str]:
        return {"Content-Type": "application/json"}


class Rpc:
    """Calls one node. `calls` counts the methods called, for tests and measurements.

    `error_statuses` are those HTTP statuses with which this kind of node sends a JSON-RPC error.
    """

    def __init__(
        self, name: str, url: str, provider: Provider, timeout: float = 10.0, error_statuses: Collection[int] = ()
    ) -> None:
        self.http = Http(name, url, timeout)
        self.node = self.http.node
        self.calls = 0
        self._provider = provider
        self._error_statuses = error_statuses

    def call(self, method: str, *params: Any) -> Any:
        """Return the result of one call. RpcError if the node says no."""
        self.calls += 1
        answer = self._post(self._provider.encode_rpc_request(method, params))
        return self._result(answer, method)

    def batch(self, requests: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
        """Return the results of several calls, in order. RpcError if the node says no to one of them."""
        results = self.each(requests)
        for result in results:
            if isinstance(result, RpcError):
                raise result
        return results

    def each(self, requests: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
        """Return the results of several calls, in order, with an RpcError in the place of each that was refused."""
        results: list[Any] = []
        for start in range(0, len(requests), BATCH):
            results += self._batch(requests[start : start + BATCH])
        return results

    def _batch(self, requests: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
        if len(requests) == 1:
            return [self._outcome(partial(self.call, requests[0][0], *requests[0][1]))]
        self.calls += len(requests)
        encoded = [self._provider.encode_rpc_request(method, params) for method, params in requests]
        answers = self._post(b"[" + b",".join(encoded) + b"]")
        if isinstance(answers, dict):
            self._result(answers, requests[0][0])  # the whole batch refused: one error object
        if not isinstance(answers, list) or len(answers) != len(requests):
            raise BadAnswer(f"{self.node} did not answer every request of a batch.")
        by_id = {answer.get("id"): answer for answer in answers if isinstance(answer, dict)}
        ids = [orjson.loads(one)["id"] for one in encoded]
        return [
            self._outcome(partial(self._result, by_id.get(id), method))
            for id, (method, _) in zip(ids, requests, strict=True)
        ]

    def _outcome(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except RpcError as error:
            return error

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
            return self.http.post(data, self._provider.get_request_headers())
        except HttpStatus as refused:
            if refused.status not in self._error_statuses:
                raise
            try:
                return orjson.loads(refused.body)
            except ValueError:
                raise refused from None
