"""A worker killed anywhere between transfer and rental, and started again, ends as one that was never killed."""

import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.db import connection
from django.utils import timezone
from killing import KILLED, Ended
from story import Network, ask, books_are_right, cursor, kinds, make_customer, make_offer, save_order
from together import Work

from balance.models import Movement
from balance.queries import statement
from catalog.models import Offer
from config.embedded import Tasks
from events.models import Delivery
from events.relay import drain
from orders.models import Order
from payments import watcher
from payments.actions import watching
from payments.models import ReservedAddress
from provisioning.models import Rental

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]
POINTS = 24


@dataclass
class Shop:
    """An offer, and orders for it that were paid while no worker ran."""

    network: Network
    offer: Offer
    customers: int = 0

    def two_paid_orders(self) -> tuple[Order, Order]:
        """Return an order whose payment is in a block already, and one whose payment still waits in the pool."""
        mined = self.order()
        self.network.pay(ask(mined))
        self.network.chain.mine()
        waiting = self.order()
        self.network.pay(ask(waiting))
        return mined, waiting

    def order(self) -> Order:
        self.customers += 1
        return save_order(make_customer(f"p{self.customers}@example.com"), self.offer, lots=2)


@pytest.fixture
def shop(network: Network) -> Shop:
    return Shop(network, make_offer(lots=1000))


def run_the_worker(network: Network, now: datetime | None = None) -> None:
    """Do what workers do from the first sight of a payment to the queued rental: three passes, then the relay."""
    with time_machine.travel(now or datetime.now().astimezone()):
        watcher.watch(network.code)
        for blocks in (1, 3):
            network.chain.mine(blocks)
            watcher.watch(network.code)
        drain()


def run_again(network: Network) -> Work:
    """Return the work of a worker that is started after a killed one, once the dead one's lease is over."""
    leased_until = cursor().leased_until
    assert leased_until - timezone.now() <= watching.LEASE
    return lambda: run_the_worker(network, leased_until + timedelta(seconds=1))


def run_as_the_only_worker(network: Network) -> None:
    """Do what the worker of `./run` does when it is started after a killed one: it need not wait for the lease."""
    watching.free_leases()
    run_the_worker(network)


def picture(*orders: Order) -> list[dict[str, Any]]:
    """Return everything that became of each order, without what must differ: names and times."""
    return [picture_of(order) for order in orders]


def picture_of(order: Order) -> dict[str, Any]:
    order.refresh_from_db()
    intent = order.intents.get()
    transfer = intent.transfers.get()
    allocation = transfer.allocations.get()
    return {
        "order": (order.state, order.payment, order.settled_at is not None),
        "intent": (intent.quote, intent.funding, intent.settlement, intent.late, intent.unwatched),
        "transfer": (transfer.status, transfer.credited, transfer.amount),
        "allocation": (allocation.live, allocation.locked_amount, allocation.market_amount, allocation.usd_cents),
        "balance": [(row.movement.kind, row.amount_cents, row.balance_cents) for row in statement(order.customer)],
        "holds": [(hold.state, hold.lots, hold.until) for hold in order.holds.all()],
        "rental": Rental.objects.get(order=order).state,
        "events": kinds(order),
    }


def nothing_is_left_over(shop: Shop) -> None:
    """Fail if there is more in the database than a credit, a capture and an address for each order."""
    assert Movement.objects.count() == 2 * shop.customers
    assert ReservedAddress.objects.exclude(issued_at=None).count() == shop.customers
    assert not Delivery.objects.filter(done_at=None).exists()
    books_are_right()


def spread(steps: int, point: int) -> int:
    """Return the number of a step, from the first (point 0) to the last (point POINTS - 1)."""
    return 1 + point * (steps - 1) // (POINTS - 1)


@pytest.mark.parametrize("point", range(POINTS))
def test_killed_before_a_statement_and_started_again_it_ends_the_same(shop: Shop, child: Any, point: int) -> None:
    spared = shop.two_paid_orders()
    whole: Ended = child(lambda: run_the_worker(shop.network))
    assert whole.status == 0
    as_it_should_be = picture(*spared)
    assert {one["rental"] for one in as_it_should_be} == {Rental.State.QUEUED}

    struck = shop.two_paid_orders()
    killed: Ended = child(lambda: run_the_worker(shop.network), spread(len(whole.steps), point))
    assert killed.status == KILLED
    again: Ended = child(run_again(shop.network))
    assert again.status == 0
    assert picture(*struck) == as_it_should_be, f"killed before: {killed.steps[-1]}"
    nothing_is_left_over(shop)


