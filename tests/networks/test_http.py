"""One deadline for the whole answer of a node, its head included."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from payments.networks.base import Unavailable
from payments.networks.http import Http


@pytest.fixture
def dripping() -> Iterator[str]:
    """Yield the address of a server that sends a line of its head every tenth of a second, for ever."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=drip, args=[server], daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def drip(server: socket.socket) -> None:
    with suppress(OSError):
        connection, _ = server.accept()
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        for n in range(100):
            connection.sendall(f"X-{n}: more\r\n".encode())
            time.sleep(0.1)


def test_a_node_that_drips_the_head_of_its_answer_is_stopped_by_the_deadline(dripping: str) -> None:
    begun = time.monotonic()
    with pytest.raises(Unavailable):
        Http("Ethereum", dripping, timeout=0.5).get()
    assert time.monotonic() - begun < 5


def test_a_connection_is_used_again_after_an_answer(httpserver: object) -> None:
    httpserver.expect_request("/").respond_with_json({"a": 1})  # type: ignore[attr-defined]
    http = Http("Ethereum", httpserver.url_for("/"), timeout=0.5)  # type: ignore[attr-defined]
    assert [http.get(), http.get()] == [{"a": 1}, {"a": 1}]
    time.sleep(0.7)  # the timer of an answer that came is gone
    assert http.get() == {"a": 1}
