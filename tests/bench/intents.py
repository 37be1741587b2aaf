"""Create payment instructions with their QR code, through the real view.

Run it with `./run bench intents`. The floor is a Django view that places an order (`servers/floor.py`). Bitcart takes
18–29 ms of processor time for an invoice where that floor takes 2.4 ms; 0.4 of its better figure is three times the
floor. Both are asked over HTTP, behind gunicorn as it is shipped; the QR code, which the page draws, is added. At most
16 statements. Nothing may be derived and nobody outside may be asked: addresses come from the reserve, prices from what
workers stored.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from bench.kit import databases, served
from bench.kit.asking import expect
from bench.kit.meter import Cost, Meter, compared, counted, median_ratio
from bench.kit.report import Check, Result
from bench.kit.served import Served
from bench.kit.shop import METHOD, Shop
from bench.kit.web import Site, signed_in

from orders.models import Order
from payments.models import PaymentIntent
from payments.pages import IntentPage
from payments.registry import method

CUSTOMERS, ROUNDS = 30, 7
BITCART_MS, FLOOR_MS, SHARE = 18.0, 2.4, 0.4
MOST, STATEMENTS = SHARE * BITCART_MS / FLOOR_MS, 16


def measure(given: Namespace) -> Result:
    meter, shop, result = Meter(), Shop().open(), Result()
    customers = shop.customers(CUSTOMERS)
    cookies = {customer.pk: signed_in(customer) for customer in customers}
    shop.fill_reserve(CUSTOMERS * (ROUNDS + 2))
    look_inside(result, shop.order(customers[0]), cookies)
    ours, floors = [], []
    with served.site() as site, served.floor() as least:
        for _ in range(ROUNDS + 1):
            shop.refresh()
            ours.append(made(meter, site, shop.orders(customers), cookies))
            floors.append(ordered(meter, least))
    costs, lowest = ours[1:], floors[1:]
    ratio = median_ratio(costs, lowest)
    row = {"what": "an intent with its QR code", **compared(costs, lowest, CUSTOMERS), "ratio": ratio}
    result.rows.append(row)
    result.checks.append(Check("processor time by the floor's", ratio, most=MOST))
    return result


def look_inside(result: Result, order: Order, cookies: dict[int, str]) -> None:
    """Make one intent in this process: count its statements, hear whom it calls, look which libraries it loads."""
    site, calls = Site(), watch_calls()
    site.get("/healthz")
    with counted() as statements:
        make(site, order, cookies)
    result.checks.append(Check("statements", len(statements.sent), most=STATEMENTS))
    result.checks.append(Check("calls to the outside", len(calls), most=0))
    derives = [name for name in ("payments.hd", "coincurve", "solders", "bitcoinlib") if name in sys.modules]
    result.checks.append(Check("libraries that derive addresses are loaded", len(derives), most=0))


def made(meter: Meter, site: Served, orders: Sequence[Order], cookies: dict[int, str]) -> Cost:
    """Ask for instructions for each order, and draw their QR codes in this process, as their page does."""
    with meter.reading(site.seconds) as asking:
        numbers = [make(site, order, cookies) for order in orders]
    pages = [page_of(number) for number in numbers]
    with meter.reading() as drawing:
        for page in pages:
            page.qr()
    return Cost(asking.own + drawing.own, asking.database, asking.wall + drawing.wall)


def make(site: Site | Served, order: Order, cookies: dict[int, str]) -> str:
    """Ask for instructions and return their number."""
    form = {"method": METHOD, "form_key": str(order.form_key)}
    answer = site.post(f"/orders/{order.number}/pay/", cookies[order.customer_id], **form)
    return expect(answer, HTTPStatus.FOUND, "/pay/").headers["Location"].split("/")[2]


def page_of(number: str) -> IntentPage:
    intent = PaymentIntent.objects.select_related("order", "address").get(pk=number)
    return IntentPage(intent, method(intent.method), [], intent.created_at)


def ordered(meter: Meter, least: Served) -> Cost:
    with meter.reading(least.seconds) as cost:
        for _ in range(CUSTOMERS):
            expect(least.post("/order"), HTTPStatus.CREATED)
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
