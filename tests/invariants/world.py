"""What people, networks and clocks may do, as verbs with plain numbers: `n` chooses among what there is.

One example is one world. It is undone by a rollback, so that it costs no flush and no fsync; the base (people, offers,
addresses, chains) is made once per test and shared.
"""

import logging
import random
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import time_machine
from django.db import connection, transaction
from django.utils import timezone
from invariants.power import Killed, Writes, cut_before
from story import Network, make_customer, make_offer, make_operator, save_order

from accounts.models import User
from catalog.models import Offer
from events.models import Delivery
from events.relay import drain
from orders.actions import cancel_order, end_hold, move_to_balance, take_stock
from orders.errors import Refused
from orders.models import Hold, Order
from orders.tasks import end_holds, expire_orders
from payments import watcher
from payments.actions import arriving, by_hand, intents, watching
from payments.actions.deciding import decide
from payments.actions.topups import make_topup
from payments.installation import birth
from payments.models import HandSettlement, NetworkCursor, PaymentIntent, ReviewItem, TopUp
from payments.networks.base import Cursor, Transfer, Unavailable
from payments.networks.simulated_chain import Sent
from payments.registry import Method, families, method, methods, node

T0 = datetime(2026, 5, 1, 12, tzinfo=UTC)
BLOCKS = 14  # before anything happens: more than any reorg here is deep
FAMOUS = ("payments", "orders", "events")  # loggers of code that catches what it must not stop for
SHARES = (1000, 1000, 500, 500, 997, 994, 250, 1050, 1300, 60_000)  # of the due, in thousandths
OTHER_CENTS = (500, 10_100, 700_000)
WAITS = (1, 5, 14, 16, 31, 61, 120, 1500, 15 * 24 * 60)  # minutes
Place = tuple[str, str, str]  # network, txid, position


class Violation(AssertionError):
    """An invariant does not hold."""


@dataclass
class Base:
    """What all examples of a test share."""

    folder: Path
    settings: Any
    customers: list[User]
    operators: list[User]
    offers: list[Offer]

    @classmethod
    def make(cls, folder: Path, settings: Any, *, lots: int = 6, addresses: int = 60) -> "Base":
        """Make people, two offers, and every network watched, with addresses and prices."""
        settings.DATA_DIR = folder
        settings.RESERVE_SIZE = addresses
        birth()
        with time_machine.travel(T0, tick=False):
            for code in families():
                network = Network(code)
                network.mine(BLOCKS)
                watcher.fill_reserve(code, addresses)
            Network().price()
            customers = [make_customer(f"p{n}@example.com") for n in range(3)]
            operators = [make_operator(f"op{n}@example.com") for n in range(2)]
            offers = [make_offer(lots=lots), make_offer(lots=2, price_cents=150_000, name="B200")]
        return cls(folder, settings, customers, operators, offers)

    @contextmanager
    def world(self, kind: "type[World] | None" = None) -> Iterator["World"]:
        """Yield a new world; everything in it is undone afterwards."""
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=self.folder)))
            for file in self.folder.glob("simulated-*.sqlite3"):
                shutil.copy(file, folder)
            self.settings.DATA_DIR = folder
            clock = stack.enter_context(time_machine.travel(T0, tick=False))
            stack.enter_context(drawn_numbers())
            faults = stack.enter_context(caught_faults())
            stack.enter_context(rolled_back())
            writes = Writes()
            stack.enter_context(connection.execute_wrapper(writes))
            yield (kind or World)(self, clock, faults, writes)


@contextmanager
def rolled_back() -> Iterator[None]:
    """Undo what was written inside. Durable transactions may nest in it as they do in the test case's own."""
    atomic = transaction.atomic()
    atomic._from_testcase = True  # type: ignore[attr-defined]
    with atomic:
        yield
        transaction.set_rollback(True)


@contextmanager
def drawn_numbers() -> Iterator[None]:
    """Draw the numbers of intents from `random`, which Hypothesis seeds: they decide who is advanced first, and an
    example must do the same each time."""
    column: Any = PaymentIntent._meta.get_field("id")
    usual = column._get_default
    column.__dict__["_get_default"] = lambda: uuid.UUID(int=random.getrandbits(128), version=4)
    try:
        yield
    finally:
        column.__dict__["_get_default"] = usual


