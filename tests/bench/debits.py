"""Pay orders from balances, through the real view: one hot account, and spread over many.

Run it with `./run bench debits`. The floor is a Django view that takes from a balance and writes an entry
(`servers/floor.py`), without a session: ours, which also settles the order and tells provisioning, may take twice its
processor time and ten statements. Both are asked over HTTP, behind gunicorn as it is shipped. Then more orders than a
balance covers are paid at once: exactly as many succeed as it covers.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from itertools import count

from bench.kit import databases, served
from bench.kit.asking import expect
from bench.kit.meter import Cost, Meter, compared, counted, median_ratio
from bench.kit.report import Check, Result
from bench.kit.served import Served
from bench.kit.shop import Shop
from bench.kit.web import Site, signed_in
from django.db import connection
from story import give
from together import at_once

from accounts.models import User
from balance.models import Account, Movement
from orders.models import Order
from payments.actions.intents import pay_from_balance
from payments.verify import discrepancies

ACCOUNTS, ORDERS, ROUNDS = 40, 40, 7
MOST, STATEMENTS = 2.0, 10
RACES, RACING, COVERED = 5, 8, 3


def measure(given: Namespace) -> Result:
    meter, shop, result = Meter(), Shop().open(), Result()
    customers = shop.customers(ACCOUNTS)
    for customer in customers:
        give(customer, 10**9)
    cookies = {customer.pk: signed_in(customer) for customer in customers}
    statements = sent_by_second(shop.orders([customers[0]] * 2), cookies)
    result.checks.append(Check("statements", statements, most=STATEMENTS))
    with served.site() as site, served.floor() as least:
        for name, payers in (("one hot account", customers[:1] * ORDERS), ("spread", customers)):
            compare(result, meter, name, Sides(shop, site, cookies, least), payers)
    result.checks.append(Check("discrepancies of the ledger", len(list(discrepancies())), most=0))
    race(result, shop)
    return result


@dataclass(frozen=True, slots=True)
class Sides:
    """Both servers, and who may pay at ours."""

    shop: Shop
    site: Served
    cookies: dict[int, str]
    least: Served


def sent_by_second(orders: Sequence[Order], cookies: dict[int, str]) -> int:
    """Return how many statements the second payment takes: the first one of a process reads what stays."""
    site = Site()
    first, second = orders
    pay(site, first, cookies)
    with counted() as statements:
        pay(site, second, cookies)
    return len(statements.sent)


def compare(result: Result, meter: Meter, name: str, sides: Sides, payers: Sequence[User]) -> None:
    """Let both take turns; a first round warms up."""
    ours, floors, number = [], [], count(1)
    for _ in range(ROUNDS + 1):
        ours.append(paid(meter, sides, sides.shop.orders(payers)))
        floors.append(debited(meter, sides, [next(number) % ACCOUNTS + 1 if "spread" in name else 1 for _ in payers]))
    costs, lowest = ours[1:], floors[1:]
    ratio = median_ratio(costs, lowest)
    result.rows.append({"what": name, **compared(costs, lowest, len(payers)), "ratio": ratio})
    result.checks.append(Check(f"{name}: processor time by the floor's", ratio, most=MOST))


def paid(meter: Meter, sides: Sides, orders: Sequence[Order]) -> Cost:
    with meter.reading(sides.site.seconds) as cost:
        for order in orders:
            pay(sides.site, order, sides.cookies)
    settled = Order.objects.filter(pk__in=[order.pk for order in orders], state=Order.State.SETTLED).count()
    if settled != len(orders):
        raise RuntimeError(f"{settled} of {len(orders)} orders were paid")
    return cost


def pay(site: Site | Served, order: Order, cookies: dict[int, str]) -> None:
    path = f"/orders/{order.number}/pay/balance/"
    expect(site.post(path, cookies[order.customer_id]), HTTPStatus.FOUND, f"/orders/{order.number}/")


def debited(meter: Meter, sides: Sides, accounts: Sequence[int]) -> Cost:
    with meter.reading(sides.least.seconds) as cost:
        for account in accounts:
            expect(sides.least.post(f"/debit?acct={account}"), HTTPStatus.CREATED)
    return cost


def race(result: Result, shop: Shop) -> None:
    """Pay more orders at once than the balance covers, several times."""
    succeeded, unexplained = [], 0
    for customer in shop.customers(RACES):
        orders = shop.orders([customer] * RACING)
        give(customer, orders[0].total_cents * COVERED + orders[0].total_cents // 2)
        outcomes = at_once([partial(pay_one, order.pk, customer.pk) for order in orders])
        succeeded.append(sum(outcome.value is True for outcome in outcomes))
        unexplained += abs(beside_its_movements(customer))
    what = f"of {RACING} orders paid at once from a balance for {COVERED}, those that succeeded"
    result.checks += [Check(what, number, most=COVERED, least=COVERED) for number in (min(succeeded), max(succeeded))]
    result.checks.append(Check("cents of balances that no movement explains", unexplained, most=0))


def beside_its_movements(customer: User) -> int:
    account = Account.objects.get(customer=customer)
    moved = sum(Movement.objects.filter(credit=account).values_list("amount_cents", flat=True))
    moved -= sum(Movement.objects.filter(debit=account).values_list("amount_cents", flat=True))
    return (account.balance_cents or 0) - moved


def pay_one(order_id: int, customer_id: int) -> bool:
    try:
        pay_from_balance(order_id, actor=User.objects.get(pk=customer_id))
        return True
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(databases.run("debits", measure))
