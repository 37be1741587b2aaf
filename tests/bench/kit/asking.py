"""What it takes to ask a site, and what it answers. Loads nothing of Django: the floor configures it by itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

TOKEN = "c" * 32  # the secret of CSRF's cookie, which the form repeats


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


def expect(answer: Answer, status: HTTPStatus, where: str = "") -> Answer:
    """Return the answer; RuntimeError if it is not the one that is measured."""
    if answer.status != status or not answer.headers.get("Location", "").startswith(where):
        raise RuntimeError(f"{answer.status} {answer.headers.get('Location', '')}: {answer.body[:300]!r}")
    return answer
