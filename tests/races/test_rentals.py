"""A machine is handed over, ended and given back once, whatever two operators do."""

import pytest
from story import books_are_right, give, kinds, make_customer, make_offer, make_operator, save_order
from together import Work, at_once, errors

from accounts.models import User
from balance.queries import available_cents
from events.relay import drain
from orders import actions as orders
from orders.models import Hold, Order
from payments.actions import intents
from provisioning import actions
from provisioning.access import Access
from provisioning.models import Rental

pytestmark = [
    pytest.mark.races, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("slow_motion"),
]  # fmt: skip


@pytest.fixture
def operators() -> list[User]:
    return [make_operator("op1@example.com"), make_operator("op2@example.com")]


@pytest.fixture
def order() -> Order:
    """Return a paid order whose settlement nobody has heard of yet."""
    ada = make_customer()
    give(ada, 10_000)
    order = save_order(ada, make_offer())
    return intents.pay_from_balance(order.pk, actor=ada)


@pytest.fixture
def ready(order: Order, operators: list[User]) -> Rental:
    drain()
    rental = Rental.objects.get(order=order)
    for state in (Rental.State.PREPARING, Rental.State.READY):
        actions.move(rental.pk, state, actor=operators[0])
    return rental


def test_eight_workers_that_hear_of_one_settled_order_queue_one_rental(order: Order) -> None:
    outcomes = at_once([lambda: getattr(actions.ensure_rental(order.pk), "pk", None)] * 8)
    assert errors(outcomes) == {"": 8}
    assert {outcome.value for outcome in outcomes} == {Rental.objects.get().pk}
    assert kinds(order).count("rental.queued") == 1


def test_of_two_operators_who_hand_over_at_once_one_begins_the_only_period(
    ready: Rental, operators: list[User]
) -> None:
    outcomes = at_once(
        [lambda o=o: actions.hand_over(ready.pk, Access(ssh_host=o.email), actor=o).started_at for o in operators]
    )
    assert errors(outcomes) == {"": 1, "NotPossible": 1}
    winner = 0 if not outcomes[0].error else 1
    ready.refresh_from_db()
    assert ready.state == Rental.State.ACTIVE
    assert ready.started_at == outcomes[winner].value
    assert operators[winner].email in (ready.access or "")
    assert kinds(ready.order).count("rental.active") == 1


def test_a_wipe_confirmed_by_eight_clicks_gives_the_lots_back_once(ready: Rental, operators: list[User]) -> None:
    actions.hand_over(ready.pk, Access(ssh_host="gpu1.example"), actor=operators[0])
    actions.end(ready.pk, actor=operators[0])
    outcomes = at_once([lambda o=o: actions.confirm_wipe(ready.pk, actor=o).pk for o in operators * 4])
    assert errors(outcomes) == {"": 8}
    assert kinds(ready.order).count("rental.wiped") == 1
    assert ready.order.holds.get().state == Hold.State.RELEASED
    offer = ready.order.offer
    offer.refresh_from_db()
    assert offer.taken == 0
    books_are_right()


def test_an_order_cancelled_and_expired_and_let_go_at_once_gives_its_lots_back_once() -> None:
    offer = make_offer()
    for n in range(10):
        order = save_order(make_customer(f"p{n}@example.com"), offer)
        hold = order.holds.get()
        assert hold.until is not None
        works: list[Work] = [
            lambda o=order: orders.cancel_order(o.pk, actor=o.customer).state,
            lambda o=order, t=hold.until: orders.end_hold(o.pk, now=t),
            lambda o=order, t=hold.until: orders.expire_order(o.pk, created_before=t),
        ]
        outcomes = at_once(works[n % 3 :] + works[: n % 3])
        assert set(errors(outcomes)) <= {"", "NotCancellable"}
        order.refresh_from_db()
        assert order.state in (Order.State.CANCELLED, Order.State.EXPIRED)
        assert order.holds.get().state == Hold.State.RELEASED
        books_are_right()
    offer.refresh_from_db()
    assert offer.taken == 0


def test_ord_9_of_a_hand_over_and_a_cancellation_at_once_one_wins(ready: Rental, operators: list[User]) -> None:
    """The machine is the customer's, or the sum is; never both, never neither."""
    access = Access(ssh_host="gpu.example.net")
    outcomes = at_once(
        [
            lambda: actions.hand_over(ready.pk, access, actor=operators[0]).pk,
            lambda: actions.cancel_paid(ready.pk, reason="asked for it", actor=operators[1]).pk,
        ]
    )
    assert sorted(outcome.error for outcome in outcomes) == ["", "NotPossible"]
    rental = Rental.objects.select_related("order__customer").get()
    won = (rental.state, rental.order.state, available_cents(rental.order.customer))
    assert won in {("active", "settled", 0), ("cancelled", "returned", 10_000)}
    books_are_right()
