"""Mail by SMTP, against the clock: the one worker of a small shop must not wait for a mail server that says nothing.

A deadline of `smtplib` begins anew with each byte that comes, so a timer cuts the connection.
"""

import smtplib
import socket
import threading
from contextlib import suppress
from typing import Any

from django.core.mail.backends.base import BaseEmailBackend
from django.core.mail.backends.smtp import EmailBackend

TIMEOUT = 10.0  # seconds for one answer
DEADLINE = 20.0  # for the whole connection


class _Timed:
    """Mixed into a connection: it is cut after DEADLINE seconds."""

    sock: Any
    timer: threading.Timer | None = None

    def _get_socket(self, host: str, port: int, timeout: float) -> Any:
        first = super()._get_socket(host, port, timeout)  # type: ignore[misc]
        self.timer = threading.Timer(DEADLINE, lambda: self._cut(first))
        self.timer.daemon = True
        self.timer.start()
        return first

    def _cut(self, first: Any) -> None:
        """End the connection below TLS: STARTTLS puts another socket in the place of the first one."""
        with suppress(OSError):
            socket.socket.shutdown(self.sock or first, socket.SHUT_RDWR)

    def close(self) -> None:
        if self.timer:
            self.timer.cancel()
        super().close()  # type: ignore[misc]


class _Plain(_Timed, smtplib.SMTP): ...


class _Secure(_Timed, smtplib.SMTP_SSL): ...


class Backend(EmailBackend):
    """Django's own, with a deadline. What a server says after it took the mail does not count: sent is sent."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"timeout": TIMEOUT, **options})

    @property
    def connection_class(self) -> Any:
        return _Secure if self.use_ssl else _Plain

    def _close_connection(self, connection: Any) -> None:
        try:
            connection.quit()
        except (OSError, smtplib.SMTPException):
            connection.close()


class NoServer(BaseEmailBackend):
    """Says to whoever sends a mail that no server is set."""

    def send_messages(self, messages: Any) -> int:
        raise ConnectionError("No mail server is set: EMAIL_URL.")
