"""Look up at the support desk among 1,000,000 orders and 3,000,000 transfers, by the clock and by the planner.

Run it with `./run bench lookup`. Each kind of text that the box takes is typed many times, each time another one: the
whole POST (search, log, redirect) must come back within 50 ms at the 95th percentile, and no statement of it, nor of
the page that it leads to, may read a large table from end to end. The page's own time stands beside it.
"""

import json
import random
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from http import HTTPStatus
from typing import Any

from bench.kit import databases
from bench.kit.asking import expect
from bench.kit.history import BASE, hexadecimal, insert, know_sizes, uuid_of
from bench.kit.meter import Meter, Statements, counted
from bench.kit.report import Check, Result
from bench.kit.shop import Shop
from bench.kit.web import Site, signed_in
from bench.settle import ours
from django.core.management import call_command
from django.db import connection, transaction
from django.test import override_settings
from story import make_customer

from accounts.actions.roles import set_role
from accounts.models import User
from balance.models import Account, Movement
from events.models import Event
from orders import numbers
from orders.models import Hold, Order
from payments.actions import inquiries
from payments.actions.topups import make_topup
from payments.models import Allocation, ChainTransfer, Inquiry, PaymentIntent, ReservedAddress, ReviewItem, TopUp
from provisioning.models import Rental
from support.actions import look_up
from support.models import Lookup

ORDERS, TIMES = 1_000_000, 100
PER_CUSTOMER, TRANSFERS, EVENTS = 10, 3, 4
MOST_MS = 50.0
LARGE = 5_000  # rows from which on a table must not be read from end to end
UNLIMITED = {"ACCOUNT_RATE_LIMITS": {"support_lookup": ""}}
Texts = Callable[[], str]


def measure(given: Namespace) -> Result:
    meter, shop, result = Meter(), Shop().open(), Result()
    person = fill(shop, given.orders)
    call_command("collectstatic", interactive=False, verbosity=0)  # pages name their style sheets
    random.seed(7)
    cookie = signed_in(person)
    with override_settings(**UNLIMITED):
        site = Site()
        expect(site.get("/support/", cookie), HTTPStatus.OK)
        for kind, texts in kinds(given.orders).items():
            add(result, meter, site, cookie, kind, [texts() for _ in range(given.times)])
    return result


def kinds(orders: int) -> dict[str, Texts]:
    """Return how each kind of text is made, each time of another row."""

    def place() -> int:
        return random.randint(1, orders)  # noqa: S311

    def of(text: Callable[[int], str]) -> Texts:
        return lambda: text(place())

    known = [with_number(Order, place()) for _ in range(200)]
    topups = [with_number(TopUp, place()) for _ in range(200)]
    return {
        "order, exact": lambda: f"GL-{random.choice(known)}",  # noqa: S311
        "order, one symbol missing": lambda: without_one(random.choice(known)),  # noqa: S311
        "order, one symbol wrong": lambda: with_wrong_one(random.choice(known)),  # noqa: S311
        "order, two swapped": lambda: swapped(random.choice(known)),  # noqa: S311
        "order, not there": lambda: numbers.draw(),
        "top-up, exact": lambda: f"TU-{random.choice(topups)}",  # noqa: S311
        "address": of(lambda n: f"0x{n:040x}"),
        "transaction": of(lambda n: f"{n:064x}"),
        "transaction, not there": lambda: f"{random.getrandbits(255):064x}",
        "email": of(lambda n: f"BUYER{n % (orders // PER_CUSTOMER)}@Example.com"),
        "email, not there": of(lambda n: f"nobody{n}@example.com"),
    }


def with_number(model: Any, place: int) -> str:
    """Give a row of the past a number with a right check symbol; return its symbols."""
    symbols = numbers.draw()
    model.objects.filter(pk=BASE + place).update(symbols=symbols)
    return symbols


def without_one(symbols: str) -> str:
    at = random.randrange(8)  # noqa: S311
    return symbols[:at] + symbols[at + 1 :]


def with_wrong_one(symbols: str) -> str:
    at = random.randrange(8)  # noqa: S311
    others = [one for one in numbers.ALPHABET if one != symbols[at]]
    return symbols[:at] + random.choice(others) + symbols[at + 1 :]  # noqa: S311


def swapped(symbols: str) -> str:
    at = random.randrange(7)  # noqa: S311
    return symbols[:at] + symbols[at + 1] + symbols[at] + symbols[at + 2 :]


