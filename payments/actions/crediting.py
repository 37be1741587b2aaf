"""Credit transfers: at the promised rate, at the market's, or not before a person has decided."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from balance.actions import credit
from balance.models import Account, House, Movement
from events.actions import record
from events.statements import insert, kept_row, write_columns

from .. import quotes
from ..models import Allocation, ChainTransfer, PaymentIntent, ReviewItem
from ..prices import price_near
from ..registry import Method, methods
from ..standing import Share
from .reviews import open_review

Settlement, Status, Verdict = PaymentIntent.Settlement, ChainTransfer.Status, ChainTransfer.Verdict


@dataclass(frozen=True, slots=True)
class Credited:
    """What one transfer is credited with: base units at the promised rate and at the market's, and cents in all.
    `episode` counts how often, a reversal between."""

    transfer: ChainTransfer
    locked: int
    market: int
    market_rate_e8: int | None
    cents: int
    episode: int = 1


def priced(
    intent: PaymentIntent,
    method: Method,
    split: Sequence[Share],
    transfers: Mapping[int, ChainTransfer],
    now: datetime,
) -> list[Credited]:
    """Price the market's part of each share. One without a market price waits; one that a rule holds waits for a
    person. What was credited before and reversed comes back as it was."""
    found = [again_or(transfers[share.fact.id], price(method, share, transfers[share.fact.id], now)) for share in split]
    return [one for one in found if one is not None and not held_for_a_person(intent, one)]


def again_or(transfer: ChainTransfer, fresh: Credited | None) -> Credited | None:
    """Return what an earlier episode credited, if the transfer is the same, else what is credited for the first time or
    anew; none if neither is known."""
    last = last_allocation(transfer)
    if last is None:
        return fresh
    if last.locked_amount + last.market_amount != transfer.amount:
        return replace(fresh, episode=last.episode + 1) if fresh else None
    amounts = last.locked_amount, last.market_amount, last.market_rate_e8
    return Credited(transfer, *amounts, last.usd_cents, last.episode + 1)


@kept_row
def last_allocation(transfer: ChainTransfer) -> QuerySet[Allocation]:
    return Allocation.objects.filter(transfer=transfer).order_by("-episode")[:1]


def price(method: Method, share: Share, transfer: ChainTransfer, now: datetime) -> Credited | None:
    if not share.market:
        return Credited(transfer, share.locked, 0, None, share.locked_cents)
    rate = price_near(method.asset.symbol, transfer.block_time or share.fact.known_at, now)
    if rate is None:
        return None
    cents = share.locked_cents + quotes.cents_for(share.market, rate, method.asset.decimals)
    return Credited(transfer, share.locked, share.market, rate, cents)


def held_for_a_person(intent: PaymentIntent, credited: Credited) -> bool:
    """Tell whether a rule keeps this credit for a person to decide, and put it before one."""
    transfer = credited.transfer
    if credited.cents > quotes.BELIEVED_CENTS:
        ask(
            intent,
            transfer,
            ReviewItem.Reason.AMOUNT,
            gettext_noop("Look the transaction up in an explorer and check the price. Nothing was credited."),
        )
        return True
    unpromised = not credited.locked and credited.cents > settings.UNPROMISED_LIMIT_CENTS
    if unpromised and not transfer.seconded and transfer.verdict != Verdict.CREDIT:
        ask(
            intent,
            transfer,
            ReviewItem.Reason.LARGE,
            gettext_noop("Compare it with a second explorer. If both show it, credit it at the market's rate."),
        )
        return True
    return False


def ask(intent: PaymentIntent, transfer: ChainTransfer, reason: ReviewItem.Reason, suggestion: str) -> None:
    """Put a transfer before a person; its intent says so while nothing else was done with its money."""
    if intent.settlement == Settlement.UNSETTLED:
        intent.settlement = Settlement.REVIEW
    open_review(
        reason,
        subject=transfer,
        thread=intent.purpose,
        transfer=transfer,
        amount=str(transfer.amount),
        asset=transfer.method or transfer.contract,
        suggestion=suggestion,
    )


def apart_of(intent: PaymentIntent, method: Method, arrived: Iterable[ChainTransfer], now: datetime) -> list[Credited]:
    """Return what arrived beside the promise and may be credited at the market's rate: a known asset that was not
    asked for, up to a limit; above it, and money that no transaction explains, once a person has said so."""
    assets = {known.code: known.asset for known in methods()}
    result = []
    for row in (row for row in arrived if is_apart(row, method)):
        asset = assets.get(row.method)
        rate = price_near(asset.symbol, row.block_time or row.first_seen_at, now) if asset else None
        if asset is None or rate is None:
            continue
        credited = Credited(row, 0, row.amount, rate, quotes.cents_for(row.amount, rate, asset.decimals))
        if row.verdict == Verdict.CREDIT or may_credit_apart(intent, credited):
            result.append(again_or(row, credited) or credited)
    return result


def is_apart(row: ChainTransfer, method: Method) -> bool:
    """Tell whether a transfer waits for credit and the promise does not speak of it."""
    waits = row.status == Status.FINAL and not row.credited and row.verdict != Verdict.KEEP
    return waits and not (row.method == method.code and row.explained)


def may_credit_apart(intent: PaymentIntent, credited: Credited) -> bool:
    """Tell whether another asset than the asked one is credited without a person."""
    if not credited.transfer.explained:
        return False  # it stands before a person since it was seen
    if credited.cents <= settings.OTHER_ASSET_LIMIT_CENTS:
        return True
    ask(
        intent,
        credited.transfer,
        ReviewItem.Reason.ASSET,
        gettext_noop("Ask the customer, then credit its value at the market's rate or send it back."),
    )
    return False


def allocate(intent: PaymentIntent, credited: Credited, account: Account) -> None:
    """Credit one transfer to the customer's locked account. The unique keys of allocation and movement make it happen
    once."""
    transfer, movement = credited.transfer, None
    if transfer.verdict == Verdict.KEEP:  # it may be on its way back to its sender
        raise RuntimeError(f"{transfer} is not to be credited: a person decided that")
    if credited.cents:
        movement = credit(
            account,
            credited.cents,
            house=House.RECEIVED,
            kind=Movement.Kind.TRANSFER,
            reference=f"transfer:{transfer.pk}:{credited.episode}",
            actor=None,
        )
    insert(
        Allocation(
            transfer=transfer,
            episode=credited.episode,
            intent=intent,
            customer=intent.customer,
            locked_amount=credited.locked,
            market_amount=credited.market,
            market_rate_e8=credited.market_rate_e8,
            usd_cents=credited.cents,
            movement=movement,
        )
    )
    transfer.credited = True
    write_columns(transfer, ["credited"])
    record(
        "transfer.credited",
        subject=transfer,
        thread=intent.purpose,
        actor=None,
        usd_cents=credited.cents,
        promised=str(credited.locked),
        market=str(credited.market),
    )
