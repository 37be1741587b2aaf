"""Money that is taken back after finality and comes again, beside other money for the same order."""

from typing import Any

import pytest
from story import books_are_right

from payments.models import Allocation, PaymentIntent

Settlement = PaymentIntent.Settlement
pytestmark = pytest.mark.django_db


def settlements(*intents: PaymentIntent) -> list[str]:
    return [PaymentIntent.objects.get(pk=intent.pk).settlement for intent in intents]


def test_late_money_that_comes_back_does_not_claim_to_have_paid_the_order(shop: Any) -> None:
    order = shop.order()
    old, new = shop.ask(order), shop.ask(order, "usdt-ethereum")
    shop.network.pay(new)
    shop.block(4)
    shop.end_of(old, plus=45)
    shop.network.price()
    txid = shop.network.pay(old)
    shop.block(4)
    assert settlements(old, new) == [Settlement.CREDITED, Settlement.SETTLED]

    shop.network.chain.reorg(4, keep=False)
    shop.block(5)
    order.refresh_from_db()
    assert settlements(old, new) == [Settlement.REVERSED, Settlement.SETTLED]
    assert order.needs_help_at is not None

    shop.network.chain.pay(old.address.address, old.amount, method="eth", txid=txid)
    shop.block(4)
    order.refresh_from_db()
    assert settlements(old, new) == [Settlement.CREDITED, Settlement.SETTLED]
    assert order.needs_help_at is None
    assert [(a.episode, a.live) for a in Allocation.objects.filter(intent=old).order_by("pk")] == [
        (1, False),
        (2, True),
    ]
    books_are_right()
