"""Money that is taken back after finality and comes again, beside other money for the same order."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from story import books_are_right, cursor

from catalog.actions import set_stock
from orders.actions import move_to_balance, release
from orders.errors import NotReturnable
from orders.models import Hold
from payments.actions import watching
from payments.models import Allocation, ChainTransfer, NetworkCursor, PaymentIntent
from payments.networks.base import Cursor
from payments.queries import ours_among
from payments.registry import method, node

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


def read_half_of_a_reorg(shop: Any) -> None:
    """Move a final transfer to a later block, and read one block after the common ancestor, as a slow catching up."""
    shop.network.chain.reorg(4)
    shop.network.chain.mine()
    slow: Any = node("ethereum")
    slow.max_blocks = 1
    turn = watching.claim("ethereum")
    assert turn is not None
    known = Cursor(turn.genesis, tuple((height, block_hash) for height, block_hash in turn.recent))
    batch = slow.scan(known, lambda addresses: ours_among("ethereum", addresses))
    assert batch.more
    watching.record_batch("ethereum", turn.turn, batch)
    shop.clock.move_to(timezone.now() + watching.LEASE + timedelta(seconds=1))


@pytest.mark.parametrize("stopped", [False, True])
def test_what_is_not_found_yet_is_not_reversed_while_a_reorg_is_half_read(shop: Any, stopped: bool) -> None:
    """The node went away in the middle, or turned out to be on another chain: nothing is known to be gone."""
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent)
    shop.network.settle()
    read_half_of_a_reorg(shop)
    assert ChainTransfer.objects.get().status == ChainTransfer.Status.SEEN
    if stopped:
        watching.stop("ethereum", cursor().turn, "another chain")
    else:
        shop.network.chain.go_down()
    shop.network.watch()
    order.refresh_from_db()
    assert (settlements(intent), order.needs_help_at) == ([Settlement.SETTLED], None)

    shop.network.chain.come_up()
    NetworkCursor.objects.update(state=NetworkCursor.State.WATCHING)
    shop.block(4)
    assert [(a.episode, a.live) for a in Allocation.objects.all()] == [(1, True)]
    assert settlements(intent) == [Settlement.SETTLED]
    books_are_right()


def test_a_part_that_comes_back_takes_the_flag_away_although_it_is_less_than_its_promise(shop: Any) -> None:
    order = shop.order()
    part = shop.ask(order)
    shop.network.pay(part, part.amount * 4 // 10)
    shop.block()
    shop.end_of(part)
    shop.block(4)
    rest = shop.ask(order, "usdt-ethereum")
    shop.network.pay(rest)
    shop.block(4)
    lost = ChainTransfer.objects.get(intent=part)
    assert settlements(part, rest) == [Settlement.CREDITED, Settlement.SETTLED]

    shop.network.chain.reorg(10, keep=False)
    shop.block(11)
    order.refresh_from_db()
    assert settlements(part, rest) == [Settlement.REVERSED, Settlement.REVERSED]
    for row in ChainTransfer.objects.order_by("pk"):
        asset = method(row.method).asset
        shop.network.chain.pay(
            row.intent.address.address, row.amount, method=row.method, contract=asset.contract, txid=row.txid
        )
        shop.block(4)
        order.refresh_from_db()
        assert (order.needs_help_at is None) == (row.pk != lost.pk)
    assert settlements(part, rest) == [Settlement.CREDITED, Settlement.SETTLED]
    books_are_right()


def test_the_sum_of_a_waiting_order_whose_money_is_gone_is_not_moved_to_the_balance(shop: Any) -> None:
    """A person decides about it; what the house had added to a short payment would be a gift."""
    order = shop.order()
    intent = shop.ask(order)
    release(Hold.objects.get(order=order))
    set_stock(offer=shop.offer, lots=0)
    shop.network.pay(intent, intent.amount * 996 // 1000)
    shop.network.settle()
    shop.network.chain.reorg(4, keep=False)
    shop.network.mine(8)
    assert settlements(intent) == [Settlement.REVERSED]
    with pytest.raises(NotReturnable):
        move_to_balance(order.pk, actor=shop.customer)
    assert shop.balance() == 0
    books_are_right()
