"""Money is credited once and an order is paid once, however many workers and clicks there are (P14, L1, L2, L3)."""

import os
import uuid
from datetime import datetime, timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django.fixtures import Settings
from story import Network, ask, books_are_right, cursor, give, kinds, make_customer, make_offer, save_order
from together import Work, at_once, errors

from balance.actions import credit, debit
from balance.models import Account, House, Movement
from balance.queries import available_cents
from events.models import Delivery
from events.relay import drain
from orders import actions as orders
from orders.models import Hold, Order
from payments import watcher
from payments.actions import arriving, intents, settling
from payments.models import Allocation, ChainTransfer, PaymentIntent, ReservedAddress
from payments.networks.base import Cursor
from payments.registry import node
from provisioning.models import Rental

pytestmark = [pytest.mark.races, pytest.mark.django_db(transaction=True)]
WORKERS = 8
PRICE = 10_000  # cents of one lot
ROUNDS = int(os.environ.get("GRIDLOT_ROUNDS") or 30)


def work_once(intent_id: uuid.UUID) -> bool:
    """Do what a worker does: watch, and advance the intent also when another worker was watching."""
    watched = watcher.watch("ethereum")
    advance(intent_id)
    return watched


def advance(intent_id: uuid.UUID, *, now: datetime | None = None) -> None:
    intent = PaymentIntent.objects.select_related("address").get(pk=intent_id)
    derived = node("ethereum").destination(intent.address.index)
    settling.advance(intent_id, now=now or timezone.now(), derived=derived)


def paid_and_mined(network: Network, *, lots: int = 1) -> tuple[Order, PaymentIntent]:
    """Return an order with a final payment on the chain that nobody has looked at yet."""
    order = save_order(make_customer(), make_offer(), lots=lots)
    intent = ask(order)
    network.pay(intent)
    network.chain.mine(4)
    return order, intent


