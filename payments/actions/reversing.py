"""Take back the credit of money that is gone although it was final: the credit is mirrored, never what it paid for."""

from django.db.models import QuerySet

from balance import actions as ledger
from events.actions import record
from orders.actions import ask_for_help
from orders.models import Order

from ..models import Allocation, ChainTransfer, PaymentIntent
from .adjusting import give_back_undone

Status = ChainTransfer.Status


def lost_credit(intent: PaymentIntent) -> QuerySet[Allocation]:
    """Return the live credit of transfers that are in no block any more."""
    gone = (Status.SEEN, *ChainTransfer.GONE)
    rows = Allocation.objects.filter(intent=intent, live=True, transfer__status__in=gone)
    return rows.select_related("transfer", "movement__credit__customer", "movement__debit").order_by("pk")


def reverse(intent: PaymentIntent, allocation: Allocation) -> None:
    """Mirror one credit. The balance may go below zero; a paid order stays paid and needs a person's help.

    A credit that a person had undone already is not taken twice, and does not come back by itself.
    """
    transfer = allocation.transfer
    if allocation.movement and give_back_undone(allocation.movement):
        transfer.verdict = ChainTransfer.Verdict.KEEP
    allocation.live = False
    allocation.save(update_fields=["live"])
    transfer.credited = False
    transfer.save(update_fields=["credited", "verdict"])
    if allocation.movement:
        ledger.reverse(
            allocation.movement,
            reference=f"{allocation.movement.reference}:reversed",
            actor=None,
            reason="the transfer's block was replaced after it was final",
        )
    intent.settlement = PaymentIntent.Settlement.REVERSED
    if intent.order and intent.order.state == Order.State.SETTLED:
        ask_for_help(intent.order)
    record(
        "transfer.reversed",
        subject=transfer,
        thread=intent.purpose,
        actor=None,
        usd_cents=allocation.usd_cents,
        episode=allocation.episode,
    )
