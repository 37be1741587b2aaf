"""A shop with many customers, made by the real actions: orders, payment instructions, payments."""

import uuid
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from django.contrib.auth.hashers import make_password
from django.db.models import F
from django.db.models.base import ModelState
from story import make_offer, save_order

from accounts.models import User
from catalog.models import Offer
from orders import numbers
from orders.models import Hold, Order
from payments import watcher
from payments.actions import intents
from payments.actions.rates import record_samples
from payments.models import PaymentIntent, ReservedAddress
from payments.rates import FixedSource

from .node import MemoryNode

METHOD, NETWORK = "usdt-ethereum", "ethereum"  # its promises last an hour: longer than a benchmark
UNUSABLE = make_password(None)


@dataclass
class Shop:
    """Orders at $100 each, paid through a node in memory, or through another node."""

    node: Any = field(default_factory=MemoryNode)
    offer: Offer | None = None
    made: int = 0

    def open(self) -> "Shop":
        self.offer = make_offer(lots=2_000_000_000)
        self.node.mine()
        self.refresh()
        return self

    def refresh(self) -> None:
        """Watch once and learn the prices: promises need both to be fresh."""
        self.watch()
        record_samples("fixed", FixedSource().fetch())

    def watch(self) -> None:
        with mock.patch.object(watcher, "node_of", return_value=self.node):
            watcher.watch(NETWORK)

    def customers(self, count: int) -> list[User]:
        first, self.made = self.made, self.made + count
        rows = [
            User(email=f"c{number}@example.com", first_name="Ada", last_name="Byron", password=UNUSABLE)
            for number in range(first, self.made)
        ]
        return User.objects.bulk_create(rows)

    def order(self, customer: User) -> Order:
        assert self.offer is not None
        return save_order(customer, self.offer)

    def ask(self, order: Order) -> PaymentIntent:
        return intents.open_intent(order.pk, METHOD, form_key=uuid.uuid4(), actor=order.customer)

    def orders(self, customers: Sequence[User]) -> list[Order]:
        """Return an open order with its hold for each of these customers: the first made by the real action, the others
        copies of its rows, since making is measured elsewhere."""
        first = self.order(customers[0])
        hold = first.holds.get()
        fresh = [
            again(first, customer=customer, symbols=numbers.draw(), form_key=uuid.uuid4()) for customer in customers[1:]
        ]
        orders = Order.objects.bulk_create(fresh)
        Hold.objects.bulk_create(again(hold, order=order) for order in orders)
        Offer.objects.filter(pk=hold.offer_id).update(taken=F("taken") + len(orders))
        return [first, *orders]

    def intents(self, count: int) -> list[PaymentIntent]:
        """Return so many open instructions, each for another customer's order; all but one are copies as well."""
        self.refresh()
        self.fill_reserve(count + 1)
        orders = self.orders(self.customers(count))
        first = self.ask(orders[0])
        addresses = list(ReservedAddress.objects.filter(network=NETWORK, issued_at=None).order_by("index")[: count - 1])
        ReservedAddress.objects.filter(pk__in=[one.pk for one in addresses]).update(issued_at=first.created_at)
        fresh = [
            again(first, pk=uuid.uuid4(), order=order, customer=order.customer, address=address, form_key=uuid.uuid4())
            for order, address in zip(orders[1:], addresses, strict=True)
        ]
        return [first, *PaymentIntent.objects.bulk_create(fresh)]

    def fill_reserve(self, size: int) -> None:
        with mock.patch.object(watcher, "node_of", return_value=self.node):
            watcher.fill_reserve(NETWORK, size)


def again(row: Any, **facts: Any) -> Any:
    """Return a copy of a row that is not in the database yet."""
    fresh = copy(row)
    fresh.pk, fresh._state = None, ModelState()
    fresh._state.fields_cache = {}
    for name, value in facts.items():
        setattr(fresh, name, value)
    return fresh


def payments_for(intents: Sequence[PaymentIntent]) -> list[tuple[str, int, str]]:
    return [(intent.address.address, intent.amount, intent.method) for intent in intents]
