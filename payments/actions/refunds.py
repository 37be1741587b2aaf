"""Send a transfer back: an operator makes the refund, another one approves it, then it goes the way of every payout."""

import uuid
from dataclasses import dataclass

from django.db import transaction

from accounts.models import User
from money.units import plain

from .. import errors
from ..models import ChainTransfer, Payout
from ..payouts import cents_to_debit, fee_of, refundable_of
from ..registry import method as method_by_code
from .intents import locked_intent
from .payouts import insert, receiver


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an operator wants to send back: base units of the transfer, the fee included that its receiver bears."""

    units: int
    address: str
    reason: str
    house_pays_fee: bool = False


def make_refund(transfer_id: int, wanted: Wanted, *, form_key: uuid.UUID, actor: User) -> Payout:
    """Reserve a refund of a final transfer: of one that was credited its cents are debited, of one that a person
    decided to keep only units are. The same form key again returns the first one. A `Refused` says why nothing was
    reserved.

    The transfer's intent is locked: refunds of one transfer take turns, and none meets its credit.
    """
    if not wanted.reason.strip():
        raise errors.NoGrounds
    with transaction.atomic(durable=True):
        intent_id = ChainTransfer.objects.values_list("intent", flat=True).get(pk=transfer_id)
        intent = locked_intent(intent_id)
        existing = Payout.objects.filter(customer=intent.customer, form_key=form_key).first()
        if existing:
            return existing
        transfer = ChainTransfer.objects.select_for_update(of=("self",), no_key=True).get(pk=transfer_id)
        transfer.intent = intent
        return insert(refund_row(transfer, wanted, form_key, actor), actor=actor)


def refund_row(transfer: ChainTransfer, wanted: Wanted, form_key: uuid.UUID, actor: User) -> Payout:
    """Return the row, not yet written, of a refund of a locked transfer."""
    refundable = refundable_of(transfer)
    if refundable.why_not:
        raise errors.NotRefundable(refundable.why_not)
    method = method_by_code(transfer.method)
    if wanted.units > refundable.left:
        raise errors.TooMuchToRefund(f"{plain(refundable.left, method.asset.decimals)} {method.asset.symbol}")
    fee = 0 if wanted.house_pays_fee else fee_of(method)
    if wanted.units <= fee:
        raise errors.NothingArrives
    cents = cents_to_debit(transfer, refundable, wanted.units) if refundable.credited else 0
    if refundable.credited and cents < 1:
        raise errors.NothingArrives
    return Payout(
        kind=Payout.Kind.REFUND,
        customer=transfer.intent.customer,
        form_key=form_key,
        transfer=transfer,
        method=method.code,
        network=method.family.network,
        address=receiver(method, wanted.address),
        usd_cents=cents,
        quoted_amount=wanted.units - fee,
        amount=wanted.units - fee,
        fee=fee,
        reason=wanted.reason.strip(),
        requested_by=actor,
    )
