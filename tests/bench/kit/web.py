"""Ask our site in this process, without sockets, so that its statements can be counted and its calls heard."""

import io
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.test import Client

from accounts.models import User

from .asking import TOKEN, Answer


class Site:
    def __init__(self) -> None:
        self.handler = WSGIHandler()

    def get(self, path: str, cookies: str = "", **headers: str) -> Answer:
        return self.ask("GET", path, b"", cookies, headers)

    def post(self, path: str, cookies: str = "", **form: str) -> Answer:
        """Send a form as a browser does."""
        body = urlencode({"csrfmiddlewaretoken": TOKEN, **form}).encode()
        return self.ask("POST", path, body, f"{settings.CSRF_COOKIE_NAME}={TOKEN}; {cookies}", {})

    def ask(self, method: str, path: str, body: bytes, cookies: str, headers: Mapping[str, str]) -> Answer:
        told: list[Any] = []

        def start(status: str, headers: list[tuple[str, str]], *_: Any) -> Any:
            told.extend((status, headers))

        sent = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
        response = self.handler(request_environment(method, path, body, cookies) | sent, start)
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