def add(result: Result, meter: Meter, site: Site, cookie: str, kind: str, texts: Sequence[str]) -> None:
    """Type each text and open what it leads to; add the times, and what the planner would do."""
    look_up_and_open(site, cookie, texts[0])
    with counted() as statements:
        look_up_and_open(site, cookie, texts[0])
    whole = list(read_whole(statements))
    for table in whole:
        print(f"{kind}: {table}", flush=True)
    times, pages = [], []
    with meter.reading() as cost:
        for text in texts:
            began = time.perf_counter()
            times.append((typed(site, cookie, text), time.perf_counter() - began))
    with meter.reading() as shown:
        for url, _took in times:
            began = time.perf_counter()
            expect(site.get(url, cookie), HTTPStatus.OK)
            pages.append(time.perf_counter() - began)
    ms = sorted(took * 1e3 for _url, took in times)
    result.rows.append(
        {
            "what": kind,
            "median_ms": percentile(ms, 50),
            "p95_ms": percentile(ms, 95),
            "cpu_ms": cost.cpu / len(texts) * 1e3,
            "page_median_ms": percentile(sorted(took * 1e3 for took in pages), 50),
            "page_cpu_ms": shown.cpu / len(texts) * 1e3,
            "statements": len(statements.sent),
        }
    )
    result.checks.append(Check(f"{kind}: p95 of a look-up in ms", percentile(ms, 95), most=MOST_MS))
    result.checks.append(Check(f"{kind}: large tables read from end to end", len(whole), most=0))


def typed(site: Site, cookie: str, text: str) -> str:
    """Look up a text; return where that leads."""
    answer = expect(site.post("/support/look-up/", cookie, text=text), HTTPStatus.FOUND, "/support/")
    return answer.headers["Location"]


def look_up_and_open(site: Site, cookie: str, text: str) -> None:
    expect(site.get(typed(site, cookie, text), cookie), HTTPStatus.OK)


