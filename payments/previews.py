"""What a decision would do to the ledger: read and computed as the watcher would, nothing written, nothing locked."""

import copy
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.functional import Promise as Words
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from orders.models import Hold, Order

from . import errors
from .actions.crediting import Credited, again_or, price
from .actions.paying import would_cover
from .actions.settling import Case, case_of, fact_of
from .models import ChainTransfer, Purpose
from .prices import price_near
from .queries import can_be_valued, rest_cents
from .quotes import BELIEVED_CENTS, cents_for
from .registry import method as method_by_code
from .standing import shares

Status = ChainTransfer.Status


@dataclass(frozen=True, slots=True)
class Credit:
    """What crediting a transfer would do: `cents` to `customer`, none if nothing would be credited; `note`: why not, or
    what it waits for. `pays`: the order or top-up is then settled too."""

    customer: User
    purpose: Purpose
    cents: int | None
    note: str | Words
    promised: bool = False
    pays: bool = False


def credit_of(transfer: ChainTransfer, now: datetime) -> Credit:
    """Return what would be credited if a person says so now."""
    intent = transfer.intent
    nothing = Credit(intent.customer, intent.purpose, None, "")
    if transfer.credited:
        return replace(nothing, note=errors.CreditedAlready().sentence)
    if not can_be_valued(transfer):
        return replace(nothing, note=errors.NoValue().sentence)
    case = case_with_verdict(transfer, now)
    found = found_for(case, transfer)
    if found is None:
        return replace(nothing, note=_("No price is known at the moment: it is credited once there is one."))
    if found.cents > BELIEVED_CENTS and asked_for(transfer):
        return replace(nothing, note=_("It is worth more than can be believed: no decision credits it."))
    return replace(
        nothing,
        cents=found.cents,
        note=waits_for(transfer),
        promised=found.locked > 0,
        pays=asked_for(transfer) and pays(case, found),
    )


def case_with_verdict(transfer: ChainTransfer, now: datetime) -> Case:
    """Read the case of a transfer's intent as it would be with a person's yes."""
    case = case_of(transfer.intent, now)
    if not asked_for(transfer) or transfer.dust or transfer.is_gone:
        return case
    decided = copy.copy(transfer)
    decided.verdict = ChainTransfer.Verdict.CREDIT
    transfers = dict(sorted({**case.transfers, transfer.pk: decided}.items()))
    facts = [fact_of(row, case.promise, case.method, now) for row in transfers.values()]
    return replace(case, transfers=transfers, facts=facts)


def asked_for(transfer: ChainTransfer) -> bool:
    """Tell whether a transfer is of the asset that its instructions ask for, by a transaction that we know."""
    return transfer.method == transfer.intent.method and transfer.explained


def found_for(case: Case, transfer: ChainTransfer) -> Credited | None:
    """Return what an earlier episode credited, what the promise gives, or else what the market does."""
    return again_or(transfer, fresh_for(case, transfer))


def fresh_for(case: Case, transfer: ChainTransfer) -> Credited | None:
    for share in shares(case.promise, case.stand()):
        if share.fact.id == transfer.pk:
            return price(case.method, share, transfer, case.now)
    cents = market_cents(transfer, case.now)
    return None if cents is None else Credited(transfer, 0, transfer.amount, None, cents)


def market_cents(transfer: ChainTransfer, now: datetime) -> int | None:
    """Return what a transfer is worth at the market's price of its time, or none if no price is known."""
    if not can_be_valued(transfer):
        return None
    asset = method_by_code(transfer.method).asset
    rate = price_near(asset.symbol, transfer.block_time or transfer.first_seen_at, now)
    return cents_for(transfer.amount, rate, asset.decimals) if rate else None


def waits_for(transfer: ChainTransfer) -> str | Words:
    if transfer.is_gone:
        return _("The network does not know it any more: it is credited only if it comes back and is final.")
    if transfer.status != Status.FINAL:
        return _("It is not final yet: it is credited once it is.")
    if transfer.dust:
        return _("It is worth less than a cent.")
    return ""


def pays(case: Case, found: Credited) -> bool:
    """Tell whether the order or top-up is then settled, as far as that can be told without its locks."""
    purpose = case.intent.purpose
    if not purpose.is_payable:
        return False
    return case.stand().settle or (isinstance(purpose, Order) and would_cover(purpose, case.intent, [found]))


@dataclass(frozen=True, slots=True)
class ByHand:
    """What settling an order by hand would do: `adjusted` cents are credited and the total is paid from the balance."""

    adjusted: int
    holds_lots: bool
    lots_left: int


def by_hand_of(order: Order) -> ByHand:
    holds = Hold.objects.filter(order=order, state=Hold.State.HELD).exists()
    return ByHand(max(rest_cents(order), 0), holds, order.offer.available_lots)
