"""What people do is whole or not there: killed at every single step of each action, then done again."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from killing import KILLED, Ended
from story import Network, ask, books_are_right, give, make_customer, make_offer, make_operator, save_order

from accounts.models import User
from catalog.models import Offer
from events.models import Event
from events.relay import drain
from orders import actions as orders
from orders.models import Hold, Order
from payments import errors, following, watcher
from payments.actions import by_hand, intents, payouts
from payments.actions.deciding import decide
from payments.actions.refunds import Wanted, make_refund
from payments.actions.settling import advance
from payments.actions.topups import make_topup
from payments.models import ChainTransfer, PaymentIntent, Payout, ReservedAddress, ReviewItem
from payments.registry import method, node, simulated_chain
from provisioning import actions as rentals
from provisioning.access import Access
from provisioning.models import Rental

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]
PRICE = 10_000
WALLET = "0x" + "ab" * 20


@dataclass
class Shop:
    """Who and what every action needs; each call of `customer` is a new person."""

    offer: Offer
    operator: User
    people: list[User] = field(default_factory=list)

    def customer(self) -> User:
        self.people.append(make_customer(f"p{len(self.people)}@example.com"))
        return self.people[-1]

    def order(self, *, cents: int = 0, lots: int = 1, offer: Offer | None = None) -> Order:
        customer = self.customer()
        if cents:
            give(customer, cents)
        return save_order(customer, offer or self.offer, lots=lots)

    def rental(self, state: str = Rental.State.READY) -> Rental:
        """Return a rental that was paid from the balance and moved along to this state."""
        order = self.order(cents=PRICE)
        intents.pay_from_balance(order.pk, actor=order.customer)
        drain()
        rental = Rental.objects.get(order=order)
        rentals.move(rental.pk, Rental.State.PREPARING, actor=self.operator)
        rentals.move(rental.pk, Rental.State.READY, actor=self.operator)
        if state != Rental.State.READY:
            rentals.hand_over(rental.pk, Access(ssh_host="gpu1.example"), actor=self.operator)
        if state == Rental.State.ENDED:
            rentals.end(rental.pk, actor=self.operator)
        return rental


Action = Callable[[], object]


# --- the actions: each prepares its story and returns what may be done, and done again -------------------------------
def saving_an_order(shop: Shop) -> Action:
    customer = shop.customer()
    client = Client()
    client.force_login(customer)
    form = {
        "offer": shop.offer.slug, "term": "7", "lots": "2", "first_name": "Ada", "last_name": "Lovelace",
        "email": customer.email, "form_key": str(uuid.uuid4()), "expected_total_cents": str(2 * PRICE),
    }  # fmt: skip
    return lambda: redirected(client.post(reverse("orders:checkout"), form))


def asking_for_instructions(shop: Shop) -> Action:
    order = shop.order()
    client = Client()
    client.force_login(order.customer)
    form = {"method": "eth", "form_key": str(uuid.uuid4())}
    return lambda: redirected(client.post(reverse("payments:choose", args=[order.number]), form))


def asking_again_after_the_hold_ended(shop: Shop) -> Action:
    order, form_key = shop.order(), uuid.uuid4()
    until = order.holds.get().until
    assert until is not None
    orders.end_hold(order.pk, now=until)
    return lambda: ask(order, form_key=form_key)


def asking_for_other_instructions(shop: Shop) -> Action:
    order, form_key = shop.order(), uuid.uuid4()
    ask(order)
    return lambda: ask(order, "usdt-ethereum", form_key=form_key)


def cancelling_instructions(shop: Shop) -> Action:
    intent = ask(shop.order())
    return lambda: intents.cancel(intent.pk, actor=intent.customer)


def saying_i_paid(shop: Shop) -> Action:
    intent = ask(shop.order())
    return lambda: intents.declare(intent.pk, actor=intent.customer)


def paying_from_the_balance(shop: Shop) -> Action:
    order = shop.order(cents=3 * PRICE)
    return lambda: intents.pay_from_balance(order.pk, actor=order.customer)


def cancelling_an_order(shop: Shop) -> Action:
    order = shop.order()
    return lambda: orders.cancel_order(order.pk, actor=order.customer)


def ending_a_hold(shop: Shop) -> Action:
    order = shop.order()
    until = order.holds.get().until
    assert until is not None
    return lambda: orders.end_hold(order.pk, now=until)


def expiring_an_order(shop: Shop) -> Action:
    order = shop.order()
    until = order.holds.get().until
    assert until is not None
    orders.end_hold(order.pk, now=until)
    return lambda: orders.expire_order(order.pk, created_before=timezone.now())


def handing_over(shop: Shop) -> Action:
    rental = shop.rental()
    return lambda: unless_done(
        lambda: rentals.hand_over(rental.pk, Access(ssh_host="gpu1.example"), actor=shop.operator)
    )


def ending_a_rental(shop: Shop) -> Action:
    rental = shop.rental(Rental.State.ACTIVE)
    return lambda: rentals.end(rental.pk, actor=shop.operator)


def confirming_a_wipe(shop: Shop) -> Action:
    rental = shop.rental(Rental.State.ENDED)
    return lambda: rentals.confirm_wipe(rental.pk, actor=shop.operator)


# --- what money does: found by a watcher that nobody let judge, then judged by the action ----------------------------
def settling_in_the_fair_band(shop: Shop) -> Action:
    intent = ask(shop.order())
    return paid_and_judged(intent, at=intent.expires_at + timedelta(minutes=5))


def crediting_late_money(shop: Shop) -> Action:
    intent = ask(shop.order())
    return paid_and_judged(intent, at=intent.expires_at + timedelta(hours=2))


def accepting_a_shortfall(shop: Shop) -> Action:
    intent = ask(shop.order())
    return paid_and_judged(intent, intent.amount * 997 // 1000)


def crediting_a_topup(shop: Shop) -> Action:
    topup = make_topup(shop.customer(), PRICE, form_key=uuid.uuid4())
    intent = intents.open_topup_intent(topup.pk, "eth", form_key=uuid.uuid4(), actor=topup.customer)
    return paid_and_judged(intent)


def reversing_what_a_reorg_took(shop: Shop) -> Action:
    intent = ask(shop.order())
    network = Network()
    network.pay(intent)
    network.settle()
    network.chain.reorg(4, keep=False)
    find()
    return lambda: judge(intent)


def crediting_again_what_came_back(shop: Shop) -> Action:
    intent = ask(shop.order())
    network = Network()
    txid = network.pay(intent)
    network.settle()
    network.chain.reorg(4, keep=False)
    network.mine()
    network.chain.pay(intent.address.address, intent.amount, method="eth", txid=txid)
    network.chain.mine(4)
    find()
    return lambda: judge(intent)


def settling_by_hand(shop: Shop) -> Action:
    order = shop.order()
    return lambda: by_hand.settle_by_hand(order.pk, reason="cash", evidence="receipt", actor=shop.operator)


def agreeing_as_the_second_person(shop: Shop) -> Action:
    order = shop.order(lots=6)
    first = shop.customer()
    proposed = by_hand.settle_by_hand(order.pk, reason="wire", evidence="statement", actor=first)
    return lambda: by_hand.approve(proposed.pk, actor=shop.operator)


def deciding_to_credit(shop: Shop) -> Action:
    item = reviewed(shop)
    return lambda: unless_decided(item, shop.operator)


def crediting_what_was_decided(shop: Shop) -> Action:
    item = reviewed(shop)
    unless_decided(item, shop.operator)
    assert item.transfer is not None
    intent = item.transfer.intent
    return lambda: judge(intent)


def moving_a_sum_to_the_balance(shop: Shop) -> Action:
    rare = make_offer(lots=1, name=f"Rare {len(shop.people)}")
    order = shop.order(offer=rare)
    until = order.holds.get().until
    assert until is not None
    orders.end_hold(order.pk, now=until)
    shop.order(offer=rare)
    by_hand.settle_by_hand(order.pk, reason="cash", evidence="receipt", actor=shop.operator)
    return lambda: orders.move_to_balance(order.pk, actor=order.customer)


def paid_and_judged(intent: PaymentIntent, amount: int | None = None, *, at: datetime | None = None) -> Action:
    """Let a payment become final, at another time if one is given; return how it is judged then."""
    at = at or timezone.now()
    network = Network()
    with time_machine.travel(at):
        network.price()
        network.pay(intent, amount)
        network.chain.mine(4)
        find()
    return lambda: judge(intent, at)


def find() -> None:
    """Let a watcher write what the chain says and stop before anybody judges it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watcher, "advance_all", lambda *_, **__: None)
        assert Network().watch()


