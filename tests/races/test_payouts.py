"""Money goes out at the same moment twice, or while it is taken back: it goes once, and never more than there is."""

import uuid
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone
from story import Network, ask, books_are_right, give, make_customer, make_offer, make_operator, save_order
from together import at_once, errors

from accounts.models import User
from balance.queries import balance_cents
from payments.actions import following, intents, payouts
from payments.actions.deciding import decide
from payments.actions.refunds import Wanted, make_refund
from payments.models import ChainTransfer, Payout, ReviewItem
from payments.payouts import Figures, figures_of, refundable_of
from payments.registry import method

pytestmark = [pytest.mark.races, pytest.mark.django_db(transaction=True)]
WALLET = "0x" + "ab" * 20
CROWD = 6
State = Payout.State


def request(customer: User, cents: int, key: uuid.UUID | None = None) -> int:
    figures = figures_of(method("eth"), cents, timezone.now())
    assert isinstance(figures, Figures), figures
    shown = figures.amount
    made = payouts.request_payout(customer, "eth", cents, WALLET, shown_amount=shown, form_key=key or uuid.uuid4())
    return made.pk


def test_two_requests_do_not_overdraw_one_balance(network: Network) -> None:
    customer = make_customer()
    give(customer, 10_000)
    outcomes = at_once([partial(request, customer, 6_000) for _ in range(CROWD)])
    assert errors(outcomes) == {"": 1, "NotThatMuch": CROWD - 1}
    assert balance_cents(customer) == 4_000
    books_are_right()


def test_one_form_sent_many_times_is_one_payout(network: Network) -> None:
    customer, key = make_customer(), uuid.uuid4()
    give(customer, 100_000)
    outcomes = at_once([partial(request, customer, 6_000, key) for _ in range(CROWD)])
    assert {outcome.value for outcome in outcomes} == {Payout.objects.get().pk}
    assert balance_cents(customer) == 94_000
    books_are_right()


def late_money(network: Network) -> ChainTransfer:
    """Let another asset arrive than was asked for: it becomes credit at the market's price."""
    intent = ask(save_order(make_customer(), make_offer()))
    usdt = method("usdt-ethereum").asset
    network.chain.pay(intent.address.address, 90 * 10**6, method=usdt.method, contract=usdt.contract)
    network.settle()
    return ChainTransfer.objects.get()


def refund(transfer: ChainTransfer, units: int, maker: User) -> int:
    wanted = Wanted(units, WALLET, "asked for")
    return make_refund(transfer.pk, wanted, form_key=uuid.uuid4(), actor=maker).pk


def test_refunds_of_one_transfer_never_exceed_what_was_received(network: Network) -> None:
    """Each takes more than half: one of them wins, whatever else the customer has in the balance."""
    transfer, maker = late_money(network), make_operator()
    give(transfer.intent.customer, 1_000_000)
    outcomes = at_once([partial(refund, transfer, 50 * 10**6, maker) for _ in range(CROWD)])
    assert errors(outcomes) == {"": 1, "TooMuchToRefund": CROWD - 1}
    assert refundable_of(transfer).left == 40 * 10**6
    books_are_right()


def test_a_refund_and_the_credit_of_the_same_transfer_exclude_each_other(network: Network) -> None:
    intent = ask(save_order(make_customer(), make_offer()))
    usdt = method("usdt-ethereum").asset
    network.chain.pay(intent.address.address, 101 * 10**6, method=usdt.method, contract=usdt.contract)
    network.settle()
    maker = make_operator()
    decide(ReviewItem.objects.get().pk, ReviewItem.Outcome.KEPT, reason="send it back", actor=maker)
    transfer = ChainTransfer.objects.get()
    claim = ReviewItem.objects.create(reason="claim", subject="inquiry:1", transfer=transfer)
    credit = partial(decide, claim.pk, ReviewItem.Outcome.CREDITED, reason="after all", actor=maker)
    outcomes = at_once([lambda: refund(transfer, 50 * 10**6, maker), lambda: bool(credit())])
    assert sorted(errors(outcomes)) in (["", "BeingRefunded"], ["", "NotRefundable"])
    network.price()
    network.settle()
    transfer.refresh_from_db()
    assert transfer.credited is not Payout.objects.exists()
    books_are_right()


def test_an_approval_and_a_cancellation_exclude_each_other(network: Network) -> None:
    customer, operator = make_customer(), make_operator()
    give(customer, 100_000)
    for _ in range(5):
        payout_id = request(customer, 2_000)
        works = [
            lambda pk=payout_id: payouts.approve(pk, actor=operator).pk,
            lambda pk=payout_id: payouts.cancel(pk, actor=customer).pk,
            lambda pk=payout_id: payouts.refuse(pk, reason="no", actor=operator).pk,
        ]
        at_once(works)
        payout = Payout.objects.get(pk=payout_id)
        assert payout.state in (State.APPROVED, State.CANCELLED, State.REFUSED)
        books_are_right()
        Payout.objects.filter(pk=payout_id).update(requested_at=timezone.now() - timedelta(hours=2))


def test_one_transaction_is_recorded_for_one_of_many_payouts_to_an_address(network: Network) -> None:
    customer, operator = make_customer(), make_operator()
    give(customer, 100_000)
    made = [request(customer, 2_000) for _ in range(4)]
    for pk in made:
        payouts.approve(pk, actor=operator)
    works = [lambda pk=pk: payouts.mark_sent(pk, txid="ab" * 32, actor=operator).pk for pk in made]
    assert errors(at_once(works)) == {"": 1, "TransactionUsed": 3}


def test_one_worker_looks_at_a_payout_and_another_transaction_is_not_overwritten(network: Network) -> None:
    customer, operator = make_customer(), make_operator()
    give(customer, 100_000)
    pk = request(customer, 2_000)
    payouts.approve(pk, actor=operator)
    payouts.mark_sent(pk, txid="ab" * 32, actor=operator)
    outcomes = at_once([lambda: following.claim(pk) is not None for _ in range(4)])
    assert sorted(bool(outcome.value) for outcome in outcomes) == [False, False, False, True]
    old = Payout.objects.get(pk=pk)
    following.settle(old, following.Sight(Payout.Problem.UNKNOWN))
    payouts.take_back(pk, actor=operator)
    payouts.mark_sent(pk, txid="cd" * 32, actor=operator)
    following.settle(old, following.Sight(Payout.Problem.OTHER))
    assert Payout.objects.get(pk=pk).problem == ""


def test_an_order_is_not_paid_with_what_a_payout_took(network: Network) -> None:
    """A payout and an order want the same money: one of them gets it."""
    customer = make_customer()
    give(customer, 10_000)
    order = save_order(customer, make_offer())
    works = [
        lambda: request(customer, 10_000),
        lambda: intents.pay_from_balance(order.pk, actor=customer).pk,
    ]
    outcomes = at_once(works)
    assert sorted(bool(outcome.error) for outcome in outcomes) == [False, True]
    assert balance_cents(customer) == 0
    books_are_right()
