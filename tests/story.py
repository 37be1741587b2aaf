"""Words for telling a story in a test: a shop, its customers, their orders, a network. Real objects everywhere."""

import uuid
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from accounts.models import User
from balance.actions import credit
from balance.models import House, Movement
from catalog.models import Offer, Price
from config.todo import sections
from events.actions import subject_of
from events.models import Event
from events.relay import drain
from orders.actions import place_order
from orders.choice import Choice, Contact
from orders.models import Order
from payments import watcher
from payments.actions import intents
from payments.actions.rates import record_samples
from payments.installation import birth
from payments.models import NetworkCursor, PaymentIntent
from payments.networks.simulated_chain import SimulatedChain
from payments.rates import FixedSource
from payments.registry import method, simulated_chain
from payments.verify import discrepancies

PASSWORD = "correct horse battery staple"


def make_offer(*, lots: int = 10, cards_per_lot: int = 1, price_cents: int = 10_000, name: str = "H100 SXM") -> Offer:
    offer = Offer.objects.create(
        slug=name.lower().replace(" ", "-"),
        name=name,
        vendor="NVIDIA",
        architecture="Hopper",
        arch_code="9.0",
        memory_gb=80,
        memory_type="HBM3",
        bandwidth_gbps=3350,
        board_power_w=700,
        backend="CUDA",
        cards_per_lot=cards_per_lot,
        lots=lots,
    )
    for days in (3, 7, 30):
        Price.objects.create(offer=offer, term_days=days, unit_price_cents=price_cents)
    return offer


def make_customer(email: str = "ada@example.com") -> User:
    return User.objects.create_user(email, PASSWORD, first_name="Ada", last_name="Lovelace")


def make_operator(email: str = "op@example.com") -> User:
    return User.objects.create_superuser(email, PASSWORD, first_name="Olga", last_name="Petrova")


def give(customer: User, cents: int) -> Movement:
    """Credit a customer by hand."""
    with transaction.atomic():
        return credit(
            customer,
            cents,
            house=House.ADJUSTMENTS,
            kind=Movement.Kind.ADJUSTMENT,
            reference=f"gift:{uuid.uuid4()}",
            actor=customer,
            reason="a gift",
        )


def save_order(customer: User, offer: Offer, *, lots: int = 1, form_key: uuid.UUID | None = None) -> Order:
    """Save an order for 7 days through the real action."""
    price = offer.prices.get(term_days=7)
    return place_order(
        customer=customer,
        choice=Choice(offer.slug, 7, lots, "pytorch", "PyTorch"),
        contact=Contact(customer.first_name, customer.last_name, customer.email),
        form_key=form_key or uuid.uuid4(),
        expected_total_cents=price.unit_price_cents * lots,
    )


@dataclass
class Network:
    """The simulated network with its watcher: pay, mine, watch, as often as the story wants."""

    code: str = "ethereum"

    @property
    def chain(self) -> SimulatedChain:
        return simulated_chain(self.code)

    def open(self) -> "Network":
        """Give birth to the installation, watch once, fill the reserve, and know prices."""
        birth()
        self.chain.mine()
        self.watch()
        watcher.fill_reserve(self.code, 20)
        self.price()
        return self

    def price(self, changed: dict[str, str] | None = None) -> None:
        """Take a sample of the fixed prices, some of them changed this once."""
        found = {one.symbol: one for one in FixedSource().fetch()}
        for symbol, usd in (changed or {}).items():
            found[symbol] = replace(found[symbol], price_e8=int(Decimal(usd) * 10**8))
        record_samples("fixed", found.values())

    def pay(self, intent: PaymentIntent, amount: int | None = None) -> str:
        """Send an intent's amount, or another one, to its address; return the transaction id."""
        asset = method(intent.method).asset
        units = intent.amount if amount is None else amount
        return self.chain.pay(intent.address.address, units, method=asset.method, contract=asset.contract)

    def mine(self, blocks: int = 1, **at: Any) -> None:
        self.chain.mine(blocks, **at)
        self.watch()

    def watch(self) -> bool:
        return watcher.watch(self.code)

    def settle(self) -> None:
        """Mine until whatever is in the pool is final, and tell everyone."""
        self.mine(4)
        self.watch()
        drain()


def ask(order: Order, code: str = "eth", form_key: uuid.UUID | None = None) -> PaymentIntent:
    """Ask for payment instructions as the customer does."""
    return intents.open_intent(order.pk, code, form_key=form_key or uuid.uuid4(), actor=order.customer)


def kinds(order: Order) -> list[str]:
    """Return the kinds of an order's events in the order they happened."""
    return list(Event.objects.filter(thread=f"order:{order.pk}").order_by("id").values_list("kind", flat=True))


def kinds_of(row: Model) -> list[str]:
    """Return the kinds of the events of any row's story in the order they happened."""
    return list(Event.objects.filter(thread=subject_of(row)).order_by("id").values_list("kind", flat=True))


def books_are_right() -> None:
    """Fail with every discrepancy of the ledger."""
    found = [str(d) for d in discrepancies()]
    assert not found, "\n".join(found)


def cursor() -> NetworkCursor:
    return NetworkCursor.objects.get(pk="ethereum")


def work_list() -> list[str]:
    """Return the titles of what needs a person, as the owner sees them."""
    owner = User.objects.filter(is_superuser=True).first() or make_operator("owner@example.com")
    return [str(one.title) for one in sections(owner, timezone.now())]
