"""Customers who take more than their share, and rows that stand in the way of others."""

from copy import deepcopy
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django.fixtures import Settings
from story import Network, ask, make_customer, save_order

from accounts.models import User
from catalog.actions import StockError
from catalog.models import Offer
from orders import actions, tasks
from orders.models import Hold, Order
from payments import errors
from payments.actions import intents

pytestmark = pytest.mark.django_db(transaction=True)


def test_nobody_empties_the_reserve_of_addresses(
    network: Network, offer: Offer, customer: User, settings: Settings
) -> None:
    """To ask, to cancel and to ask again uses up an address each time."""
    settings.INTENTS_PER_HOUR = 5
    orders = [save_order(customer, offer) for _ in range(2)]
    for turn in range(5):
        intents.cancel(ask(orders[turn % 2]).pk, actor=customer)
    with pytest.raises(errors.TooManyMade):
        ask(orders[0])
    assert ask(save_order(make_customer("eve@example.com"), offer))


def test_a_hold_that_cannot_end_keeps_no_other(offer: Offer, customer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck, other = save_order(customer, offer), save_order(customer, offer)
    Hold.objects.update(until=timezone.now() - timedelta(hours=1))
    Hold.objects.filter(order=stuck).update(until=timezone.now() - timedelta(hours=2))
    release = actions.release

    def fails_for_one(hold: Hold) -> bool:
        if hold.order_id == stuck.pk:
            raise StockError("fewer are taken")
        return release(hold)

    monkeypatch.setattr(actions, "release", fails_for_one)
    tasks.end_holds()
    assert Hold.objects.get(order=other).state == "released"
    assert Hold.objects.get(order=stuck).state == "held"


def test_orders_with_a_part_payment_do_not_keep_old_ones_open(offer: Offer, customer: User) -> None:
    """Whatever the timer can't expire must not fill its list of 500."""
    long_ago = timezone.now() - timedelta(days=60)
    old = save_order(customer, offer)
    actions.release(Hold.objects.get())
    Order.objects.update(created_at=timezone.now() - timedelta(days=15))
    facts = {
        field.attname: getattr(old, field.attname)
        for field in Order._meta.concrete_fields
        if field.attname not in ("id", "symbols", "form_key", "payment", "created_at")
    }
    Order.objects.bulk_create(
        Order(**facts, symbols=f"{n:08}", form_key=uuid4(), payment="seen", created_at=long_ago) for n in range(500)
    )
    tasks.expire_orders()
    old.refresh_from_db()
    assert old.state == "expired"


def test_isolation_does_not_depend_on_the_server(on_postgresql: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGOPTIONS", "-c default_transaction_isolation=serializable")
    fresh = connection.copy()
    fresh.settings_dict = deepcopy(fresh.settings_dict)
    del fresh.settings_dict["OPTIONS"]["pool"]
    fresh.set_autocommit(False)  # as atomic does
    with fresh.cursor() as cursor:
        cursor.execute("SHOW transaction_isolation")
        assert cursor.fetchone() == ("read committed",)
    fresh.close()
