"""Create payment instructions with their QR code, through the real view.

Run it with `./run bench intents`. The floor is a Django view that places an order (`kit/web_floor.py`). Bitcart takes
18–29 ms of processor time for an invoice where that floor takes 2.4 ms; 0.4 of its better figure is three times the
floor. At most 16 statements. Nothing may be derived and nobody outside may be asked: addresses come from the reserve,
prices from what workers stored.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from bench.kit import databases
from bench.kit.meter import Cost, Meter, counted, median_cpu, median_ratio
from bench.kit.report import Check, Result
from bench.kit.shop import METHOD, Shop
from bench.kit.web import Site, expect, signed_in
from bench.kit.web_floor import floor

from orders.models import Order
from payments.models import PaymentIntent
from payments.pages import IntentPage
from payments.registry import method

CUSTOMERS, ROUNDS = 30, 7
BITCART_MS, FLOOR_MS, SHARE = 18.0, 2.4, 0.4
MOST, STATEMENTS = SHARE * BITCART_MS / FLOOR_MS, 16


def measure(given: Namespace) -> Result:
    meter, shop, result, least, calls = Meter(), Shop().open(), Result(), floor(1), watch_calls()
    customers = shop.customers(CUSTOMERS)
    cookies = {customer.pk: signed_in(customer) for customer in customers}
    shop.fill_reserve(CUSTOMERS * (ROUNDS + 2))
    ours, floors, counts, asked = [], [], [], 0
    for _ in range(ROUNDS + 1):
        shop.refresh()
        orders = shop.orders(customers)
        before = len(calls)
        cost, statements = made(meter, orders, cookies)
        asked += len(calls) - before
        ours.append(cost)
        counts.append(statements)
        floors.append(ordered(meter, least))
    costs, lowest = ours[1:], floors[1:]
    ratio = median_ratio(costs, lowest)
    result.rows.append(
        {
            "what": "an intent with its QR code",
            "cpu_ms": median_cpu(costs) / (CUSTOMERS - 1) * 1e3,
            "floor_ms": median_cpu(lowest) / (CUSTOMERS - 1) * 1e3,
            "ratio": ratio,
            "statements": max(counts),
        }
    )
    result.checks.append(Check("processor time by the floor's", ratio, most=MOST))
    result.checks.append(Check("statements", max(counts), most=STATEMENTS))
    result.checks.append(Check("calls to the outside", asked, most=0))
    derives = [name for name in ("payments.hd", "coincurve", "solders", "bitcoinlib") if name in sys.modules]
    result.checks.append(Check("libraries that derive addresses are loaded", len(derives), most=0))
    return result


def made(meter: Meter, orders: Sequence[Order], cookies: dict[int, str]) -> tuple[Cost, int]:
    """Ask for instructions for each order and draw their QR code; the first one loads and is counted, not measured."""
    first, *others = orders

    def make(order: Order) -> str:
        form = {"method": METHOD, "form_key": str(order.form_key)}
        answer = site.post(f"/orders/{order.number}/pay/", cookies[order.customer_id], **form)
        return expect(answer, HTTPStatus.FOUND, "/pay/").headers["Location"].split("/")[2]

    with Site().open() as site:
        with counted() as statements:
            draw(make(first))
        with meter.reading() as cost:
            for order in others:
                draw(make(order))
    return cost, len(statements.sent) - 1  # the one that reads the intent to draw is the benchmark's


def draw(number: str) -> None:
    """Draw the QR code of an intent as its page does."""
    intent = PaymentIntent.objects.select_related("order", "address").get(pk=number)
    IntentPage(intent, method(intent.method), [], None, intent.created_at).qr()


def ordered(meter: Meter, least: Site) -> Cost:
    with least.open(warm="/hello") as site, meter.reading() as cost:
        for _ in range(CUSTOMERS - 1):
            expect(site.post("/order"), HTTPStatus.CREATED)
    return cost


def watch_calls() -> list[str]:
    """Return a list that grows with every connection that this process opens by a socket. Databases are not among
    them: PostgreSQL's library is no Python."""
    calls: list[str] = []

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("socket.connect", "socket.getaddrinfo"):
            calls.append(f"{event} {arguments}")

    sys.addaudithook(hook)
    return calls


if __name__ == "__main__":
    sys.exit(databases.run("intents", measure))
