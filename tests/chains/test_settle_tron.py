"""An order is paid on Tron, in each of its methods, by a transaction signed with a real key."""

from typing import Any

import pytest

from orders.models import Order
from payments.models import ChainTransfer
from provisioning.models import Rental

pytestmark = [pytest.mark.chains, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("method", ["trx", "usdt-tron"])
def test_settle(tron_shop: Any, method: str) -> None:
    intent = tron_shop.ask(method)
    txid = tron_shop.pay(intent)
    tron_shop.mine()
    tron_shop.order.refresh_from_db()
    assert tron_shop.order.payment == Order.Payment.SEEN
    transfer = ChainTransfer.objects.get()
    assert (transfer.txid, transfer.amount, transfer.status) == (txid, intent.amount, ChainTransfer.Status.SEEN)
    tron_shop.mine(17)
    tron_shop.is_unpaid()  # eighteen confirmations are not nineteen
    tron_shop.settle()
    tron_shop.is_paid_once()
    assert Rental.objects.get(order=tron_shop.order).state == Rental.State.QUEUED
