"""The races are real: with one guard taken away they are lost, or the next guard holds. On PostgreSQL, where many write
at the same moment; on SQLite a transaction begins as the only writer."""

import threading
import uuid
from datetime import datetime

import pytest
from django.db import transaction
from django.utils import timezone
from story import Network, ask, books_are_right, give, make_customer, make_offer, save_order
from together import at_once, errors

from accounts.models import User
from balance.models import Account
from balance.queries import available_cents
from catalog.models import Offer
from events.actions import record
from events.models import Delivery, Event
from events.relay import deliver_one
from orders.models import Hold, Order
from payments import watcher
from payments.actions import intents, settling
from payments.models import Allocation, PaymentIntent
from payments.registry import node
from payments.verify import discrepancies

pytestmark = [pytest.mark.races, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("on_postgresql")]


def test_without_the_condition_in_its_update_one_lot_is_sold_four_times(monkeypatch: pytest.MonkeyPatch) -> None:
    all_have_looked = threading.Barrier(4)

    def look_then_take(offer_id: int, lots: int, *, paused: bool = False) -> bool:
        offer = Offer.objects.get(pk=offer_id)
        all_have_looked.wait(10)
        if offer.available_lots < lots:
            return False
        Offer.objects.filter(pk=offer_id).update(taken=offer.taken + lots)
        return True

    monkeypatch.setattr("orders.actions.take_lots", look_then_take)
    offer = make_offer(lots=1)
    people = [make_customer(f"p{n}@example.com") for n in range(4)]
    assert errors(at_once([lambda p=p: save_order(p, offer).pk for p in people])) == {"": 4}
    assert Hold.objects.filter(state=Hold.State.HELD).count() == 4
    assert [str(found) for found in discrepancies()] == ["offer H100 SXM: says 1 lots are taken, holds keep 4"]


def test_without_its_lock_a_delivery_is_made_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    both_have_claimed = threading.Barrier(2)

    def claim_without_lock(now: datetime) -> Delivery | None:
        found = Delivery.objects.filter(done_at=None, due_at__lte=now).select_related("event").order_by("id").first()
        both_have_claimed.wait(10)
        return found

    def note(event: Event) -> None:
        record("test.heard", subject=event, actor=None)

    monkeypatch.setattr("events.relay.claim", claim_without_lock)
    monkeypatch.setattr("provisioning.handlers.start_rental", note)
    with transaction.atomic():
        record("order.settled", subject=make_customer(), actor=None)
    assert errors(at_once([deliver_one] * 2)) == {"": 2}
    assert Event.objects.filter(kind="test.heard").count() == 2


def test_without_the_lock_on_the_account_the_check_of_the_database_still_refuses_a_debt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ada, offer = make_customer(), make_offer(price_cents=15_000)
    give(ada, 20_000)
    waiting = [save_order(ada, offer) for _ in range(2)]
    both_have_looked = threading.Barrier(2)

    def look_without_lock(customer: User) -> Account:
        account = Account.objects.get(customer=customer)
        both_have_looked.wait(10)
        return account

    monkeypatch.setattr("balance.actions.account_of", look_without_lock)
    outcomes = at_once([lambda o=order: intents.pay_from_balance(o.pk, actor=ada).state for order in waiting])
    assert errors(outcomes) == {"": 1, "IntegrityError": 1}
    assert "account_balance_above_floor" in "".join(outcome.sentence for outcome in outcomes)
    assert available_cents(ada) == 5_000
    books_are_right()


def test_without_the_lock_on_the_order_the_unique_keys_still_credit_a_transfer_once(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = save_order(make_customer(), make_offer())
    intent = ask(order)
    network.pay(intent)
    network.chain.mine(4)
    with monkeypatch.context() as patch:
        patch.setattr(watcher, "advance_all", lambda *_, **__: None)
        network.watch()
    all_have_looked = threading.Barrier(8)

    def look_without_lock(intent_id: uuid.UUID) -> PaymentIntent:
        found = PaymentIntent.objects.select_related("order__customer", "address").get(pk=intent_id)
        all_have_looked.wait(10)
        return found

    monkeypatch.setattr(settling, "locked_intent", look_without_lock)
    derived = node("ethereum").destination(intent.address.index)
    outcomes = at_once([lambda: settling.advance(intent.pk, now=timezone.now(), derived=derived)] * 8)
    assert errors(outcomes) == {"": 1, "IntegrityError": 7}
    assert Allocation.objects.count() == 1
    order.refresh_from_db()
    assert order.state == Order.State.SETTLED
    books_are_right()
