"""The least ORM code that settles transfers: the same rows written in the same transactions, each row read once.

It checks nothing, decides nothing and repeats nothing: it knows that every transfer is exact, on time and alone.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from balance.models import Account, House, Movement
from events.models import Delivery, Event
from orders.models import Hold, Order
from payments.models import Allocation, ChainTransfer, NetworkCursor, PaymentIntent
from payments.networks.base import Transfer
from provisioning.models import Rental

HANDLER = "provisioning.handlers.start_rental"


def settle(network: str, transfers: Sequence[Transfer]) -> None:
    """Recognise, credit, capture and queue, as the watcher's two passes and the relay do."""
    recognise(network, transfers)
    for row in ChainTransfer.objects.filter(txid__in=[one.txid for one in transfers]):
        note_seen(row)
    finish(network, [one.txid for one in transfers])
    rows = list(ChainTransfer.objects.filter(txid__in=[one.txid for one in transfers]))
    houses = {account.house: account for account in Account.objects.exclude(house=None)}
    for row in rows:
        pay(row, houses)
    for _ in rows:
        deliver()


def event(kind: str, subject: str, order_id: int | None) -> Event:
    return Event.objects.create(kind=kind, subject=subject, thread=f"order:{order_id}", data={"amount": "1"})


@transaction.atomic
def recognise(network: str, transfers: Sequence[Transfer]) -> None:
    cursor = NetworkCursor.objects.select_for_update(no_key=True).get(pk=network)
    for one in transfers:
        assert one.block is not None
        intent = PaymentIntent.objects.get(address__network=network, address__address=one.address)
        row = ChainTransfer.objects.create(
            network=network,
            txid=one.txid,
            position=one.position,
            intent=intent,
            method=intent.method,
            amount=one.amount,
            status="included",
            block_height=one.block.height,
            block_hash=one.block.hash,
            block_time=one.block.time,
        )
        event("transfer.seen", f"chaintransfer:{row.pk}", intent.order_id)
        event("transfer.included", f"chaintransfer:{row.pk}", intent.order_id)
    cursor.save(update_fields=["recent", "head", "watched_until"])


@transaction.atomic
def note_seen(row: ChainTransfer) -> None:
    intent = PaymentIntent.objects.get(pk=row.intent_id)
    assert intent.order_id is not None
    order = Order.objects.select_for_update(no_key=True).get(pk=intent.order_id)
    intent.funding = PaymentIntent.Funding.COVERED
    intent.save(update_fields=["funding"])
    order.payment = Order.Payment.SEEN
    order.save(update_fields=["payment"])
    Hold.objects.filter(order=order).update(until=timezone.now())


@transaction.atomic
def finish(network: str, txids: Sequence[str]) -> None:
    NetworkCursor.objects.select_for_update(no_key=True).get(pk=network)
    for txid in txids:
        row = ChainTransfer.objects.select_for_update(no_key=True).get(network=network, txid=txid, position="value")
        row.status, row.confirmations = ChainTransfer.Status.FINAL, 3
        row.save(update_fields=["status", "confirmations"])
        event("transfer.final", f"chaintransfer:{row.pk}", None)


@transaction.atomic
def pay(row: ChainTransfer, houses: dict[str | None, Account]) -> None:
    now = timezone.now()
    intent = PaymentIntent.objects.get(pk=row.intent_id)
    assert intent.order_id is not None
    order = Order.objects.select_for_update(no_key=True).get(pk=intent.order_id)
    hold = Hold.objects.select_for_update(no_key=True).get(order=order)
    account = Account.objects.create(customer_id=order.customer_id, balance_cents=0)
    received = move(houses[House.RECEIVED], account, order, f"transfer:{row.pk}:1", Movement.Kind.TRANSFER)
    Account.objects.filter(pk=account.pk).update(balance_cents=F("balance_cents") + order.total_cents)
    allocate(row, intent, received)
    move(account, houses[House.ORDERS], order, f"order:{order.pk}:capture", Movement.Kind.CAPTURE)
    Account.objects.filter(pk=account.pk).update(balance_cents=F("balance_cents") - order.total_cents)
    hold.until = None
    hold.save(update_fields=["until"])
    capture(order, now)
    intent.settlement, intent.ended_at = PaymentIntent.Settlement.SETTLED, now
    intent.save(update_fields=["settlement", "ended_at"])
    event("intent.settled", f"paymentintent:{intent.pk}", order.pk)


def move(debit: Account, credit: Account, order: Order, reference: str, kind: Movement.Kind) -> Movement:
    return Movement.objects.create(
        debit=debit, credit=credit, amount_cents=order.total_cents, kind=kind, reference=reference
    )


def allocate(row: ChainTransfer, intent: PaymentIntent, movement: Movement) -> None:
    Allocation.objects.create(
        transfer=row,
        intent=intent,
        customer_id=intent.customer_id,
        locked_amount=row.amount,
        market_amount=0,
        usd_cents=movement.amount_cents,
        movement=movement,
    )
    row.credited = True
    row.save(update_fields=["credited"])
    event("transfer.credited", f"chaintransfer:{row.pk}", intent.order_id)


def capture(order: Order, now: datetime) -> None:
    order.payment, order.settled_at, order.state = Order.Payment.PAID, now, Order.State.SETTLED
    order.save(update_fields=["payment", "settled_at", "state"])
    settled = event("order.settled", f"order:{order.pk}", order.pk)
    Delivery.objects.create(event=settled, handler=HANDLER)


@transaction.atomic
def deliver() -> None:
    due = Delivery.objects.select_for_update(skip_locked=True, of=("self",), no_key=True).select_related("event")
    delivery = due.filter(done_at=None, due_at__lte=timezone.now()).order_by("due_at", "id")[0]
    order = Order.objects.select_for_update(no_key=True).get(pk=int(delivery.event.thread.removeprefix("order:")))
    rental = Rental.objects.create(order=order)
    event("rental.queued", f"rental:{rental.pk}", order.pk)
    delivery.done_at = timezone.now()
    delivery.save(update_fields=["done_at"])
