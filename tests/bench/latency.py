"""Time from a transfer being final at the node to "Paid" on the customer's open page, a hundred at once.

Run it with `./run bench latency`. The site is really served (`manage.py serve`, tasks in the same process) with the
simulated network; each open page asks over HTTP as often as its script does, and with what that sends. Of all pages
95 % must say "Paid" within one interval of the watcher, one of the page, and three seconds: the only bound here that is
a time by the clock.
"""

import http.client
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from bench.kit import databases
from bench.kit.asking import Answer
from bench.kit.open_page import OpenPage, cookies_of
from bench.kit.report import Check, Result
from bench.kit.shop import NETWORK, Shop
from django.conf import settings
from django.db import connections
from story import make_offer

from payments import registry
from payments.models import PaymentIntent
from payments.networks.simulated_chain import SimulatedChain

PAGES = 100
POLL_SECONDS = 2.0  # what an open page waits for (`IntentPage.poll_seconds`)
SLACK_SECONDS = 3.0
PATIENCE = 120.0
PAID = b'data-announce="Paid"'


@dataclass
class Page:
    """An open page: it asks until it reads "Paid"."""

    intent: PaymentIntent
    shown: OpenPage
    port: int
    txid: str = ""
    paid_at: float | None = None
    polls: int = 0
    unchanged: int = 0

    def watch(self) -> None:
        until = time.monotonic() + PATIENCE
        time.sleep(random.uniform(0, POLL_SECONDS))  # noqa: S311  # pages were not opened in step
        while self.paid_at is None and time.monotonic() < until:
            answer = self.ask(self.shown.path, self.shown.headers)
            self.shown.shows(answer)
            if PAID in answer.body:
                self.paid_at = time.monotonic()
            self.polls += 1
            self.unchanged += answer.status == HTTPStatus.NOT_MODIFIED
            time.sleep(POLL_SECONDS)

    def open(self) -> None:
        self.shown.shows(self.ask(self.shown.address, {}))

    def ask(self, path: str, headers: Mapping[str, str]) -> Answer:
        """Ask once, over a connection of its own: the server closes one that is idle between two polls."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", path, headers={"Cookie": self.shown.cookies, **headers})
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()


def measure(given: Namespace) -> Result:
    chain = registry.simulated_chain(NETWORK)
    chain.mine()
    shop = Shop(node=registry.node(NETWORK), offer=make_offer(lots=2_000_000_000))
    intents = shop.intents(given.pages)
    shown = [OpenPage(f"/pay/{intent.pk}/", cookies_of(intent.customer)) for intent in intents]
    connections.close_all()
    with served() as port:
        pages = [Page(intent, page, port) for intent, page in zip(intents, shown, strict=True)]
        for page in pages:
            page.open()
        final_at = pay_and_watch(chain, pages)
    waits = sorted(page.paid_at - final_at[page.txid] for page in pages if page.paid_at and page.txid in final_at)
    return found(pages, waits)


def found(pages: Sequence[Page], waits: Sequence[float]) -> Result:
    p95 = statistics.quantiles(waits, n=20)[-1]
    row = {
        "pages": len(pages),
        "paid": len(waits),
        "median_s": statistics.median(waits),
        "p95_s": p95,
        "longest_s": waits[-1],
        "polls": sum(page.polls for page in pages),
        "unchanged": sum(page.unchanged for page in pages),
    }
    bound = settings.WATCH_SECONDS + POLL_SECONDS + SLACK_SECONDS
    missing = Check("pages that never said Paid", len(pages) - len(waits), most=0)
    return Result([row], [Check("p95 in seconds", p95, most=bound), missing])


def pay_and_watch(chain: SimulatedChain, pages: Sequence[Page]) -> dict[str, float]:
    """Open all pages, send all payments, and return when each was final at the node."""
    threads = [threading.Thread(target=page.watch, daemon=True) for page in pages]
    for thread in threads:
        thread.start()
    for page in pages:
        asset = registry.method(page.intent.method).asset
        page.txid = chain.pay(page.intent.address.address, page.intent.amount, method=asset.method)
    final_at = watch_chain(chain, {page.txid for page in pages})
    for thread in threads:
        thread.join(PATIENCE)
    return final_at


def watch_chain(chain: SimulatedChain, waiting: set[str]) -> dict[str, float]:
    """Return when each transaction became final: the moment we last looked and it was not yet, to be strict."""
    final_at: dict[str, float] = {}
    needed, height, last_look = registry.families()[NETWORK].finality(0).confirmations, 0, time.monotonic()
    until = last_look + PATIENCE
    while waiting and time.monotonic() < until:
        head = chain.head()
        if head.height > height:
            height = head.height
            blocks = {txid: chain.transaction(txid)[0].block for txid in waiting}
            final = {txid for txid, block in blocks.items() if block and height - block.height + 1 >= needed}
            final_at |= dict.fromkeys(final, last_look)
            waiting = waiting - final
        last_look = time.monotonic()
        time.sleep(0.05)
    return final_at


@contextmanager
def served() -> Iterator[int]:
    """Serve the site on a free port until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "manage.py", "serve", "--bind", f"127.0.0.1:{port}"]
    with (Path(settings.DATA_DIR) / "serve.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=settings.BASE_DIR, env=os.environ, stdout=log, stderr=log)
        try:
            wait_for(port)
            yield port
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)


def wait_for(port: int) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/healthz")
            if connection.getresponse().status == HTTPStatus.OK:
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("the site does not answer")


if __name__ == "__main__":
    sys.exit(databases.run("latency", measure, pages=(PAGES, "open pages")))
