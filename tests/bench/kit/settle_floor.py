"""The statements that settle a transfer, sent with the bare ORM: the same reads, locks, savepoints and writes in the
same transactions, and nothing decided. It knows that each transfer is exact, on time, alone and its customer's first.

The benchmark compares what both send (`tests/bench/settle.py`), so this can't become less without being noticed.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from balance.models import Account, House, Movement
from events.models import Delivery, Event
from orders.models import Hold, Order
from payments.models import (
    Allocation,
    ChainTransfer,
    Installation,
    NetworkCursor,
    PaymentIntent,
    ReservedAddress,
    SpentOutput,
)
from payments.networks.base import Transfer
from provisioning.models import Rental

HANDLER, TELL, BATCH = "provisioning.handlers.start_rental", "config.telling.note", 100
PLACE = ("status", "block_height", "block_hash", "block_time", "confirmations", "finalized", "seconded", "replaced_by")


def settle(network: str, transfers: Sequence[Transfer]) -> None:
    """Recognise, credit, capture and queue, as the watcher's two passes and the relay do."""
    houses = {account.house: account for account in Account.objects.exclude(house=None)}
    claim(network)
    NetworkCursor.objects.get(pk=network)
    addresses = [one.address for one in transfers]
    list(ReservedAddress.objects.filter(network=network, address__in=addresses).values("address"))
    recognise(network, transfers)
    confirm(network, "included", 1, ())
    for intent in due(network):
        note_seen(intent)
    end(network)
    claim(network)
    NetworkCursor.objects.get(pk=network)
    recognise(network, ())
    confirm(network, "final", 3, ("transfer.final",))
    for intent in due(network):
        pay(intent, houses)
    end(network)
    relay()


def locked_cursor(network: str) -> NetworkCursor:
    return NetworkCursor.objects.select_for_update(no_key=True).get(pk=network)


def claim(network: str) -> None:
    NetworkCursor.objects.get(network=network)
    with transaction.atomic():
        cursor = locked_cursor(network)
        cursor.leased_until, cursor.turn = timezone.now(), cursor.turn + 1
        cursor.save(update_fields=["leased_until", "turn"])


def end(network: str) -> None:
    turn = F("turn")
    NetworkCursor.objects.filter(pk=network, turn__gte=0).update(leased_until=timezone.now(), ended_turn=turn)


def event(kind: str, subject: str, order_id: int | None) -> Event:
    return Event(kind=kind, subject=subject, thread=f"order:{order_id}", data={"amount": "100000000", "height": 7})


@transaction.atomic
def recognise(network: str, transfers: Sequence[Transfer]) -> None:
    cursor = locked_cursor(network)
    if transfers:
        insert(network, transfers)
    cursor.last_pass_at = cursor.leased_until = timezone.now()
    columns = ["genesis", "recent", "head", "watched_until", "leased_until", "last_pass_at", "error"]
    cursor.save(update_fields=columns)


def insert(network: str, transfers: Sequence[Transfer]) -> None:
    list(ChainTransfer.objects.filter(network=network, txid__in=[one.txid for one in transfers]).values("txid"))
    found = PaymentIntent.objects.select_related("address", "order", "topup").filter(
        network=network, address__network=network, address__address__in=[one.address for one in transfers]
    )
    intents = {intent.address.address: intent for intent in found}
    rows = [row_of(network, one, intents[one.address]) for one in transfers]
    with transaction.atomic():
        ChainTransfer.objects.bulk_create(rows)
    kinds = ("transfer.seen", "transfer.included")
    Event.objects.bulk_create(
        event(kind, f"chaintransfer:{row.pk}", row.intent.order_id) for row in rows for kind in kinds
    )