class Faults(logging.Handler):
    """Keeps what was logged with a traceback: faults of ours that a pass outlives."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            self.found.append(f"{record.getMessage()}: {record.exc_info[1]!r}")


@contextmanager
def caught_faults() -> Iterator[list[str]]:
    handler, loggers = Faults(), [logging.getLogger(name) for name in FAMOUS]
    spoke = [log.propagate for log in loggers]
    for log in loggers:
        log.addHandler(handler)
        log.propagate = False
    try:
        yield handler.found
    finally:
        for log, before in zip(loggers, spoke, strict=True):
            log.removeHandler(handler)
            log.propagate = before


@dataclass
class World:
    """Three customers, two operators, two offers, every simulated network, and a clock that stands."""

    base: Base
    clock: time_machine.Traveller
    faults: list[str]
    writes: Writes
    changed: dict[str, str] = field(default_factory=dict)  # prices that moved, in USD
    priced: bool = True
    codes: set[str] = field(default_factory=set)  # the networks that are asked on; none: all
    cut: int | None = None  # the next verb is cut off before this statement
    seen_at: dict[Place, datetime] = field(default_factory=dict)  # when a complete pass first could see it
    refused: int = 0
    killed: int = 0

    # --- how a step is taken --------------------------------------------------------------------------------------
    def take(self, verb: str, *arguments: Any) -> None:
        """Do one thing. A refusal changes nothing and is no fault; after a cut, whoever holds a lease is dead."""
        cut, self.cut = self.cut, None
        try:
            with cut_before(cut):
                getattr(self, verb)(*arguments)
        except Refused:
            self.refused += 1
        except Killed:
            self.killed += 1
            watching.free_leases()

    def written(self) -> bool:
        """Tell whether anything was written since this was last asked: if not, what was checked is still so."""
        written, self.writes.seen = self.writes.seen, False
        return written

    # --- what there is --------------------------------------------------------------------------------------------
    def orders(self, **wanted: Any) -> list[Order]:
        return list(Order.objects.filter(**wanted).select_related("customer").order_by("pk"))

    def topups(self) -> list[TopUp]:
        return list(TopUp.objects.filter(state=TopUp.State.OPEN).order_by("pk"))

    def intents(self) -> list[PaymentIntent]:
        return list(PaymentIntent.objects.select_related("address", "customer").order_by("address_id"))

    def intent(self, n: int) -> PaymentIntent | None:
        """Return an intent, the newest ones more often."""
        made = self.intents()[::-1]
        return made[n % len(made) if n < 8 else 0] if made else None

    def networks(self) -> list[Network]:
        """Return those that anything was asked on: looking at all of them each time would be slow."""
        used = set(PaymentIntent.objects.values_list("network", flat=True))
        return [Network(code) for code in families() if code in used] or [Network()]

    def network(self, n: int) -> Network:
        used = self.networks()
        return used[n % len(used)]

    def pool(self) -> list[tuple[Network, Sent]]:
        return [(net, sent) for net in self.networks() for sent in net.chain.recent(500) if sent.block is None]

    # --- customers ------------------------------------------------------------------------------------------------
    def place_order(self, who: int, lots: int, dear: bool) -> None:
        save_order(self.base.customers[who], self.base.offers[dear], lots=1 if dear else lots)

    def top_up(self, who: int, which: int) -> None:
        amounts = self.base.settings.TOPUP_CENTS
        make_topup(self.base.customers[who], amounts[which % len(amounts)], form_key=uuid.uuid4())

    def ask(self, n: int, which: int, exchange: bool = False, pay_if_late: bool = False) -> None:
        if found := pick(self.orders(state=Order.State.OPEN)[::-1], n):
            chosen = self.ready(which)
            intents.open_intent(
                found.pk,
                chosen.code,
                form_key=uuid.uuid4(),
                actor=found.customer,
                exchange=exchange,
                pay_if_late=pay_if_late,
            )

    def ask_for_topup(self, n: int, which: int, exchange: bool = False) -> None:
        if found := pick(self.topups()[::-1], n):
            code = self.ready(which).code
            intents.open_topup_intent(found.pk, code, form_key=uuid.uuid4(), actor=found.customer, exchange=exchange)

    def ready(self, which: int) -> Method:
        """Return a method, with its price and its network just looked at."""
        chosen = pick([m for m in methods() if not self.codes or m.family.network in self.codes], which)
        assert chosen is not None
        self.sample()
        self.watch_one(Network(chosen.family.network))
        return chosen

    def declare(self, n: int) -> None:
        if intent := self.intent(n):
            intents.declare(intent.pk, actor=intent.customer)

    def cancel_intent(self, n: int) -> None:
        if intent := self.intent(n):
            intents.cancel(intent.pk, actor=intent.customer)

    def choose_late(self, n: int, wanted: bool) -> None:
        if intent := self.intent(n):
            intents.choose_late(intent.pk, pay_if_late=wanted, actor=intent.customer)

    def cancel_order(self, n: int) -> None:
        if order := pick(self.orders()[::-1], n):
            cancel_order(order.pk, actor=order.customer)

    def pay_from_balance(self, n: int) -> None:
        if order := pick(self.orders()[::-1], n):
            intents.pay_from_balance(order.pk, actor=order.customer)

    def move_to_balance(self, n: int) -> None:
        kept = Hold.objects.filter(state=Hold.State.HELD).values("order")
        waiting = Order.objects.filter(state=Order.State.SETTLED).exclude(pk__in=kept).order_by("pk")
        if order := pick(list(waiting), n):
            move_to_balance(order.pk, actor=order.customer)

    def lots_are_gone(self, n: int) -> None:
        """Let the timer end the hold of an open order, long after, and somebody take whatever is left."""
        order = pick(self.orders(state=Order.State.OPEN)[::-1], n)
        hold = order.holds.filter(state=Hold.State.HELD).first() if order else None
        if order and hold and hold.until:
            end_hold(order.pk, now=hold.until)
            left = Offer.objects.get(pk=hold.offer_id)
            save_order(self.base.customers[2], left, lots=min(left.available_lots, 10))

    # --- wallets --------------------------------------------------------------------------------------------------
    def pay(self, n: int, share: int) -> None:
        if intent := self.intent(n):
            Network(intent.network).pay(intent, max(intent.amount * SHARES[share % len(SHARES)] // 1000, 1))

    def pay_and_wait(self, n: int, share: int) -> None:
        """Pay, and let it become final with somebody looking all the time."""
        self.pay(n, share)
        self.watch()
        self.mine(0, 4)

    def pay_in_parts(self, n: int, parts: int) -> None:
        if intent := self.intent(n):
            first = intent.amount // (parts + 1)
            Network(intent.network).pay(intent, first)
            Network(intent.network).pay(intent, intent.amount - first)

    def pay_dust(self, n: int) -> None:
        if intent := self.intent(n):
            Network(intent.network).pay(intent, max(intent.amount // intent.usd_cents - 1, 1))

    def log_of_zero(self, n: int) -> None:
        """Let a log of value zero arrive, as address poisoners send them."""
        if intent := self.intent(n):
            asset = method(intent.method).asset
            address = intent.address.address
            with transaction.atomic(durable=True):
                arriving.store(
                    intent.network, Transfer("0" * 64, "log:9", address, 0, asset.method, asset.contract, None)
                )

    def pay_other_asset(self, n: int, which: int, cents: int) -> None:
        if intent := self.intent(n):
            others = [m.asset for m in methods() if m.family.network == intent.network and m.code != intent.method]
            if other := pick(others, which):
                rate = int(float(self.base.settings.DEMO_RATES[other.symbol]) * 100)
                units = OTHER_CENTS[cents % len(OTHER_CENTS)] * 10**other.decimals // rate
                Network(intent.network).chain.pay(
                    intent.address.address, units, method=other.method, contract=other.contract
                )

    def pay_unknown_token(self, n: int) -> None:
        if intent := self.intent(n):
            Network(intent.network).chain.pay(intent.address.address, 5, contract="0x" + "f" * 40)

    def raise_fee(self, n: int, elsewhere: bool) -> None:
        if waiting := pick(self.pool(), n):
            network, sent = waiting
            paid = sent.payment
            address = "sim" + "q" * 40 if elsewhere else paid.address
            network.chain.replace(sent.txid, address, paid.amount, method=paid.method, contract=paid.contract)

    def drop(self, n: int) -> None:
        if waiting := pick(self.pool(), n):
            waiting[0].chain.drop(waiting[1].txid)

    # --- networks -------------------------------------------------------------------------------------------------
    def mine(self, n: int, blocks: int) -> None:
        """Mine on every network and look."""
        for network in self.networks():
            network.chain.mine(blocks)
        self.watch()

    def mine_unseen(self, n: int, blocks: int) -> None:
        self.network(n).chain.mine(blocks)

    def reorg(self, n: int, depth: int, keep: bool, reorder: bool) -> None:
        self.network(n).chain.reorg(depth, keep=keep, reorder=reorder)

    def go_down(self, n: int) -> None:
        self.network(n).chain.go_down()

    def come_up(self, n: int) -> None:
        self.network(n).chain.come_up()

    def lag(self, n: int, blocks: int) -> None:
        self.network(n).chain.lag(blocks)

    def second_provider(self, n: int, mood: str) -> None:
        self.network(n).chain.second_provider(mood)

    # --- clocks and markets ---------------------------------------------------------------------------------------
    def wait(self, which: int) -> None:
        self.clock.move_to(timezone.now() + timedelta(minutes=WAITS[which % len(WAITS)]))

    def wait_for_end(self, n: int, minutes: int, look: bool) -> None:
        """Wait until so long after the end of a promise, with or without somebody who looks just then."""
        if intent := self.intent(n):
            self.clock.move_to(max(timezone.now(), intent.expires_at + timedelta(minutes=minutes)))
            if look:
                self.mine(0, 1)

    def clock_goes_back(self, seconds: int) -> None:
        self.clock.move_to(max(timezone.now() - timedelta(seconds=seconds), T0))

    def price_moves(self, eth: str, stable: str) -> None:
        self.changed, self.priced = {"ETH": eth, "USDT": stable}, True

    def price_is_missing(self) -> None:
        self.priced = False

    def sample(self) -> None:
        if self.priced:
            Network().price(self.changed)

    # --- workers --------------------------------------------------------------------------------------------------
    def watch(self) -> None:
        for network in self.networks():
            self.watch_one(network)

    def watch_one(self, network: Network) -> None:
        if network.watch():
            self.note_sight(network)

    def note_sight(self, network: Network) -> None:
        """Write down, apart from the shop's own books, since when a complete pass could see each payment."""
        for sent in network.chain.recent(500):
            place = (network.code, sent.txid, sent.position)
            self.seen_at[place] = min(self.seen_at.get(place, timezone.now()), timezone.now())

    def watch_twice(self) -> None:
        self.watch()
        self.watch()

    def overtaken_pass(self, n: int) -> None:
        """Let a slow watcher come back after another one took its turn: it must write nothing."""
        network = self.network(n)
        slow = watching.claim(network.code)
        if slow is None or network.chain.second_mood() == "down":
            return
        read = self.read(network, slow)
        NetworkCursor.objects.filter(pk=network.code).update(leased_until=timezone.now())
        self.watch_one(network)
        if read is not None:
            try:
                watching.record_batch(network.code, slow.turn, read)
            except watching.LostTurn:
                return
            raise Violation("a watcher that lost its turn wrote its old facts")

    def read(self, network: Network, cursor: NetworkCursor) -> Any:
        known = Cursor(cursor.genesis, tuple((height, block_hash) for height, block_hash in cursor.recent))
        try:
            return node(network.code).scan(known, watcher.matching(network.code, cursor.turn))
        except Unavailable:
            return None

    def timers(self) -> None:
        end_holds()
        expire_orders()

    def deliver(self) -> None:
        drain()

    def deliver_again(self) -> None:
        """Deliver every event a second time."""
        Delivery.objects.update(done_at=None)
        drain()

    # --- operators ------------------------------------------------------------------------------------------------
    def decide(self, n: int, outcome: str) -> None:
        if item := pick(list(ReviewItem.objects.filter(decided_at=None).order_by("pk")), n):
            chosen = ReviewItem.Outcome(outcome) if item.transfer_id else ReviewItem.Outcome.NOTED
            decide(item.pk, chosen, reason="looked at it", actor=self.base.operators[0])

    def settle_by_hand(self, n: int) -> None:
        if order := pick(self.orders(state=Order.State.OPEN), n):
            by_hand.settle_by_hand(order.pk, reason="cash", evidence="receipt", actor=self.base.operators[0])

    def approve(self, n: int, who: int) -> None:
        if proposed := pick(list(HandSettlement.objects.order_by("pk")), n):
            by_hand.approve(proposed.pk, actor=self.base.operators[who])

    def withdraw(self, n: int) -> None:
        if proposed := pick(list(HandSettlement.objects.order_by("pk")), n):
            by_hand.withdraw(proposed.pk, actor=self.base.operators[1])

    def take_stock(self, n: int) -> None:
        if order := pick(self.orders(state=Order.State.SETTLED), n):
            take_stock(order.pk, actor=self.base.operators[0])

    # --- the end --------------------------------------------------------------------------------------------------
    def calm_down(self) -> None:
        """Let everything that is on its way arrive: nodes answer, prices are known, promises and holds end."""
        self.cut = None
        watching.free_leases()
        for network in self.networks():
            network.chain.come_up()
            network.chain.lag(0)
            network.chain.second_provider("agrees")
        self.changed, self.priced = {}, True
        for minutes in (0, 120):
            self.clock.move_to(timezone.now() + timedelta(minutes=minutes))
            self.sample()
            self.mine(0, 4)
            self.timers()
            self.deliver()
        self.watch()


def pick[T](made: Sequence[T], n: int) -> T | None:
    return made[n % len(made)] if made else None
