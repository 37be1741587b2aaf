"""Any sequence of what people, networks and clocks do: the books stay right, and nobody's money is lost or invented."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, note
from hypothesis import settings as hypothesis
from hypothesis import strategies as st
from story import Network, ask, books_are_right, make_customer, make_offer, save_order

from events.relay import drain
from orders.actions import cancel_order
from orders.errors import Refused
from orders.models import Hold, Order
from orders.tasks import end_holds, expire_orders
from payments.actions import intents
from payments.models import Allocation, ChainTransfer, PaymentIntent
from payments.standing import Quote, Settlement
from provisioning.models import Rental

pytestmark = [pytest.mark.django_db, pytest.mark.invariants]
T0 = datetime(2026, 5, 1, 12, tzinfo=UTC)


@dataclass
class World:
    """Two orders of one customer, a rival for their lots, and the simulated network."""

    network: Network
    clock: time_machine.Traveller
    orders: list[Order] = field(default_factory=list)
    settled: set[Any] = field(default_factory=set)

    def begin(self) -> None:
        self.customer, self.offer = make_customer(), make_offer(lots=2)
        self.network.mine(3)  # so that there is something to reorganise
        self.rival = make_customer("bob@example.com")
        self.orders = [save_order(self.customer, self.offer) for _ in range(2)]

    def intents(self) -> list[PaymentIntent]:
        return list(PaymentIntent.objects.select_related("address").order_by("created_at", "pk"))

    # --- what may happen; `n` chooses among what there is ---------------------------------------------------------
    def ask_eth(self, n: int) -> None:
        self.network.price()
        ask(self.orders[n % 2], "eth")

    def ask_usdt(self, n: int) -> None:
        self.network.price()
        ask(self.orders[n % 2], "usdt-ethereum")

    def pay(self, n: int) -> None:
        if made := self.intents():
            intent = made[n % len(made)]
            parts = (1000, 500, 996, 990, 1100, 1500, 1, 500)
            self.network.pay(intent, max(intent.amount * parts[n % 8] // 1000, 1))

    def pay_exactly(self, n: int) -> None:
        if made := self.intents():
            self.network.pay(made[n % len(made)])

    def mine(self, n: int) -> None:
        self.network.mine(1 + n % 4)

    def mine_unseen(self, n: int) -> None:
        self.network.chain.mine(1 + n % 2)

    def wait(self, n: int) -> None:
        minutes = (1, 10, 16, 61, 200, 1500)[n % 6]
        self.clock.move_to(timezone.now() + timedelta(minutes=minutes))

    def go_down(self, n: int) -> None:
        self.network.chain.go_down()

    def come_up(self, n: int) -> None:
        self.network.chain.come_up()
        self.network.watch()

    def reorg(self, n: int) -> None:
        if self.network.chain.recent(1):
            self.network.chain.reorg(1 + n % 2, keep=n % 3 != 0)

    def drop(self, n: int) -> None:
        if pool := [sent for sent in self.network.chain.recent(50) if sent.block is None]:
            self.network.chain.drop(pool[n % len(pool)].txid)

    def declare(self, n: int) -> None:
        if made := self.intents():
            intents.declare(made[n % len(made)].pk, actor=self.customer)

    def cancel_intent(self, n: int) -> None:
        if made := self.intents():
            intents.cancel(made[n % len(made)].pk, actor=self.customer)

    def cancel_order(self, n: int) -> None:
        cancel_order(self.orders[n % 2].pk, actor=self.customer)

    def pay_from_balance(self, n: int) -> None:
        intents.pay_from_balance(self.orders[n % 2].pk, actor=self.customer)

    def timers(self, n: int) -> None:
        end_holds()
        expire_orders()
        drain()

    def rival_comes(self, n: int) -> None:
        save_order(self.rival, self.offer)

    def rival_goes(self, n: int) -> None:
        if left := Order.objects.filter(customer=self.rival, state=Order.State.OPEN).first():
            cancel_order(left.pk, actor=self.rival)

    def price(self, n: int) -> None:
        self.network.price()

    # --- what must hold -------------------------------------------------------------------------------------------
    def check(self) -> None:
        books_are_right()
        now_settled = set(PaymentIntent.objects.filter(settlement=Settlement.SETTLED).values_list("pk", flat=True))
        assert self.settled <= now_settled, "a settled promise became something else"
        self.settled = now_settled
        assert not PaymentIntent.objects.filter(settlement=Settlement.SETTLED, quote=Quote.EXPIRED, funding="none")
        for order in Order.objects.all():
            own = order.intents.filter(settlement=Settlement.SETTLED).count()
            assert own <= (order.state == Order.State.SETTLED), "one settlement per order"
        self.offer.refresh_from_db()
        assert 0 <= self.offer.taken <= self.offer.lots

    def finish(self) -> None:
        """Let everything that is on its way arrive, and look again."""
        self.network.chain.come_up()
        self.clock.move_to(timezone.now() + timedelta(hours=2))  # promises end, and parts of them become credit
        self.network.price()
        for _ in range(3):
            self.network.mine(4)
        self.timers(0)
        self.check()
        counting = ChainTransfer.objects.known().that_count()
        assert not counting.filter(credited=False).exists(), "money that is final was not credited"
        for row in counting:
            allocation = Allocation.objects.get(transfer=row)
            assert allocation.locked_amount + allocation.market_amount == row.amount
        for order in Order.objects.filter(state=Order.State.SETTLED):
            held = Hold.objects.filter(order=order, state=Hold.State.HELD).exists()
            assert Rental.objects.filter(order=order).exists() == held, "paid and held is queued, and nothing else is"
        for intent in self.intents():
            on_time = [t for t in counting.filter(intent=intent) if known_at(t) <= intent.expires_at]
            if intent.quote != Quote.CANCELLED and sum(t.amount for t in on_time) >= intent.amount:
                assert intent.quote != Quote.EXPIRED or intent.unwatched or intent.settlement != Settlement.UNSETTLED
                order = Order.objects.get(intents=intent)
                assert order.state != Order.State.OPEN, "who paid in time has a paid order, unless it was closed"


def known_at(transfer: ChainTransfer) -> datetime:
    return min(transfer.first_seen_at, transfer.block_time or transfer.first_seen_at)


STEPS = [
    "ask_eth", "ask_eth", "ask_usdt", "pay", "pay", "pay_exactly", "pay_exactly", "mine", "mine", "mine", "mine_unseen",
    "wait", "wait", "go_down", "come_up", "come_up", "reorg", "drop", "declare", "cancel_intent", "cancel_order",
    "pay_from_balance", "timers", "timers", "price", "rival_comes", "rival_goes",
]  # fmt: skip


@hypothesis(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(steps=st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 23)), max_size=25))
def test_invariants_1_to_4_and_8_hold_after_every_step_of_any_sequence(
    db: None, settings: Any, tmp_path: Path, steps: list[tuple[str, int]]
) -> None:
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder, time_machine.travel(T0, tick=False) as clock:
        settings.DATA_DIR = Path(folder)
        with rolled_back():
            world = World(Network().open(), clock)
            world.begin()
            for name, n in steps:
                take(getattr(world, name), n)
                world.check()
            world.finish()


@contextmanager
def rolled_back() -> Iterator[None]:
    """Undo what one example wrote. Durable transactions may nest in it as they do in the test case's own."""
    atomic = transaction.atomic()
    atomic._from_testcase = True  # type: ignore[attr-defined]
    with atomic:
        yield
        transaction.set_rollback(True)


def take(step: Callable[[int], None], n: int) -> None:
    """Take one step; a refusal changes nothing and is no fault."""
    try:
        step(n)
    except Refused as refused:
        note(f"{step.__name__}({n}) was refused: {refused}")
