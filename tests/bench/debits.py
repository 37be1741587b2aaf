"""Pay orders from balances, through the real view: one hot account, and spread over many.

Run it with `./run bench debits`. The floor is a Django view that takes from a balance and writes an entry
(`kit/web_floor.py`): ours, which also settles the order and tells provisioning, may take twice its processor time and
ten statements. Then more orders than a balance covers are paid at once: exactly as many succeed as it covers.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from http import HTTPStatus
from itertools import count

from bench.kit import databases
from bench.kit.meter import Cost, Meter, counted, median_cpu, median_ratio
from bench.kit.report import Check, Result
from bench.kit.shop import Shop
from bench.kit.web import Site, expect, signed_in
from bench.kit.web_floor import floor
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
    meter, shop, result, least = Meter(), Shop().open(), Result(), floor(ACCOUNTS)
    customers = shop.customers(ACCOUNTS)
    for customer in customers:
        give(customer, 10**9)
    cookies = {customer.pk: signed_in(customer) for customer in customers}
    for name, payers in (("one hot account", customers[:1] * ORDERS), ("spread", customers)):
        compare(result, meter, name, shop, payers, cookies, least)
    result.checks.append(Check("discrepancies of the ledger", len(list(discrepancies())), most=0))
    race(result, shop)
    return result


def compare(
    result: Result,
    meter: Meter,
    name: str,
    shop: Shop,
    payers: Sequence[User],
    cookies: dict[int, str],
    least: Site,
) -> None:
    """Let both take turns; a first round warms up."""
    ours, floors, number = [], [], count(1)
    for _ in range(ROUNDS + 1):
        ours.append(paid(meter, shop.orders(payers), cookies))
        floors.append(debited(meter, least, [next(number) % ACCOUNTS + 1 if "spread" in name else 1 for _ in payers]))
    costs, lowest = [cost for cost, _ in ours[1:]], floors[1:]
    ratio, statements = median_ratio(costs, lowest), ours[-1][1]
    result.rows.append(
        {
            "what": name,
            "cpu_ms": median_cpu(costs) / len(payers) * 1e3,
            "floor_ms": median_cpu(lowest) / len(payers) * 1e3,
            "ratio": ratio,
            "statements": statements,
        }
    )
    result.checks.append(Check(f"{name}: processor time by the floor's", ratio, most=MOST))
    result.checks.append(Check(f"{name}: statements", statements, most=STATEMENTS))


def paid(meter: Meter, orders: Sequence[Order], cookies: dict[int, str]) -> tuple[Cost, int]:
    """Pay the orders but one, which is paid first to load and to count: what the others took, and its statements."""
    first, *others = orders

    def pay(order: Order) -> None:
        path = f"/orders/{order.number}/pay/balance/"
        expect(site.post(path, cookies[order.customer_id]), HTTPStatus.FOUND, f"/orders/{order.number}/")

    with Site().open() as site:
        with counted() as statements:
            pay(first)
        with meter.reading() as cost:
            for order in others:
                pay(order)
    settled = Order.objects.filter(pk__in=[order.pk for order in orders], state=Order.State.SETTLED).count()
    if settled != len(orders):
        raise RuntimeError(f"{settled} of {len(orders)} orders were paid")
    return scaled(cost, len(orders) / len(others)), len(statements.sent)


def debited(meter: Meter, least: Site, purses: Sequence[int]) -> Cost:
    with least.open(warm="/hello") as site, meter.reading() as cost:
        for purse in purses:
            expect(site.post(f"/debit?purse={purse}"), HTTPStatus.CREATED)
    return cost


def scaled(cost: Cost, by: float) -> Cost:
    return Cost(cost.own * by, cost.database * by, cost.wall * by)


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