def judge(intent: PaymentIntent, at: datetime | None = None) -> None:
    derived = node(intent.network).destination(intent.address.index)
    with time_machine.travel(at or timezone.now()):
        advance(intent.pk, now=timezone.now(), derived=derived)


def reviewed(shop: Shop) -> ReviewItem:
    """Return what a person must decide: $101 of USDT at an address for ETH."""
    intent = ask(shop.order())
    usdt = method("usdt-ethereum").asset
    network = Network()
    network.chain.pay(intent.address.address, 101 * 10**6, method=usdt.method, contract=usdt.contract)
    network.price()
    network.settle()
    item: ReviewItem = ReviewItem.objects.get(transfer__intent=intent)
    return item


def unless_decided(item: ReviewItem, operator: User) -> None:
    try:
        decide(item.pk, ReviewItem.Outcome.CREDITED, reason="both explorers show it", actor=operator)
    except errors.AlreadyDecided:
        pass


def redirected(response: Any) -> None:
    assert response.status_code == 302, response.text


def unless_done(action: Action) -> None:
    """Do what may be done only once; a person who tries it again after a crash reads that it was done."""
    try:
        action()
    except rentals.NotPossible:
        pass


def asking_for_a_payout(shop: Shop) -> Action:
    customer, form_key = shop.customer(), uuid.uuid4()
    give(customer, 3 * PRICE)
    return lambda: payouts.request_payout(customer, "eth", PRICE, WALLET, shown_amount=1, form_key=form_key)


