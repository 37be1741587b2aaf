"""The state machine: every verb of `World` as a rule, every invariant after each step, everything at the end."""

import sys
from collections import Counter
from contextlib import ExitStack
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from invariants.checks import Past, check, check_all
from invariants.world import Base, World

from events.models import Event
from payments.registry import families

FEW = st.integers(0, 9)
YES = st.booleans()
PAIR = st.tuples(FEW, FEW)
CUT: dict[str, tuple[Any, ...]] = {  # what may be cut off, with its arguments
    "timers": (), "deliver": (), "pay_from_balance": (0,), "settle_by_hand": (0,),
    "approve": (0, 1), "move_to_balance": (0,), "cancel_order": (0,), "ask": (0, 1), "ask_for_topup": (0, 1),
    "cancel_intent": (0,), "decide": (0, "credited"), "take_stock": (0,), "place_order": (2, 1, False),
}  # fmt: skip


class Shop(RuleBasedStateMachine):
    """One shop. `base` is set by the test; `done` counts steps, verbs and kinds of events over all examples."""

    base: ClassVar[Base]
    done: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.world: World = self.stack.enter_context(self.base.world())
        self.past = Past()

    def take(self, verb: str, *arguments: Any) -> None:
        self.world.take(verb, *arguments)
        Shop.done.update(("steps", verb))
        if self.world.written():
            check(self.world, self.past)

    def teardown(self) -> None:
        try:
            if sys.exc_info()[0] is None:
                self.world.calm_down()
                check_all(self.world, self.past)
        finally:
            Shop.done.update({"power cuts": self.world.killed, "refusals": self.world.refused})
            Shop.done.update(Event.objects.values_list("kind", flat=True))
            self.stack.close()

    @initialize(pair=PAIR, methods=PAIR, lots=st.sampled_from((1, 2, 6)), late=YES, dear=YES, topup=YES)
    def open(
        self, pair: tuple[int, int], methods: tuple[int, int], lots: int, late: bool, dear: bool, topup: bool
    ) -> None:
        """Begin with two orders, or an order and a top-up, that were asked for: else most examples are about nothing.

        Each example is about one or two networks, so that looking does not take longer the more there are.
        """
        known = list(families())
        self.world.codes = {known[n % len(known)] for n in pair}
        self.take("place_order", 0, lots, False)
        self.take("ask", 0, methods[0], False, late)
        if topup:
            self.take("top_up", 1, methods[1])
            self.take("ask_for_topup", 0, methods[1])
        else:
            self.take("place_order", 1, 1, dear)
            self.take("ask", 0, methods[1], True, False)

    # --- customers ----------------------------------------------------------------------------------------------------
    @rule(who=st.integers(0, 2), lots=st.sampled_from((1, 1, 2, 6)), dear=st.sampled_from((False, False, True)))
    def place_order(self, who: int, lots: int, dear: bool) -> None:
        self.take("place_order", who, lots, dear)

    @rule(who=st.integers(0, 2), which=FEW)
    def top_up(self, who: int, which: int) -> None:
        self.take("top_up", who, which)

    @rule(n=FEW, which=FEW, exchange=YES, pay_if_late=YES)
    def ask(self, n: int, which: int, exchange: bool, pay_if_late: bool) -> None:
        self.take("ask", n, which, exchange, pay_if_late)

    @rule(n=FEW, which=FEW, share=FEW, pay_if_late=YES)
    def ask_and_pay(self, n: int, which: int, share: int, pay_if_late: bool) -> None:
        self.take("ask", n, which, False, pay_if_late)
        self.take("pay", 9, share)

    @rule(n=FEW, which=FEW, exchange=YES)
    def ask_for_topup(self, n: int, which: int, exchange: bool) -> None:
        self.take("ask_for_topup", n, which, exchange)

    @rule(n=FEW)
    def declare(self, n: int) -> None:
        self.take("declare", n)

    @rule(n=FEW)
    def cancel_intent(self, n: int) -> None:
        self.take("cancel_intent", n)

    @rule(n=FEW, wanted=YES)
    def choose_late(self, n: int, wanted: bool) -> None:
        self.take("choose_late", n, wanted)

    @rule(n=FEW)
    def cancel_order(self, n: int) -> None:
        self.take("cancel_order", n)

    @rule(n=FEW)
    def pay_from_balance(self, n: int) -> None:
        self.take("pay_from_balance", n)

    @rule(n=FEW)
    def move_to_balance(self, n: int) -> None:
        self.take("move_to_balance", n)

    # --- wallets ------------------------------------------------------------------------------------------------------
    @rule(n=FEW, share=FEW)
    def pay(self, n: int, share: int) -> None:
        self.take("pay", n, share)

    @rule(n=FEW, share=FEW)
    def pay_and_wait(self, n: int, share: int) -> None:
        self.take("pay_and_wait", n, share)

    @rule(n=FEW, share=FEW, minutes=st.sampled_from((5, 29, 45, 600)), look=YES)
    def pay_late(self, n: int, share: int, minutes: int, look: bool) -> None:
        self.take("wait_for_end", n, minutes, look)
        self.take("sample")
        self.take("pay_and_wait", n, share)

    @rule(n=FEW, which=FEW, share=FEW, minutes=st.sampled_from((1, 60, 1500)))
    def pay_in_an_outage(self, n: int, which: int, share: int, minutes: int) -> None:
        """Pay in time while the node is away; it comes back with another step."""
        self.take("ask", n, which)
        self.take("go_down", 9)
        self.take("pay", 9, share)
        self.take("mine", 9, 1)
        self.take("wait_for_end", 9, minutes, True)

    @rule(n=FEW, which=FEW, back=YES)
    def pay_for_lots_that_are_gone(self, n: int, which: int, back: bool) -> None:
        self.take("ask", n, which)
        self.take("lots_are_gone", n)
        self.take("pay_and_wait", 9, 0)
        self.take("move_to_balance" if back else "take_stock", 0)

    @rule(n=FEW, keep=YES, blocks=st.integers(0, 4))
    def pay_and_lose_it_after_finality(self, n: int, keep: bool, blocks: int) -> None:
        self.take("pay_and_wait", n, 0)
        self.take("reorg", 0, 6, keep, False)
        self.take("mine", 0, blocks)

    @rule(n=FEW, parts=st.integers(1, 4))
    def pay_in_parts(self, n: int, parts: int) -> None:
        self.take("pay_in_parts", n, parts)

    @rule(n=FEW, zero=YES)
    def pay_next_to_nothing(self, n: int, zero: bool) -> None:
        self.take("log_of_zero" if zero else "pay_dust", n)

    @rule(n=FEW, which=FEW, cents=FEW)
    def pay_other_asset(self, n: int, which: int, cents: int) -> None:
        self.take("pay_other_asset", n, which, cents)

    @rule(n=FEW, which=FEW)
    def pay_much_of_another_asset_and_decide(self, n: int, which: int) -> None:
        self.take("pay_other_asset", n, which, 1)
        self.take("mine", 0, 4)
        self.take("decide", 0, "credited")
        self.take("watch")

    @rule(n=FEW)
    def pay_unknown_token(self, n: int) -> None:
        self.take("pay_unknown_token", n)

    @rule(n=FEW, elsewhere=YES)
    def raise_fee(self, n: int, elsewhere: bool) -> None:
        self.take("raise_fee", n, elsewhere)

    @rule(n=FEW)
    def drop(self, n: int) -> None:
        self.take("drop", n)

    # --- networks -----------------------------------------------------------------------------------------------------
    @rule(n=FEW, blocks=st.integers(1, 4))
    def mine(self, n: int, blocks: int) -> None:
        self.take("mine", n, blocks)

    @rule(n=FEW, blocks=st.integers(1, 4))
    def mine_unseen(self, n: int, blocks: int) -> None:
        self.take("mine_unseen", n, blocks)

    @rule(n=FEW, depth=st.sampled_from((1, 2, 4, 6)), keep=YES, reorder=YES)
    def reorg(self, n: int, depth: int, keep: bool, reorder: bool) -> None:
        self.take("reorg", n, depth, keep, reorder)

    @rule(n=FEW)
    def go_down(self, n: int) -> None:
        self.take("go_down", n)

    @rule(n=FEW)
    def come_up(self, n: int) -> None:
        self.take("come_up", n)
        self.take("watch")

    @rule(n=FEW, blocks=st.sampled_from((0, 0, 1, 3)))
    def lag(self, n: int, blocks: int) -> None:
        self.take("lag", n, blocks)

    @rule(n=FEW, mood=st.sampled_from(("none", "agrees", "disagrees", "down")))
    def second_provider(self, n: int, mood: str) -> None:
        self.take("second_provider", n, mood)

    # --- clocks and markets -------------------------------------------------------------------------------------------
    @rule(which=FEW)
    def wait(self, which: int) -> None:
        self.take("wait", which)

    @rule(seconds=st.integers(1, 90))
    def clock_goes_back(self, seconds: int) -> None:
        self.take("clock_goes_back", seconds)

    @rule(eth=st.sampled_from(("3000", "2970", "1500", "6000")), stable=st.sampled_from(("1", "0.999", "0.97")))
    def price_moves(self, eth: str, stable: str) -> None:
        self.take("price_moves", eth, stable)
        self.take("sample")

    @rule()
    def price_is_missing(self) -> None:
        self.take("price_is_missing")

    # --- workers ------------------------------------------------------------------------------------------------------
    @rule(what=st.sampled_from(sorted(CUT)), statement=st.integers(1, 20))
    def cut_an_action(self, what: str, statement: int) -> None:
        """Cut what a person or a timer does off before a statement."""
        self.world.cut = statement
        self.take(what, *CUT[what])

    @rule(statement=st.integers(1, 90), blocks=st.integers(1, 4))
    def cut_a_pass(self, statement: int, blocks: int) -> None:
        """Cut a pass over something new off before a statement; a later one goes on."""
        self.take("ask", 0, 0)
        self.take("pay", 9, 0)
        self.world.cut = statement
        self.take("mine", 0, blocks)

    @rule()
    def watch_twice(self) -> None:
        self.take("watch_twice")

    @rule(n=FEW)
    def overtaken_pass(self, n: int) -> None:
        self.take("overtaken_pass", n)

    @rule()
    def timers(self) -> None:
        self.take("timers")

    @rule(again=YES)
    def deliver(self, again: bool) -> None:
        self.take("deliver_again" if again else "deliver")

    # --- operators ----------------------------------------------------------------------------------------------------
    @rule(n=FEW, outcome=st.sampled_from(("credited", "kept")))
    def decide(self, n: int, outcome: str) -> None:
        self.take("decide", n, outcome)

    @rule(n=FEW)
    def settle_by_hand(self, n: int) -> None:
        self.take("settle_by_hand", n)

    @rule(n=FEW, who=st.integers(0, 1))
    def approve(self, n: int, who: int) -> None:
        self.take("approve", n, who)

    @rule(n=FEW)
    def withdraw(self, n: int) -> None:
        self.take("withdraw", n)

    @rule(n=FEW)
    def take_stock(self, n: int) -> None:
        self.take("take_stock", n)