def percentile(times: Sequence[float], percent: int) -> float:
    return times[min(len(times) * percent // 100, len(times) - 1)]


def read_whole(statements: Statements) -> Iterator[str]:
    """Yield the large tables that a statement would read from end to end, as the planner says."""
    large = large_tables()
    for sql, params, _many in statements.sent:
        if sql.startswith("SELECT"):
            with connection.cursor() as cursor:
                for table in scanned(cursor, sql, params):
                    if table in large:
                        yield f"{table}: {sql[:200]}"


def scanned(cursor: Any, sql: str, params: Any) -> Iterator[str]:
    if connection.vendor == "postgresql":
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", params)
        plan = cursor.fetchone()[0]
        yield from sequential(plan if isinstance(plan, list) else json.loads(plan))
        return
    cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
    for *_numbers, detail in cursor.fetchall():
        if detail.startswith("SCAN ") and " USING " not in detail:
            yield detail.split()[1]


def sequential(plan: Any, *, limited: bool = False) -> Iterator[str]:
    """Yield the tables that nodes of a plan of PostgreSQL read without an index, or through a whole one. `limited`: an
    index that gives the order is read from its end as far as a LIMIT wants, as for the newest event."""
    for node in plan if isinstance(plan, list) else [plan]:
        node = node.get("Plan", node)
        through = "Relation Name" in node and "Index Cond" not in node and node.get("Index Name") not in partial()
        if node["Node Type"] == "Seq Scan" or ("Index Name" in node and through and not limited):
            yield node["Relation Name"]
        yield from sequential(node.get("Plans", []), limited=node["Node Type"] == "Limit")


@cache
def partial() -> set[str]:
    """Return the names of the partial indexes: of open work there is little, whatever the table holds."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexrelid::regclass::text FROM pg_index WHERE indpred IS NOT NULL")
        return {name for (name,) in cursor.fetchall()}


def large_tables() -> set[str]:
    models = (User, Account, Movement, Event, Hold, Order, Rental, Lookup, Inquiry, ReviewItem, TopUp)
    payments = (Allocation, ChainTransfer, PaymentIntent, ReservedAddress)
    return {model._meta.db_table for model in (*models, *payments) if model._base_manager.count() > LARGE}


def fill(shop: Shop, count: int) -> User:
    """Make so many orders of the past with all that hangs on them; return somebody of support."""
    person = make_customer("support@example.com")
    set_role(person, "support", actor=None)
    intent = shop.intents(1)[0]
    ours(shop, [intent])
    order, customer = intent.order, intent.customer
    assert order is not None
    question = inquiries.ask("0" * 64, intent=intent, actor=customer)
    topup = make_topup(customer, 10_000, form_key=question.pk)
    review = ReviewItem.objects.create(reason="claim", subject=f"inquiry:{question.pk}")
    seen = look_up(order.number, admitted=True, actor=person)
    with transaction.atomic():
        trust_ourselves()
        people(count // PER_CUSTOMER, customer)
        purchases(count, order, intent)
        money(count, order, intent)
        beside(count, question, topup, review, seen)
    know_sizes()
    person.refresh_from_db()
    return person


def trust_ourselves() -> None:
    """Leave foreign keys unchecked until the end of the transaction, where that is allowed: it takes half the time."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
            if cursor.fetchone()[0]:
                cursor.execute("SET LOCAL session_replication_role = replica")


def owner(count: int) -> str:
    """Return the SQL for the customer of the n-th order."""
    return f"{BASE} + n %% {count // PER_CUSTOMER}"


def people(count: int, customer: User) -> None:
    account = Account.objects.get(customer=customer)
    each = f"{BASE} + n - 1"
    insert(count, User, customer.pk, id=each, email="'buyer' || (n - 1) || '@example.com'")
    insert(count, Account, account.pk, id=each, customer_id=each)


def purchases(count: int, order: Order, intent: PaymentIntent) -> None:
    number, whose, key = f"{BASE} + n", owner(count), uuid_of("n")
    contact = f"'Buyer' || (n %% {count // PER_CUSTOMER}) || '@Example.com'"
    facts = {"id": number, "customer_id": whose, "form_key": key}
    insert(count, Order, order.pk, **facts, symbols=hexadecimal("n", 8), email=contact)
    insert(count, Hold, order.holds.get().pk, id=number, order_id=number)
    insert(count, Rental, order.rental.pk, id=number, order_id=number, token=key)
    address = f"'0x' || {hexadecimal('n', 40)}"
    insert(count, ReservedAddress, intent.address_id, id=number, index=number, address=address)
    facts = {"id": key, "order_id": number, "address_id": number, "form_key": key, "customer_id": whose}
    insert(count, PaymentIntent, intent.pk, **facts)
    paid = ChainTransfer.objects.get(intent=intent)
    for part in range(TRANSFERS):
        txid = hexadecimal(f"n + {part} * {count}", 64)
        insert(count, ChainTransfer, paid.pk, id=f"{number} + {part} * {count}", intent_id=key, txid=txid)
    for place, event in enumerate(Event.objects.filter(thread=f"order:{order.pk}")[:EVENTS]):
        insert(count, Event, event.pk, id=f"{BASE} + {EVENTS} * n + {place}", thread=f"'order:' || ({number})")


def money(count: int, order: Order, intent: PaymentIntent) -> None:
    number, whose = f"{BASE} + n", owner(count)
    allocation = Allocation.objects.get(intent=intent)
    paid = Movement.objects.get(reference=f"order:{order.pk}:capture")
    movement, transfer = f"{BASE} + 2 * n", f"'transfer:' || ({number}) || ':1'"
    assert allocation.movement_id is not None
    insert(count, Movement, allocation.movement_id, id=movement, credit_id=whose, reference=transfer)
    captured = f"'order:' || ({number}) || ':capture'"
    insert(count, Movement, paid.pk, id=f"{movement} + 1", debit_id=whose, reference=captured)
    facts = {"transfer_id": number, "intent_id": uuid_of("n"), "movement_id": movement, "customer_id": whose}
    insert(count, Allocation, allocation.pk, id=number, **facts)


def beside(count: int, question: Inquiry, topup: TopUp, review: ReviewItem, seen: Lookup) -> None:
    """Add what is not there for each order: questions, top-ups, decisions, earlier look-ups."""
    number, whose = f"{BASE} + n", owner(count)
    key = uuid_of("n")
    facts = {"id": number, "customer_id": whose, "form_key": key}
    insert(count, TopUp, topup.pk, **facts, symbols=hexadecimal("n", 8))
    insert(count // 5, Inquiry, question.pk, id=key, intent_id=key, customer_id=whose)
    insert(count // 20, ReviewItem, review.pk, id=number, subject="'inquiry:past' || n")
    subject = f"'order:' || ({number})"
    insert(count // 5, Lookup, seen.pk, id=key, subject=subject, customer_id=whose)


if __name__ == "__main__":
    options = {"orders": (ORDERS, "orders of the past"), "times": (TIMES, "texts of each kind")}
    sys.exit(databases.run("lookup", measure, **options))
