"""Ask a site in this process, without sockets: the whole of Django and of our pages, and nothing of a server."""

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.test import Client, override_settings

from accounts.models import User

TOKEN = "c" * 32  # the secret of CSRF's cookie, which the form repeats


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Site:
    """A site with its own middleware and addresses; none given: Gridlot's."""

    changed: dict[str, Any] = field(default_factory=dict)
    handler: WSGIHandler | None = None

    @contextmanager
    def open(self, warm: str = "") -> Iterator["Site"]:
        """Make it the site that is asked until the block ends, and ask for one page so that all is loaded."""
        with override_settings(**self.changed):
            self.handler = self.handler or WSGIHandler()
            if warm:
                self.get(warm)
            yield self

    def get(self, path: str, cookies: str = "") -> Answer:
        return self.ask("GET", path, b"", cookies)

    def post(self, path: str, cookies: str = "", **form: str) -> Answer:
        """Send a form as a browser does."""
        body = urlencode({"csrfmiddlewaretoken": TOKEN, **form}).encode()
        return self.ask("POST", path, body, f"{settings.CSRF_COOKIE_NAME}={TOKEN}; {cookies}")

    def ask(self, method: str, path: str, body: bytes, cookies: str) -> Answer:
        assert self.handler is not None
        told: list[Any] = []

        def start(status: str, headers: list[tuple[str, str]], *_: Any) -> Any:
            told.extend((status, headers))

        response = self.handler(request_environment(method, path, body, cookies), start)
        text = b"".join(response)
        response.close()
        return Answer(int(told[0].split()[0]), dict(told[1]), text)


def request_environment(method: str, path: str, body: bytes, cookies: str) -> dict[str, Any]:
    """Return what a WSGI server hands over."""
    path, _, query = path.partition("?")
    return {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_TYPE": "application/x-www-form-urlencoded",
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_COOKIE": cookies,
        "HTTP_HOST": "127.0.0.1",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }


def signed_in(customer: User) -> str:
    """Return the cookie of a session of this customer."""
    client = Client()
    client.force_login(customer)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


def expect(answer: Answer, status: HTTPStatus, where: str = "") -> Answer:
    """Return the answer; RuntimeError if it is not the one that is measured."""
    if answer.status != status or not answer.headers.get("Location", "").startswith(where):
        raise RuntimeError(f"{answer.status} {answer.headers.get('Location', '')}: {answer.body[:300]!r}")
    return answer
