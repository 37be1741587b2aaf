"""A real installation that watches the Tron peer, at a clock that stands until it is moved."""

from datetime import timedelta
from typing import Any

import time_machine
from chains.tron_peer import TronPayer, TronPeer
from django.utils import timezone
from story import ask, books_are_right, kinds, make_customer, make_offer, save_order

from events.relay import drain
from orders.models import Order
from payments import watcher
from payments.actions.rates import record_samples
from payments.installation import birth
from payments.models import Allocation, NetworkCursor, PaymentIntent
from payments.rates import FixedSource

NETWORK = "tron"


class TronShop:
    """One customer with one order of $100.00, and a payer."""

    def __init__(self, peer: TronPeer, payer: TronPayer, token: str, clock: time_machine.Traveller) -> None:
        self.peer, self.payer, self.token, self.clock = peer, payer, token, clock
        birth()
        self.watch()
        watcher.fill_reserve(NETWORK, 5)
        self.price()
        self.order: Order = save_order(make_customer(), make_offer())

    def price(self) -> None:
        record_samples("fixed", FixedSource().fetch())

    def ask(self, method: str = "usdt-tron") -> PaymentIntent:
        """Ask for instructions at a fresh price, with the network just looked at."""
        self.price()
        self.watch()
        intent: PaymentIntent = ask(self.order, method)
        return intent

    def wait(self, minutes: float) -> None:
        """Let time pass; nothing else happens."""
        self.clock.move_to(timezone.now() + timedelta(minutes=minutes))

    def watch(self) -> bool:
        return watcher.watch(NETWORK)

    def mine(self, blocks: int = 1) -> None:
        """Make blocks and look."""
        self.peer.mine(blocks)
        self.watch()

    def settle(self) -> None:
        """Make solid what waits, and tell everyone."""
        self.mine(19)
        drain()

    def pay(self, intent: PaymentIntent, amount: int | None = None) -> str:
        units = intent.amount if amount is None else amount
        if intent.method == "trx":
            return self.payer.pay(intent.address.address, units)
        return self.payer.pay_token(self.token, intent.address.address, units)

    @property
    def cursor(self) -> NetworkCursor:
        return NetworkCursor.objects.get(pk=NETWORK)

    def is_paid_once(self) -> None:
        """The order is paid, by one credit and one capture."""
        self.order.refresh_from_db()
        assert (self.order.state, self.order.payment) == (Order.State.SETTLED, Order.Payment.PAID)
        assert Allocation.objects.count() == 1
        assert kinds(self.order).count("order.settled") == 1
        books_are_right()

    def is_unpaid(self) -> None:
        self.order.refresh_from_db()
        assert self.order.state == Order.State.OPEN
        assert not Allocation.objects.exists()
        books_are_right()


def real(settings: Any, url: str, xpub: str, token: str) -> None:
    """Let the settings name this node."""
    settings.NETWORKS_KIND = "real"
    settings.TRON_RPC_URL, settings.TRON_XPUB, settings.USDT_TRON_CONTRACT = url, xpub, token
    settings.FIXED_RATES = {"TRX": "0.25", "USDT": "1"}
