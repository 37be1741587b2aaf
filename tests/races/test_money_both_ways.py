"""One credit is sent back, undone, spent, paid out and taken back by the network at one moment: it is taken once."""

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.utils import timezone
from story import Network, ask, books_are_right, give, make_customer, make_offer, make_operator, save_order
from together import at_once, errors

from accounts.models import User
from balance.models import Movement
from payments.actions import adjusting, by_hand, intents, payouts
from payments.actions.refunds import Wanted, make_refund
from payments.models import ChainTransfer, HandSettlement, Payout
from payments.payouts import Figures, figures_of
from payments.registry import method

pytestmark = [pytest.mark.races, pytest.mark.django_db(transaction=True)]
WALLET = "0x" + "ab" * 20
# What may come of it; a deadlock or a lost lock would have another name.
REFUSALS = {
    "", "NotRefundable", "TooMuchToRefund", "SentBackAlready", "AlreadySpent", "CounteredAlready", "ReversedAlready",
    "NotThatMuch", "SpentOnOrder", "NotBacked", "PayoutMoved", "NotCovered", "OwnMoney", "RateMoved", "NotNow",
    "NotPayable",
}  # fmt: skip


def late_money(network: Network) -> tuple[ChainTransfer, Movement]:
    intent = ask(save_order(make_customer(), make_offer()))
    usdt = method("usdt-ethereum").asset
    network.chain.pay(intent.address.address, 90 * 10**6, method=usdt.method, contract=usdt.contract)
    network.settle()
    return ChainTransfer.objects.get(), Movement.objects.get(kind="transfer")


def refund(transfer: ChainTransfer, units: int, maker: User) -> int:
    wanted = Wanted(units, WALLET, "asked for")
    return make_refund(transfer.pk, wanted, form_key=uuid.uuid4(), actor=maker).pk


def request(customer: User, cents: int) -> int:
    found = figures_of(method("eth"), cents, timezone.now())
    assert isinstance(found, Figures), found
    key, shown = uuid.uuid4(), found.amount
    return payouts.request_payout(customer, "eth", cents, WALLET, shown_amount=shown, form_key=key).pk


def test_a_refund_and_a_counter_entry_of_one_credit_exclude_each_other(network: Network) -> None:
    transfer, credit = late_money(network)
    maker, operator = make_operator("maker@example.com"), make_operator()
    give(transfer.intent.customer, 1_000_000)
    works: list[Callable[[], object]] = [
        partial(refund, transfer, 45 * 10**6, maker),
        lambda: adjusting.counter(credit.pk, reason="a mistake", actor=operator).pk,
        partial(refund, transfer, 45 * 10**6, maker),
    ]
    outcomes = at_once(works)
    assert set(errors(outcomes)) <= {"", "SentBackAlready", "NotRefundable"}
    undone = Movement.objects.filter(reference=f"counter:{credit.pk}").exists()
    assert undone is not Payout.objects.exists()
    books_are_right()


def test_whatever_touches_one_customer_s_money_at_once_takes_turns(network: Network) -> None:
    """Everything that locks intents, payouts, customers and accounts: no deadlock, and the books are right."""
    transfer, credit = late_money(network)
    customer = transfer.intent.customer
    maker, operator = make_operator("maker@example.com"), make_operator()
    offer = transfer.intent.order.offer  # type: ignore[union-attr]
    other, third = save_order(customer, offer), save_order(customer, offer)
    gift = give(customer, 60_000)
    waiting = [request(customer, 2_000) for _ in range(3)]
    network.chain.reorg(5, keep=False)
    network.mine(6)
    works: list[Callable[[], object]] = [
        lambda: network.watch(),
        partial(refund, transfer, 30 * 10**6, maker),
        partial(refund, transfer, 60 * 10**6, operator),
        lambda: adjusting.counter(credit.pk, reason="a mistake", actor=operator).pk,
        lambda: adjusting.counter(gift.pk, reason="a mistake", actor=maker).pk,
        lambda: payouts.approve(waiting[0], actor=operator).pk,
        lambda: payouts.refuse(waiting[0], reason="no", actor=maker).pk,
        lambda: payouts.approve(waiting[1], actor=operator).pk,
        lambda: payouts.cancel(waiting[2], actor=customer).pk,
        partial(request, customer, 3_000),
        lambda: intents.pay_from_balance(other.pk, actor=customer).pk,
        lambda: by_hand.settle_by_hand(third.pk, reason="paper", evidence="receipt", actor=operator).pk,
    ]
    outcomes = at_once(works, processes=4)
    assert set(errors(outcomes)) <= REFUSALS, [one for one in outcomes if one.error]
    network.watch()
    books_are_right()


def test_one_person_settles_small_orders_alone_at_one_moment_up_to_the_limit(network: Network) -> None:
    """Each is below the limit; together they are above it, so the rest waits for a second person."""
    customer, offer, operator = make_customer(), make_offer(lots=20), make_operator()
    orders = [save_order(customer, offer, lots=2) for _ in range(4)]
    facts = {"reason": "cash", "evidence": "receipt", "actor": operator}
    at_once([partial(settle, order.pk, facts) for order in orders])
    states = HandSettlement.objects.values_list("state", flat=True)
    assert sorted(states) == ["done", "done", "proposed", "proposed"]
    books_are_right()


def settle(order_id: int, facts: dict[str, Any]) -> int:
    return by_hand.settle_by_hand(order_id, **facts).pk
