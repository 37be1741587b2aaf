"""Case 22: whatever happens to payment instructions, their order follows: it is computed from them and from credit."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.utils import timezone
from story import books_are_right, give, make_operator

from orders.models import Order
from orders.tasks import expire_orders
from payments.actions import by_hand, intents
from payments.actions.settling import advance
from payments.models import PaymentIntent
from payments.registry import node

pytestmark = pytest.mark.django_db
Seen = tuple[str, str, bool, bool]  # state, payment, still promised, needs help
OPEN, SETTLED = Order.State.OPEN, Order.State.SETTLED
NONE, SEEN, PAID = Order.Payment.NONE, Order.Payment.SEEN, Order.Payment.PAID


def asked(shop: Any, intent: PaymentIntent) -> None:
    """Do nothing more."""


def seen(shop: Any, intent: PaymentIntent) -> None:
    shop.network.pay(intent)
    shop.network.watch()


def included(shop: Any, intent: PaymentIntent) -> None:
    shop.network.pay(intent)
    shop.block()


def dropped(shop: Any, intent: PaymentIntent) -> None:
    txid = shop.network.pay(intent)
    shop.network.watch()
    shop.network.chain.drop(txid)
    shop.network.watch()


def replaced_elsewhere(shop: Any, intent: PaymentIntent) -> None:
    txid = shop.network.pay(intent)
    shop.network.watch()
    shop.network.chain.replace(txid, "sim" + "q" * 40, intent.amount, method="eth")
    shop.network.watch()


def orphaned(shop: Any, intent: PaymentIntent) -> None:
    included(shop, intent)
    shop.network.chain.reorg(1, keep=False)
    shop.network.watch()


def cancelled(shop: Any, intent: PaymentIntent) -> None:
    intents.cancel(intent.pk, actor=shop.customer)


def superseded(shop: Any, intent: PaymentIntent) -> None:
    shop.ask(intent.order, "usdt-ethereum")


def expired(shop: Any, intent: PaymentIntent) -> None:
    shop.end_of(intent)


def partly_paid(shop: Any, intent: PaymentIntent) -> None:
    shop.network.pay(intent, intent.amount // 2)
    shop.block(4)


def partly_paid_and_expired(shop: Any, intent: PaymentIntent) -> None:
    partly_paid(shop, intent)
    shop.end_of(intent)


def partly_paid_and_the_rest_given(shop: Any, intent: PaymentIntent) -> None:
    partly_paid_and_expired(shop, intent)
    give(shop.customer, 5_000)
    intents.pay_from_balance(intent.purpose.pk, actor=shop.customer)


def paid(shop: Any, intent: PaymentIntent) -> None:
    shop.network.pay(intent)
    shop.block(4)


def paid_late(shop: Any, intent: PaymentIntent) -> None:
    shop.end_of(intent, plus=45)
    shop.network.price()
    shop.network.pay(intent, intent.amount * 2)
    shop.block(4)


def paid_late_by_wish(shop: Any, intent: PaymentIntent) -> None:
    intents.choose_late(intent.pk, pay_if_late=True, actor=shop.customer)
    paid_late(shop, intent)


def paid_and_taken_back(shop: Any, intent: PaymentIntent) -> None:
    paid(shop, intent)
    shop.network.chain.reorg(4, keep=False)
    shop.block()


def settled_by_hand(shop: Any, intent: PaymentIntent) -> None:
    by_hand.settle_by_hand(intent.purpose.pk, reason="cash", evidence="receipt", actor=make_operator())


def settled_by_hand_and_paid(shop: Any, intent: PaymentIntent) -> None:
    settled_by_hand(shop, intent)
    paid(shop, intent)


def forgotten(shop: Any, intent: PaymentIntent) -> None:
    shop.end_of(intent)
    shop.wait(15 * 24 * 60)
    shop.look_at_holds()
    expire_orders()


CHANGES: tuple[tuple[Callable[[Any, PaymentIntent], None], Seen], ...] = (
    (asked, (OPEN, NONE, True, False)),
    (seen, (OPEN, SEEN, True, False)),
    (included, (OPEN, SEEN, True, False)),
    (dropped, (OPEN, NONE, True, False)),
    (replaced_elsewhere, (OPEN, NONE, True, False)),
    (orphaned, (OPEN, NONE, True, False)),
    (cancelled, (OPEN, NONE, False, False)),
    (superseded, (OPEN, NONE, True, False)),
    (expired, (OPEN, NONE, False, False)),
    (partly_paid, (OPEN, SEEN, True, False)),
    (partly_paid_and_expired, (OPEN, NONE, False, False)),
    (partly_paid_and_the_rest_given, (SETTLED, PAID, False, False)),
    (paid, (SETTLED, PAID, False, False)),
    (paid_late, (OPEN, NONE, False, False)),
    (paid_late_by_wish, (SETTLED, PAID, False, False)),
    (paid_and_taken_back, (SETTLED, PAID, False, True)),
    (settled_by_hand, (SETTLED, PAID, False, False)),
    (settled_by_hand_and_paid, (SETTLED, PAID, False, False)),
    (forgotten, (Order.State.EXPIRED, NONE, False, False)),
)


@pytest.mark.parametrize(
    ("happens", "expected"), [pytest.param(*row, id=f"case-22-{row[0].__name__}") for row in CHANGES]
)
def test_an_order_follows_every_change_of_its_instructions(
    shop: Any, happens: Callable[[Any, PaymentIntent], None], expected: Seen
) -> None:
    order = shop.order()
    happens(shop, shop.ask(order))
    assert looks(order) == expected
    forget_what_was_told(order)
    judge_all(order)
    assert looks(order) == expected, "it is a function of its instructions and of credit"
    books_are_right()


def looks(order: Order) -> Seen:
    order.refresh_from_db()
    promised = order.state == OPEN and order.promised_until is not None
    return order.state, order.payment, promised, order.needs_help_at is not None


def forget_what_was_told(order: Order) -> None:
    """Spoil what payments once told an order that is not paid."""
    wrong = {NONE: SEEN, SEEN: NONE}
    if order.state == OPEN:
        until: datetime | None = None if order.promised_until else timezone.now()
        Order.objects.filter(pk=order.pk).update(payment=wrong[Order.Payment(order.payment)], promised_until=until)


def judge_all(order: Order) -> None:
    for intent in PaymentIntent.objects.filter(order=order).select_related("address"):
        derived = node(intent.network).destination(intent.address.index)
        advance(intent.pk, now=timezone.now(), derived=derived)
