"""Stands where a node's HTTP is: hands out prepared answers as bytes and decodes them as the real one does."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import orjson

Answer = Callable[[str, Any], bytes]
"""From the method (or path) and its parameters to the bytes of the result."""
LARGE = 100_000  # bytes; put together once: its id is not looked at, and what a node does is not our time


class Wire:
    """`calls` counts what was asked, `bodies` holds the answers since the last `forget`, `seconds` is the processor
    time that the peer took to answer, in all."""

    node, timeout = "the node", 10.0

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.calls, self.seconds = 0, 0.0
        self.bodies: list[bytes] = []
        self.large: dict[int, bytes] = {}

    def forget(self) -> None:
        self.calls, self.bodies = 0, []

    def post(self, data: bytes, headers: Mapping[str, str] | None = None, path: str = "") -> Any:
        start = time.process_time()
        body = self._answered(data, path)
        self.bodies.append(body)
        self.seconds += time.process_time() - start
        return orjson.loads(body)

    def _answered(self, data: bytes, path: str) -> bytes:
        asked = orjson.loads(data)
        if path:
            self.calls += 1
            return self.answer(path, asked)
        if isinstance(asked, list):
            return b"[" + b",".join(self._one(request) for request in asked) + b"]"
        return self._one(asked)

    def _one(self, request: Any) -> bytes:
        self.calls += 1
        result = self.answer(request["method"], request.get("params", []))
        if id(result) in self.large:
            return self.large[id(result)]
        body = b'{"jsonrpc":"2.0","id":' + orjson.dumps(request["id"]) + b',"result":' + result + b"}"
        if len(body) > LARGE:
            self.large[id(result)] = body
        return body