def find(network: Network) -> None:
    """Let a watcher write what the chain says and stop before anybody judges it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watcher, "advance_all", lambda *_, **__: None)
        assert network.watch()


def is_paid_once(order: Order) -> None:
    """Fail unless one transfer became one allocation, one credit, one capture and, once told, one rental."""
    order.refresh_from_db()
    assert (order.state, order.payment) == (Order.State.SETTLED, Order.Payment.PAID)
    assert ChainTransfer.objects.count() == 1
    assert Allocation.objects.count() == 1
    assert Movement.objects.filter(kind=Movement.Kind.TRANSFER).count() == 1
    assert Movement.objects.filter(kind=Movement.Kind.CAPTURE).count() == 1
    assert available_cents(order.customer) == 0
    for kind in ("transfer.seen", "transfer.final", "transfer.credited", "order.settled", "intent.settled"):
        assert kinds(order).count(kind) == 1, kind
    books_are_right()


def test_eight_workers_on_one_transfer_make_one_credit_one_capture_and_one_rental(network: Network) -> None:
    order, intent = paid_and_mined(network)
    outcomes = at_once([lambda: work_once(intent.pk)] * WORKERS)
    assert errors(outcomes) == {"": WORKERS}
    assert any(outcome.value for outcome in outcomes)
    network.watch()
    is_paid_once(order)

    relayed = at_once([drain] * WORKERS)
    told = sum(int(str(outcome.value)) for outcome in relayed)
    assert told == Delivery.objects.exclude(done_at=None).count() == 2  # the order starts a rental; it is told of
    assert Rental.objects.get().order == order
    assert kinds(order).count("rental.queued") == 1


def test_eight_workers_that_only_advance_a_final_transfer_credit_it_once(network: Network) -> None:
    order, intent = paid_and_mined(network)
    find(network)
    assert ChainTransfer.objects.get().status == ChainTransfer.Status.FINAL
    outcomes = at_once([lambda: advance(intent.pk)] * WORKERS)
    assert errors(outcomes) == {"": WORKERS}
    is_paid_once(order)


def test_p14_a_transfer_told_fifty_times_at_once_is_one_row_and_one_credit(network: Network) -> None:
    order, intent = paid_and_mined(network)
    row = cursor()
    read = node("ethereum").scan(Cursor(row.genesis, tuple(map(tuple, row.recent))), lambda addresses: set(addresses))

    def tell() -> None:
        with transaction.atomic():
            arriving.store("ethereum", read.transfers[0])
        advance(intent.pk)

    assert errors(at_once([tell] * 50, processes=4)) == {"": 50}
    assert kinds(order).count("transfer.seen") == 1
    network.settle()
    is_paid_once(order)


def test_one_form_sent_eight_times_is_one_order(network: Network) -> None:
    customer, offer, form_key = make_customer(), make_offer(), uuid.uuid4()
    outcomes = at_once([lambda: save_order(customer, offer, form_key=form_key).pk] * WORKERS)
    assert errors(outcomes) == {"": WORKERS}
    assert {outcome.value for outcome in outcomes} == {Order.objects.get().pk}
    assert Hold.objects.get().lots == 1
    books_are_right()


def test_one_form_sent_eight_times_is_one_promise_with_one_address(network: Network) -> None:
    order, form_key = save_order(make_customer(), make_offer()), uuid.uuid4()
    outcomes = at_once([lambda: str(ask(order, form_key=form_key).pk)] * WORKERS)
    assert errors(outcomes) == {"": WORKERS}
    assert {outcome.value for outcome in outcomes} == {str(PaymentIntent.objects.get().pk)}
    assert ReservedAddress.objects.exclude(issued_at=None).count() == 1


def test_eight_orders_that_ask_at_once_get_eight_addresses(network: Network) -> None:
    offer = make_offer()
    waiting = [save_order(make_customer(f"p{n}@example.com"), offer) for n in range(WORKERS)]
    outcomes = at_once([lambda order=order: ask(order).address.address for order in waiting])
    assert errors(outcomes) == {"": WORKERS}
    assert len({outcome.value for outcome in outcomes}) == WORKERS
    issued = ReservedAddress.objects.exclude(issued_at=None).values_list("index", flat=True)
    assert sorted(issued) == list(range(WORKERS))  # no gap: the operator's wallet finds them all


def test_one_order_never_has_more_live_promises_than_the_limit(network: Network) -> None:
    order = save_order(make_customer(), make_offer())
    outcomes = at_once([lambda: str(ask(order).pk)] * WORKERS)
    assert errors(outcomes) == {"": 3, "TooManyLive": WORKERS - 3}
    assert PaymentIntent.objects.filter(quote=PaymentIntent.Quote.OPEN).count() == 1


def test_one_customer_never_gets_more_addresses_an_hour_by_asking_at_once(network: Network, settings: Settings) -> None:
    settings.INTENTS_PER_HOUR = 3
    customer, offer = make_customer(), make_offer()
    waiting = [save_order(customer, offer) for _ in range(WORKERS)]
    outcomes = at_once([lambda order=order: str(ask(order).pk) for order in waiting])
    assert errors(outcomes) == {"": 3, "TooManyMade": WORKERS - 3}
    assert ReservedAddress.objects.exclude(issued_at=None).count() == 3


def test_a_double_click_on_pay_from_balance_takes_the_money_once(network: Network) -> None:
    ada = make_customer()
    give(ada, 3 * PRICE)
    order = save_order(ada, make_offer())
    outcomes = at_once([lambda: intents.pay_from_balance(order.pk, actor=ada).state] * WORKERS)
    assert errors(outcomes) == {"": WORKERS}
    assert available_cents(ada) == 2 * PRICE
    assert kinds(order).count("order.settled") == 1
    books_are_right()


def test_l1_of_two_orders_that_race_for_one_balance_one_is_paid(network: Network) -> None:
    ada, offer = make_customer(), make_offer(price_cents=15_000)
    give(ada, 20_000)
    first, second = save_order(ada, offer), save_order(ada, offer)
    outcomes = at_once([lambda o=order: intents.pay_from_balance(o.pk, actor=ada).state for order in (first, second)])
    assert errors(outcomes) == {"": 1, "BalanceTooSmall": 1}
    refusal = next(outcome.sentence for outcome in outcomes if outcome.error)
    assert "50.00" in refusal
    assert "150.00" in refusal
    assert available_cents(ada) == 5_000
    books_are_right()


def test_l2_the_first_credit_and_a_debit_at_the_same_moment_both_count(network: Network) -> None:
    ada = make_customer()

    def spend() -> None:
        with transaction.atomic():
            debit(ada, 100, house=House.ORDERS, kind=Movement.Kind.CAPTURE, reference="spend", actor=ada)

    outcomes = at_once([lambda: give(ada, 300).pk, spend, lambda: give(ada, 500).pk])
    assert not outcomes[0].error
    assert not outcomes[2].error
    assert outcomes[1].error in ("", "Overdrawn")
    spent = 0 if outcomes[1].error else 100
    account = Account.objects.get(customer=ada)
    assert account.balance_cents == 800 - spent
    assert sum(m.amount_cents for m in account.credits.all()) - spent == account.balance_cents


def test_l3_of_ten_debits_of_30_on_a_balance_of_100_three_go_through(network: Network) -> None:
    ada = make_customer()
    give(ada, 100)

    def spend(n: int) -> None:
        with transaction.atomic():
            debit(ada, 30, house=House.ORDERS, kind=Movement.Kind.CAPTURE, reference=f"spend:{n}", actor=ada)

    outcomes = at_once([lambda n=n: spend(n) for n in range(10)])
    assert errors(outcomes) == {"": 3, "Overdrawn": 7}
    assert available_cents(ada) == 10


def test_one_reference_used_by_eight_workers_is_one_movement(network: Network) -> None:
    ada = make_customer()

    def pay_in() -> int:
        with transaction.atomic():
            return credit(
                ada,
                700,
                house=House.ADJUSTMENTS,
                kind=Movement.Kind.ADJUSTMENT,
                reference="once",
                actor=ada,
                reason="test",
            ).pk

    outcomes = at_once([pay_in] * WORKERS)
    assert errors(outcomes) == {"": WORKERS}
    assert {outcome.value for outcome in outcomes} == {Movement.objects.get().pk}
    assert available_cents(ada) == 700
    books_are_right()


@pytest.mark.parametrize("found", [True, False], ids=["found", "on the chain"])
def test_cancel_against_settle_ends_in_one_of_two_ways_and_keeps_the_money(
    network: Network, slow_motion: None, found: bool
) -> None:
    order, intent = paid_and_mined(network)
    if found:
        find(network)
    outcomes = at_once(
        [
            lambda: orders.cancel_order(order.pk, actor=order.customer).state,
            lambda: advance(intent.pk) if found else work_once(intent.pk),
        ]
    )
    assert set(errors(outcomes)) <= {"", "NotCancellable"}
    network.settle()

    order.refresh_from_db()
    assert Allocation.objects.count() == 1
    assert kinds(order).count("transfer.credited") == 1
    held = order.holds.filter(state=Hold.State.HELD).count()
    if order.state == Order.State.CANCELLED:
        assert errors(outcomes) == {"": 2}
        assert available_cents(order.customer) == PRICE
        assert held == 0
        assert "order.settled" not in kinds(order)
        assert not Rental.objects.exists()
    else:
        assert errors(outcomes) == {"": 1, "NotCancellable": 1}
        assert available_cents(order.customer) == 0
        assert held == 1
        is_paid_once(order)
        assert Rental.objects.count() == 1
    books_are_right()


def test_case_21_an_expiry_at_the_moment_of_the_payment_never_leaves_a_paid_intent_without_its_credit(
    network: Network, slow_motion: None
) -> None:
    """GRIDLOT_ROUNDS times: the promise ends, its hold ends, and its final payment is found, all at the same moment.

    Every second time a watcher has found the payment just before and nobody has judged it.
    """
    offer = make_offer(lots=ROUNDS)
    watcher.fill_reserve("ethereum", ROUNDS + 1)
    for n in range(ROUNDS):
        network.price()  # so many rounds take longer than a price lives
        order = save_order(make_customer(f"p{n}@example.com"), offer)
        intent = ask(order)
        network.pay(intent)
        network.chain.mine(4)
        later = intent.expires_at + timedelta(days=2)  # long unwatched by then: this alone would end the promise
        found = n % 2 == 0
        if found:
            find(network)
        works: list[Work] = [
            lambda i=intent, t=later: advance(i.pk, now=t),
            lambda o=order, t=later: orders.end_hold(o.pk, now=t),
            lambda i=intent, found=found: advance(i.pk) if found else work_once(i.pk),
        ]
        outcomes = at_once(works[n % 3 :] + works[: n % 3])
        assert errors(outcomes) == {"": 3}
        network.settle()
        order.refresh_from_db()
        intent.refresh_from_db()
        assert Allocation.objects.filter(intent=intent, live=True, usd_cents=PRICE).count() == 1
        assert order.state == Order.State.SETTLED
        assert intent.settlement == PaymentIntent.Settlement.SETTLED
        told = kinds(order)
        assert told.count("order.settled") == 1
        if "intent.expired" in told:  # a promise may end and its money still count; what is settled never expires
            assert told.index("intent.expired") < told.index("intent.settled")
    books_are_right()


def test_an_order_that_expires_while_it_is_paid_is_either_settled_or_its_money_is_in_the_balance(
    network: Network, slow_motion: None
) -> None:
    offer = make_offer(lots=40)
    for n in range(10):
        order = save_order(make_customer(f"p{n}@example.com"), offer)
        intent = ask(order)
        network.pay(intent)
        network.chain.mine(4)
        orders.end_hold(order.pk, now=intent.expires_at + timedelta(days=2))
        works: list[Work] = [
            lambda o=order: orders.expire_order(o.pk, created_before=timezone.now() + timedelta(days=1)),
            lambda i=intent: advance(i.pk),
        ]
        find(network)
        outcomes = at_once(works if n % 2 else works[::-1])
        assert errors(outcomes) == {"": 2}
        network.settle()
        order.refresh_from_db()
        expired = order.state == Order.State.EXPIRED
        assert order.state in (Order.State.EXPIRED, Order.State.SETTLED)
        assert available_cents(order.customer) == (PRICE if expired else 0)
        assert Allocation.objects.filter(intent=intent, live=True).count() == 1
    books_are_right()


def test_the_end_of_a_hold_at_the_moment_of_the_capture_leaves_lots_and_holds_in_step(
    network: Network, slow_motion: None
) -> None:
    offer = make_offer(lots=40)
    for n in range(10):
        ada = make_customer(f"p{n}@example.com")
        give(ada, PRICE)
        order = save_order(ada, offer)
        long_past = timezone.now() + timedelta(days=2)
        works: list[Work] = [
            lambda o=order, now=long_past: orders.end_hold(o.pk, now=now),
            lambda o=order, a=ada: intents.pay_from_balance(o.pk, actor=a).state,
        ]
        outcomes = at_once(works if n % 2 else works[::-1])
        assert errors(outcomes) == {"": 2}
        hold = order.holds.get(state=Hold.State.HELD)
        assert hold.until is None
        books_are_right()
    offer.refresh_from_db()
    assert offer.taken == 10
