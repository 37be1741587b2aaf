"""Invariants 2 and 5: whoever sees the same facts ends the same, whatever came first and however often it was killed.

What may depend on the order is left out on purpose: a cancellation and a settlement by hand, which are refused once
money was seen or the order is paid; lots that somebody else takes in between; two paid promises of one order, of which
the first to be judged pays it; a network that nobody watched for a day, where a promise ends before its money is found.
Each promise is judged in any order all the same: its number, by which they are sorted, is drawn anew in each world.
"""

from collections.abc import Sequence
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from invariants.checks import Past, check, check_all
from invariants.world import Base, World

from balance.models import Account
from events.relay import drain
from orders.models import Hold, Order
from orders.tasks import end_holds, expire_orders
from payments.actions import intents
from payments.actions.settling import advance
from payments.models import Allocation, ChainTransfer, PaymentIntent, ReviewItem
from payments.registry import node
from provisioning.models import Rental

pytestmark = [pytest.mark.django_db, pytest.mark.invariants]
SOME = settings(
    max_examples=20, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
Step = tuple[str, tuple[Any, ...]]
FEW = st.integers(0, 9)

FACTS = st.one_of(
    st.tuples(st.sampled_from(("pay", "pay_in_parts")), st.tuples(FEW, st.integers(1, 9))),
    st.tuples(st.just("pay_other_asset"), st.tuples(FEW, FEW, st.integers(0, 1))),
    st.tuples(st.sampled_from(("pay_dust", "pay_unknown_token")), st.tuples(FEW)),
    st.tuples(st.just("raise_fee"), st.tuples(FEW, st.booleans())),
    st.tuples(st.just("mine_everywhere"), st.tuples(st.integers(1, 4))),
    st.tuples(st.just("wait"), st.tuples(st.integers(0, 6))),
)
WORK = st.one_of(
    st.tuples(st.just("watch_with_lag"), st.tuples(st.integers(0, 4))),
    st.tuples(st.sampled_from(("declare", "judge")), st.tuples(st.integers(0, 2))),
    st.tuples(st.sampled_from(("end_holds", "expire_orders", "deliver", "watch")), st.just(())),
)


class Told(World):
    """A world whose facts come first, while nobody looks; or with workers between them."""

    def begin(self, methods: Sequence[int]) -> None:
        """Give each customer an order or a top-up of their own, asked for at once."""
        for who, which in enumerate(methods):
            if which % 3 == 2:
                self.take("top_up", who, 0)
                self.take("ask_for_topup", 0, which)
            else:
                self.take("place_order", who, 1, False)
                self.take("ask", 0, which)

    def mine_everywhere(self, blocks: int) -> None:
        for network in self.networks():
            network.chain.mine(blocks)

    def watch_with_lag(self, blocks: int) -> None:
        """Read from a node that is behind."""
        for network in self.networks():
            network.chain.lag(blocks)
            network.watch()
            network.chain.lag(0)

    def judge(self, n: int) -> None:
        """Advance a promise whether or not somebody has just watched."""
        made = self.intents()
        intent = made[n % len(made)]
        advance(intent.pk, now=timezone.now(), derived=node(intent.network).destination(intent.address.index))

    def declare(self, n: int) -> None:
        made = self.intents()
        intents.declare(made[n % len(made)].pk, actor=made[n % len(made)].customer)

    def end_holds(self) -> None:
        end_holds()

    def expire_orders(self) -> None:
        expire_orders()

    def come_to_rest(self) -> None:
        """Let everybody do their work until there is none, at the same moment."""
        for _ in range(2):
            self.watch()
            self.timers()
            drain()


def picture() -> dict[str, list[Any]]:
    """Return what became of everything, without names and times."""
    return {
        "orders": [picture_of_order(order) for order in Order.objects.order_by("pk")],
        "intents": [picture_of_intent(i) for i in PaymentIntent.objects.order_by("address_id")],
        "balances": list(
            Account.objects.exclude(customer=None)
            .order_by("customer_id")
            .values_list("customer", "balance_cents", "floor_cents")
        ),
        "reviews": sorted(ReviewItem.objects.values_list("reason", "outcome")),
    }


def picture_of_order(order: Order) -> tuple[Any, ...]:
    held = sum(Hold.objects.filter(order=order, state=Hold.State.HELD).values_list("lots", flat=True))
    return order.state, order.payment, held, Rental.objects.filter(order=order).exists(), order.needs_help_at


def picture_of_intent(intent: PaymentIntent) -> tuple[Any, ...]:
    rows = ChainTransfer.objects.filter(intent=intent)
    credits = Allocation.objects.filter(intent=intent, live=True)
    return (
        (intent.quote, intent.funding, intent.settlement, intent.late, intent.unwatched, intent.ended_at is not None),
        sorted((row.amount, row.method, row.status, row.credited, row.dust) for row in rows),
        sum(a.locked_amount for a in credits),
        sum(a.market_amount for a in credits),
        sum(a.usd_cents for a in credits),
    )


@SOME
@given(
    methods=st.lists(FEW, min_size=1, max_size=3),
    facts=st.lists(FACTS, min_size=3, max_size=12),
    work=st.lists(WORK, max_size=12),
)
def test_any_interleaving_that_sees_the_same_facts_ends_in_the_same_state(
    base: Base, methods: list[int], facts: list[Step], work: list[Step]
) -> None:
    plain = ended(base, methods, facts, [])
    other = ended(base, methods, facts, work)
    assert other == plain


def ended(base: Base, methods: list[int], facts: list[Step], work: list[Step]) -> dict[str, list[Any]]:
    """Return the picture of a world where these facts were there first, then this work was done, then all of it."""
    with base.world(Told) as world:
        assert isinstance(world, Told)
        world.begin(methods)
        for verb, arguments in facts:
            world.take(verb, *arguments)
        world.sample()
        past = Past()
        for verb, arguments in work:
            world.take(verb, *arguments)
            check(world, past)
        world.come_to_rest()
        check(world, past)
        return picture()


SCRIPT = st.one_of(FACTS, st.tuples(st.sampled_from(("watch", "timers", "deliver", "watch")), st.just(())))
CUTS = st.lists(st.integers(1, 160), min_size=1, max_size=4)


@SOME
@given(methods=st.lists(FEW, min_size=1, max_size=3), script=st.lists(SCRIPT, min_size=5, max_size=20), cuts=CUTS)
def test_killed_between_any_two_statements_and_restarted_it_ends_as_never_killed(
    base: Base, methods: list[int], script: list[Step], cuts: list[int]
) -> None:
    assert acted(base, methods, script, cuts) == acted(base, methods, script, [])


def acted(base: Base, methods: list[int], script: list[Step], cuts: list[int]) -> dict[str, list[Any]]:
    """Return the picture of a world where the script was done; every work of it is cut off at each of `cuts` first."""
    with base.world(Told) as world:
        assert isinstance(world, Told)
        world.begin(methods)
        past = Past()
        for verb, arguments in script:
            for cut in cuts if verb in ("watch", "timers", "deliver") else []:
                world.cut = cut
                world.take(verb, *arguments)
                check(world, past)
            world.take(verb, *arguments)
        note(f"{world.killed} times killed")
        world.calm_down()
        check_all(world, past)
        return picture()
