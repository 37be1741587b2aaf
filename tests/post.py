"""A small mail server: takes mail over SMTP as real ones do, or misbehaves as real ones do."""

import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import Message
from email.policy import default
from typing import Any


class PostOffice(socketserver.ThreadingTCPServer):
    """`mails` are those that were taken. `mood`: "well"; "busy" refuses each mail; "hasty" hangs up once it has taken
    one; "slow" drips its greeting."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Counter)
        self.mails: list[Any] = []
        self.mood = "well"

    @property
    def options(self) -> dict[str, Any]:
        return {"host": "127.0.0.1", "port": self.server_address[1]}

    def take(self, data: bytes) -> None:
        mail: Message = message_from_bytes(data, policy=default)
        self.mails.append(mail)


class Counter(socketserver.StreamRequestHandler):
    server: PostOffice

    def say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())

    def handle(self) -> None:
        if self.server.mood == "slow":
            self.drip()
            return
        self.say("220 post")
        while line := self.rfile.readline().decode().strip():
            verb = line.split()[0].upper()
            if verb == "QUIT":
                self.say("221 bye")
                return
            if verb == "DATA" and not self.data():
                return
            if verb != "DATA":
                self.say("250 post")

    def data(self) -> bool:
        """Read a mail; false if the connection ends with it."""
        if self.server.mood == "busy":
            self.say("451 try later")
            return True
        self.say("354 go on")
        lines = list(iter(self.rfile.readline, b".\r\n"))
        self.server.take(b"".join(lines))
        self.say("250 taken")
        return self.server.mood != "hasty"

    def drip(self) -> None:
        try:
            for _ in range(600):
                self.wfile.write(b"220-wait\r\n")
                time.sleep(0.05)
        except OSError:
            return


@contextmanager
def post_office() -> Iterator[PostOffice]:
    """Yield a mail server that listens."""
    with PostOffice() as office:
        threading.Thread(target=office.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield office
        office.shutdown()
