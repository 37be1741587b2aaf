"""The HTTP interface of a java-tron node, or of a provider that speaks as one.

It answers HTTP 200 with {"Error": …} when something is wrong, `{}` for what it does not know, and leaves out every
field that has its default value.
"""

from typing import Any

import orjson

from .base import BadAnswer, Unavailable
from .http import Http

Json = dict[str, Any]


class TronApi:
    """One family of a node's calls: "wallet" tells the head, "walletsolidity" only what is solid.

    `calls` counts the requests, for tests and measurements.
    """

    def __init__(self, http: Http, family: str) -> None:
        self.http = http
        self.family = family
        self.calls = 0

    @property
    def node(self) -> str:
        return self.http.node

    def ask(self, call: str, **parameters: Any) -> Any:
        """Return the answer of one call, of whatever shape. Unavailable if the node says that it failed."""
        return self.post(f"{self.family}/{call}", parameters)

    def post(self, path: str, parameters: Json) -> Any:
        self.calls += 1
        answer = self.http.post(orjson.dumps(parameters), path=path)
        if isinstance(answer, dict) and "Error" in answer:
            raise Unavailable(f"{self.node} refused {path}: {answer['Error']!s:.200}")
        return answer

    def find(self, call: str, **parameters: Any) -> Json | None:
        """Return what the call names; none if the node does not know it. BadAnswer for anything but an object."""
        answer = self.ask(call, **parameters)
        if not isinstance(answer, dict):
            raise BadAnswer(f"{self.node} gave no object to {call}.")
        return answer or None


def open_api(name: str, url: str, family: str, timeout: float, api_key: str) -> TronApi:
    """Return one family of calls of the node at `url`; a key, if there is one, goes along as TronGrid reads it."""
    headers = {"Content-Type": "application/json"} | ({"TRON-PRO-API-KEY": api_key} if api_key else {})
    return TronApi(Http(name, url, timeout, headers), family)