def row_of(network: str, one: Transfer, intent: PaymentIntent) -> ChainTransfer:
    assert one.block is not None
    return ChainTransfer(
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


def confirm(network: str, status: str, confirmations: int, kinds: Sequence[str]) -> None:
    work = ChainTransfer.objects.filter(network=network).exclude(status="final")
    rows = list(work.exclude(status__in=ChainTransfer.GONE).select_related("intent__address"))
    list(SpentOutput.objects.filter(transfer__in=[row.pk for row in rows]))
    with transaction.atomic():
        locked_cursor(network)
        again = ChainTransfer.objects.select_for_update(of=("self",), no_key=True).order_by("pk")
        keys = [row.pk for row in rows]
        locked = list(again.filter(pk__in=keys).select_related("intent__order", "intent__topup"))
        place = {column: getattr(locked[0], column) for column in PLACE}
        place |= {"status": status, "confirmations": confirmations}
        ChainTransfer.objects.filter(pk__in=keys).update(**place)
        if kinds:
            Event.objects.bulk_create(event(kinds[0], f"chaintransfer:{row.pk}", row.intent.order_id) for row in locked)


def due(network: str) -> list[PaymentIntent]:
    """Return the intents, by the reads that find them among all others."""
    work = ChainTransfer.objects.filter(network=network, credited=False, dust=False).exclude(method="")
    moving = {row.intent_id for row in work.select_related("intent__order")}
    list(ChainTransfer.objects.filter(network=network, credited=True).exclude(status="final").values("intent"))
    list(PaymentIntent.objects.filter(network=network, ended_at=None, expires_at__lt=timezone.now()).values("pk"))
    found = PaymentIntent.objects.select_related("address", "customer").filter(pk__in=moving).order_by("pk")
    intents = list(found)
    Installation.objects.get()
    NetworkCursor.objects.values_list("watched_until", "last_pass_at").get(pk=network)
    return intents


def locked_intent(known: PaymentIntent) -> tuple[Order, PaymentIntent, ChainTransfer, Hold]:
    assert known.order_id is not None
    order = Order.objects.select_for_update(of=("self",), no_key=True).get(pk=known.order_id)
    intent = PaymentIntent.objects.select_for_update(of=("self",), no_key=True).get(pk=known.pk)
    arrived = ChainTransfer.objects.filter(intent=intent, dust=False).exclude(method="").order_by("pk")
    (row,) = list(arrived)
    holds = Hold.objects.select_for_update(of=("self",), no_key=True)
    hold = holds.filter(order=order, state="held").first()
    assert hold is not None
    return order, intent, row, hold


@transaction.atomic
def note_seen(known: PaymentIntent) -> None:
    order, intent, row, _ = locked_intent(known)
    intent.funding = PaymentIntent.Funding.COVERED
    intent.save(update_fields=["funding"])
    list(PaymentIntent.objects.filter(order=order))
    order.payment, order.promised_until = Order.Payment.SEEN, intent.expires_at
    order.save(update_fields=["payment", "promised_until"])
    until = row.first_seen_at + timedelta(hours=3)
    Hold.objects.filter(order=order, state="held", until__isnull=False).update(until=until)


@transaction.atomic
def pay(known: PaymentIntent, houses: dict[str | None, Account]) -> None:
    now = timezone.now()
    order, intent, row, _ = locked_intent(known)
    row.allocations.order_by("-episode").first()
    account = account_of(intent)
    received = move(houses[House.RECEIVED], account, order, f"transfer:{row.pk}:1", Movement.Kind.TRANSFER)
    Account.objects.filter(pk=account.pk).update(balance_cents=order.total_cents, floor_cents=0)
    allocate(row, intent, received)
    move(account, houses[House.ORDERS], order, f"order:{order.pk}:capture", Movement.Kind.CAPTURE)
    Account.objects.filter(pk=account.pk).update(balance_cents=F("balance_cents") - order.total_cents)
    Hold.objects.filter(order=order, state="held").update(until=None)
    capture(order, now)
    intent.settlement, intent.ended_at = PaymentIntent.Settlement.SETTLED, now
    intent.save(update_fields=["settlement", "ended_at"])
    settled = event("order.settled", f"order:{order.pk}", order.pk)
    credited = event("transfer.credited", f"chaintransfer:{row.pk}", order.pk)
    Event.objects.bulk_create([credited, settled, event("intent.settled", f"paymentintent:{intent.pk}", order.pk)])
    Delivery.objects.bulk_create([Delivery(event=settled, handler=HANDLER)])


def account_of(intent: PaymentIntent) -> Account:
    """Look for the customer's account and make it, as each is new here."""
    accounts = Account.objects.select_for_update(of=("self",), no_key=True)
    accounts.filter(customer=intent.customer_id).first()
    with once():
        return Account.objects.create(customer_id=intent.customer_id, balance_cents=0)


def move(debit: Account, credit: Account, order: Order, reference: str, kind: Movement.Kind) -> Movement:
    with once():
        return Movement.objects.create(
            debit=debit, credit=credit, amount_cents=order.total_cents, kind=kind, reference=reference
        )


def once() -> AbstractContextManager[Any]:
    """Let SQLite set a savepoint where ours does: around what may be there already. PostgreSQL needs none for it."""
    return transaction.atomic() if connection.vendor == "sqlite" else nullcontext()


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


def capture(order: Order, now: datetime) -> None:
    paid = {"payment": Order.Payment.PAID, "settled_at": now, "state": Order.State.SETTLED}
    Order.objects.filter(pk=order.pk, state=Order.State.OPEN).update(**paid)


def relay() -> None:
    """Read deliveries as long as there are some, with their events, and make each in a transaction of its own."""
    while deliveries := list(undone().prefetch_related("event")[:BATCH]):
        for delivery in deliveries:
            deliver(delivery)


def undone() -> QuerySet[Delivery]:
    return Delivery.objects.filter(done_at=None, due_at__lte=timezone.now()).order_by("due_at", "id")


@transaction.atomic
def deliver(known: Delivery) -> None:
    """Queue the rental, or tell operators that one was queued: none of them is told anything here."""
    delivery = undone().select_for_update(skip_locked=True, of=("self",), no_key=True).filter(pk=known.pk).first()
    assert delivery is not None
    if delivery.handler == HANDLER:
        queue(known)
    Delivery.objects.filter(pk=delivery.pk).update(done_at=timezone.now(), error="")


def queue(known: Delivery) -> None:
    order_id = int(known.event.thread.removeprefix("order:"))
    order = Order.objects.select_for_update(of=("self",), no_key=True).get(pk=order_id)
    Hold.objects.select_for_update(of=("self",), no_key=True).filter(order=order, state="held").first()
    with once():
        rental = Rental.objects.create(order=order)
    queued = event("rental.queued", f"rental:{rental.pk}", order.pk)
    queued.save(force_insert=True)
    Delivery.objects.bulk_create([Delivery(event=queued, handler=TELL)])