def payout(shop: Shop, *, approved: bool = True) -> Payout:
    made = asking_for_a_payout(shop)()
    assert isinstance(made, Payout)
    return payouts.approve(made.pk, actor=shop.operator) if approved else made


def cancelling_a_payout(shop: Shop) -> Action:
    made = payout(shop, approved=False)
    return lambda: payouts.cancel(made.pk, actor=made.customer)


def approving_a_payout(shop: Shop) -> Action:
    made = payout(shop, approved=False)
    return lambda: payouts.approve(made.pk, actor=shop.operator)


def refusing_a_payout(shop: Shop) -> Action:
    made = payout(shop)
    return lambda: payouts.refuse(made.pk, reason="no", actor=shop.operator)


def recording_that_a_payout_was_sent(shop: Shop) -> Action:
    made, txid = payout(shop), uuid.uuid4().hex * 2
    return lambda: payouts.mark_sent(made.pk, txid=txid, actor=shop.operator)


def seeing_that_a_payout_is_final(shop: Shop) -> Action:
    made, chain = payout(shop), simulated_chain("ethereum")
    txid = chain.pay(made.address, made.amount, method="eth", contract=None)
    chain.mine(3)
    watcher.watch("ethereum")
    payouts.mark_sent(made.pk, txid=txid, actor=shop.operator)

    def look() -> None:
        Payout.objects.filter(pk=made.pk, state=Payout.State.SENT).update(look_at=timezone.now())  # the lease is over
        following.follow(made.pk)

    return look


def making_a_refund(shop: Shop) -> Action:
    order = shop.order()
    intent = ask(order)
    intents.cancel(intent.pk, actor=order.customer)
    PaymentIntent.objects.filter(pk=intent.pk).update(closed_at=timezone.now() - timedelta(hours=1))
    Network().pay(intent)
    Network().settle()
    transfer, form_key = ChainTransfer.objects.get(intent=intent), uuid.uuid4()
    assert transfer.credited
    wanted = Wanted(transfer.amount, WALLET, "asked for")
    return lambda: make_refund(transfer.pk, wanted, form_key=form_key, actor=shop.operator)


# --- what must be true of everything, at any moment --------------------------------------------------------------
def nothing_is_half_done() -> None:
    unheld = Order.objects.filter(state=Order.State.OPEN).exclude(holds__isnull=False)
    assert not unheld.exists(), "an order without its hold"
    assert not orphaned_addresses().exists(), "an address was issued to nobody"
    assert not PaymentIntent.objects.filter(address__issued_at=None).exists()
    for closed in Order.objects.filter(state__in=(Order.State.CANCELLED, Order.State.EXPIRED)):
        assert not closed.holds.filter(state=Hold.State.HELD).exists(), "a closed order keeps lots"
    books_are_right()


def orphaned_addresses() -> Any:
    return ReservedAddress.objects.exclude(issued_at=None).filter(intent=None)


def told() -> list[str]:
    """Return the kinds of all events so far, in their order."""
    return list(Event.objects.order_by("id").values_list("kind", flat=True))


ACTIONS: tuple[Callable[[Shop], Action], ...] = (
    saving_an_order,
    asking_for_instructions,
    asking_again_after_the_hold_ended,
    asking_for_other_instructions,
    cancelling_instructions,
    saying_i_paid,
    paying_from_the_balance,
    cancelling_an_order,
    ending_a_hold,
    expiring_an_order,
    handing_over,
    ending_a_rental,
    confirming_a_wipe,
    settling_in_the_fair_band,
    crediting_late_money,
    accepting_a_shortfall,
    crediting_a_topup,
    reversing_what_a_reorg_took,
    crediting_again_what_came_back,
    settling_by_hand,
    agreeing_as_the_second_person,
    deciding_to_credit,
    crediting_what_was_decided,
    moving_a_sum_to_the_balance,
    asking_for_a_payout,
    cancelling_a_payout,
    approving_a_payout,
    refusing_a_payout,
    recording_that_a_payout_was_sent,
    seeing_that_a_payout_is_final,
    making_a_refund,
)


@pytest.mark.parametrize("prepare", ACTIONS, ids=lambda prepare: prepare.__name__)
def test_killed_at_any_step_it_is_whole_or_not_there(
    network: Network, child: Any, prepare: Callable[[Shop], Action]
) -> None:
    shop = Shop(make_offer(lots=1000), make_operator())
    watcher.fill_reserve(network.code, 200)
    action = prepare(shop)
    before = len(told())
    whole: Ended = child(action)
    assert whole.status == 0
    as_it_should_be = told()[before:]
    assert as_it_should_be
    for step in range(1, len(whole.steps) + 1):
        action = prepare(shop)
        before = len(told())
        assert child(action, step).status == KILLED
        where = f"killed before step {step}"
        assert told()[before:] in ([], as_it_should_be), where
        if prepare is not reversing_what_a_reorg_took:  # until it is reversed, the books name the credit that is gone
            nothing_is_half_done()
        assert child(action).status == 0, where
        assert told()[before:] == as_it_should_be, where
        nothing_is_half_done()