@pytest.mark.parametrize("offset", [0, 1], ids=["before", "after"])
def test_killed_around_any_commit_it_ends_the_same(shop: Shop, child: Any, offset: int) -> None:
    spared = shop.two_paid_orders()
    whole: Ended = child(lambda: run_the_worker(shop.network))
    as_it_should_be = picture(*spared)
    assert len(whole.commits) >= 15
    steps = [step + offset for step in whole.commits if step + offset <= len(whole.steps)]
    watcher.fill_reserve(shop.network.code, 2 * len(steps))
    for step in steps:
        struck = shop.two_paid_orders()
        killed: Ended = child(lambda step=step: run_the_worker(shop.network), step)
        assert killed.status == KILLED
        assert (killed.steps[-1] == "COMMIT") is (offset == 0)
        assert child(lambda: run_as_the_only_worker(shop.network)).status == 0
        assert picture(*struck) == as_it_should_be, f"killed before step {step}: {killed.steps[-1]}"
        nothing_is_left_over(shop)


def test_killed_ten_times_in_a_row_on_its_way_it_still_arrives(shop: Shop, child: Any) -> None:
    spared = shop.two_paid_orders()
    assert child(lambda: run_the_worker(shop.network)).status == 0
    struck = shop.two_paid_orders()
    for step in range(6, 66, 6):
        assert child(lambda: run_as_the_only_worker(shop.network), step).status == KILLED
    assert child(lambda: run_as_the_only_worker(shop.network)).status == 0
    assert picture(*struck) == picture(*spared)
    nothing_is_left_over(shop)


def test_the_command_that_checks_the_books_finds_them_right_after_a_kill(shop: Shop, child: Any) -> None:
    struck, _ = shop.two_paid_orders()
    assert child(lambda: run_the_worker(shop.network), 100).status == KILLED
    assert "The books are right" in verifyledger()  # also between a kill and the restart
    assert child(run_again(shop.network)).status == 0
    assert "The books are right" in verifyledger()
    Offer.objects.filter(pk=struck.offer_id).update(taken=1)
    assert "1 lots are taken, holds keep 4" in verifyledger(status=1)


def verifyledger(status: int = 0) -> str:
    """Run the command as an operator does, on the database of this test; return what it said."""
    database = connection.settings_dict
    url = f"sqlite:///{database['NAME']}"
    if connection.vendor == "postgresql":
        secret = f":{database['PASSWORD']}" if database["PASSWORD"] else ""
        url = f"postgres://{database['USER']}{secret}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
    done = subprocess.run(
        [sys.executable, "manage.py", "verifyledger"],
        cwd=settings.BASE_DIR,
        env=os.environ | {"DATABASE_URL": url},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done.stdout


def test_the_lease_of_a_killed_watcher_ends_with_the_start_of_the_only_worker(
    shop: Shop, child: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert child(lambda: run_the_worker(shop.network), 9).status == KILLED
    assert cursor().leased_until > timezone.now()
    assert not shop.network.watch()
    monkeypatch.setattr("config.embedded.app.WorkController", WorkerWithoutWork)
    Tasks()._work()
    assert shop.network.watch()


class WorkerWithoutWork:
    def __init__(self, **_: Any) -> None: ...

    def start(self) -> None: ...


def test_a_watcher_that_is_slow_but_alive_keeps_its_lease(shop: Shop) -> None:
    turn = watching.claim(shop.network.code)
    assert turn is not None
    match = watcher.matching(shop.network.code, turn.turn)
    with time_machine.travel(timezone.now() + watching.LEASE * 3 / 4):
        match(["an address of some block"])
    with time_machine.travel(timezone.now() + watching.LEASE * 5 / 4):
        assert watching.claim(shop.network.code) is None
    with time_machine.travel(timezone.now() + watching.LEASE * 2):
        assert watching.claim(shop.network.code) is not None
