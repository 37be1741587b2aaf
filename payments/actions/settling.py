"""Turn facts into credit and credit into a paid order: one function, `advance`, that may run at any time and again."""

import uuid
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction

from balance.actions import Overdrawn, credit
from balance.models import House, Movement
from events.actions import record
from orders.actions import capture, held, release, secure_lots

from .. import quotes, seals
from ..models import Allocation, ChainTransfer, Installation, NetworkCursor, PaymentIntent, ReviewItem
from ..queries import price_near, tolerance
from ..registry import Method
from ..registry import method as method_by_code
from ..standing import Fact, Promise, Share, Standing, shares, stand, worth
from .holds import renew_hold
from .intents import locked_intent
from .reviews import open_review

Quote, Settlement, Status = PaymentIntent.Quote, PaymentIntent.Settlement, ChainTransfer.Status


@dataclass(slots=True)
class Credited:
    """A share with the market's part priced: what the customer is credited in all."""

    share: Share
    market_rate_e8: int | None
    cents: int


def advance(intent_id: uuid.UUID, *, now: datetime, derived: str | None) -> None:
    """Bring an intent to what its facts say: credit final transfers, pay the order, end the promise, keep the caches.

    `derived` is the address that the worker's own key gives for the intent's index. Without it, or if it differs from
    the stored row, nothing is credited: a changed row must not move money.
    """
    with transaction.atomic(durable=True):
        intent = locked_intent(intent_id)
        watched = watched_until(intent.network)  # before the transfers: what was watched meanwhile must not count
        rows = ChainTransfer.objects.filter(intent=intent).known().that_count()
        transfers = {row.pk: row for row in rows.order_by("pk")}
        method = method_by_code(intent.method)
        promise = promise_of(intent, method)
        facts = [fact_of(row) for row in transfers.values()]
        standing = stand(promise, facts, order_payable=intent.order.is_payable, watched_until=watched, now=now)
        split = priced(intent, method, shares(promise, standing), transfers, now)
        if not may_credit(intent, standing, derived) or (standing.settle and lacks_on_time(promise, standing, split)):
            standing, split = postponed(standing), []
        settle_money(intent, promise, standing, split, transfers)
        keep_caches(intent, standing, now)
        renew_hold(intent.order, now=now)


def lacks_on_time(promise: Promise, standing: Standing, split: list[Credited]) -> bool:
    """Tell whether on-time money can't be priced yet. Late money without a price never keeps a kept promise waiting."""
    priced_ids = {credited.share.fact.id for credited in split}
    return any(fact.id not in priced_ids and fact.known_at <= promise.until for fact in standing.credit)


def postponed(standing: Standing) -> Standing:
    """Return the standing of an intent whose money can't be credited yet: it does not end by being settled."""
    return replace(standing, settle=False, ended=standing.ended and not standing.settle)


def promise_of(intent: PaymentIntent, method: Method) -> Promise:
    share, cap = tolerance(method)
    return Promise(
        amount=intent.amount,
        usd_cents=intent.usd_cents,
        shortfall=quotes.tolerated_shortfall(intent.amount, intent.usd_cents, share, cap),
        expires_at=intent.expires_at,
        quote=intent.quote,
        closed_at=intent.closed_at,
        settlement=intent.settlement,
        ended=intent.ended_at is not None,
    )


def fact_of(transfer: ChainTransfer) -> Fact:
    known_at = min(transfer.first_seen_at, transfer.block_time or transfer.first_seen_at)
    return Fact(
        id=transfer.pk,
        amount=transfer.amount,
        known_at=known_at,
        included=transfer.status != Status.SEEN,
        final=transfer.status == Status.FINAL,
        credited=transfer.credited,
    )


def watched_until(network: str) -> datetime | None:
    """Return until when the network was watched: the last block's time, or when we read it if that is earlier.

    A block may claim a time that has not come; what happens until then was not watched yet.
    """
    cursor = NetworkCursor.objects.get(pk=network)
    known = [at for at in (cursor.watched_until, cursor.last_pass_at) if at]
    return min(known) if cursor.watched_until else None


def may_credit(intent: PaymentIntent, standing: Standing, derived: str | None) -> bool:
    """Check the address once more before money moves: the seal of its row, and what our key derives."""
    if derived is None or not standing.credit:
        return False
    row = intent.address
    if derived == row.address and seals.holds(row, Installation.objects.get()):
        return True
    if intent.settlement == Settlement.UNSETTLED:
        intent.settlement = Settlement.REVIEW
    open_review(
        ReviewItem.Reason.ADDRESS,
        subject=intent,
        thread=intent.order,
        derived=derived,
        stored=row.address,
        suggestion="Compare both with your wallet. Do not credit before you know who changed the row.",
    )
    return False


def settle_money(
    intent: PaymentIntent,
    promise: Promise,
    standing: Standing,
    split: list[Credited],
    transfers: dict[int, ChainTransfer],
) -> None:
    """Credit each share once and, if the promise is kept, pay the order with it: one transaction."""
    had_lots = held(intent.order) is not None
    secured = standing.settle and secure_lots(intent.order)  # stock is locked before the account
    for credited in split:
        allocate(intent, transfers[credited.share.fact.id], credited)
    if standing.settle:
        intent.settlement = pay_order(intent, promise, secured=secured, had_lots=had_lots)
    elif split and intent.settlement != Settlement.SETTLED:
        intent.settlement = Settlement.CREDITED


def pay_order(intent: PaymentIntent, promise: Promise, *, secured: bool, had_lots: bool) -> PaymentIntent.Settlement:
    """Capture the order, an accepted shortfall included.

    If a debt that a reversal left took the credit, the order stays open, the money is kept and the house gives nothing.
    """
    try:
        with transaction.atomic():
            make_whole(intent, promise)
            capture(intent.order, secured=secured, actor=None, source=f"intent:{intent.pk}")
    except Overdrawn:
        hold = held(intent.order)
        if hold and not had_lots:
            release(hold)
        record("intent.could_not_pay", subject=intent, thread=intent.order, actor=None)
        return Settlement.CREDITED
    return Settlement.SETTLED


def priced(
    intent: PaymentIntent, method: Method, split: list[Share], transfers: dict[int, ChainTransfer], now: datetime
) -> list[Credited]:
    """Price the market's part of each share. One without a market price waits, one beyond belief waits for a person."""
    result = []
    for share in split:
        rate = None
        if share.market:
            moment = transfers[share.fact.id].block_time or share.fact.known_at
            rate = price_near(method.asset.symbol, moment, now)
            if rate is None:
                continue
        extra = quotes.cents_for(share.market, rate, method.asset.decimals) if rate else 0
        cents = share.locked_cents + extra
        if cents > quotes.BELIEVED_CENTS:
            ask_about_amount(intent, transfers[share.fact.id])
        else:
            result.append(Credited(share, rate, cents))
    return result


def ask_about_amount(intent: PaymentIntent, transfer: ChainTransfer) -> None:
    """Put before a person that a transfer is worth more than anybody pays: a fault of a contract, a price or a node."""
    if intent.settlement == Settlement.UNSETTLED:
        intent.settlement = Settlement.REVIEW
    open_review(
        ReviewItem.Reason.AMOUNT,
        subject=transfer,
        thread=intent.order,
        amount=str(transfer.amount),
        suggestion="Look the transaction up in an explorer and check the price. Nothing was credited.",
    )


def allocate(intent: PaymentIntent, transfer: ChainTransfer, credited: Credited) -> None:
    """Credit one transfer to the customer. The unique keys of allocation and movement make it happen once."""
    movement = None
    episode = transfer.allocations.count() + 1
    if credited.cents:
        movement = credit(
            intent.customer,
            credited.cents,
            house=House.RECEIVED,
            kind=Movement.Kind.TRANSFER,
            reference=f"transfer:{transfer.pk}:{episode}",
            actor=None,
        )
    Allocation.objects.create(
        transfer=transfer,
        episode=episode,
        intent=intent,
        customer=intent.customer,
        locked_amount=credited.share.locked,
        market_amount=credited.share.market,
        market_rate_e8=credited.market_rate_e8,
        usd_cents=credited.cents,
        movement=movement,
    )
    transfer.credited = True
    transfer.save(update_fields=["credited"])
    record(
        "transfer.credited",
        subject=transfer,
        thread=intent.order,
        actor=None,
        usd_cents=credited.cents,
        promised=str(credited.share.locked),
        market=str(credited.share.market),
    )


def make_whole(intent: PaymentIntent, promise: Promise) -> None:
    """Pay an accepted shortfall from the house, so that the customer's credit covers exactly the promise."""
    credited = sum(row.usd_cents for row in Allocation.objects.filter(intent=intent, live=True))
    short = intent.usd_cents - credited
    if short > intent.usd_cents - worth(promise, promise.amount - promise.shortfall):
        raise RuntimeError(f"intent {intent.pk}: {short} cents are missing, more than the tolerance accepts")
    if short > 0:
        credit(
            intent.customer,
            short,
            house=House.TOLERANCE,
            kind=Movement.Kind.TOLERANCE,
            reference=f"intent:{intent.pk}:tolerance",
            actor=None,
            reason="shortfall within the tolerance",
        )


CACHES = ("quote", "funding", "settlement", "late", "unwatched", "ended_at")


def keep_caches(intent: PaymentIntent, standing: Standing, now: datetime) -> None:
    """Write the derived columns that became different, and record it."""
    before = PaymentIntent.objects.values(*CACHES).get(pk=intent.pk)
    intent.quote, intent.funding, intent.late = standing.quote, standing.funding, standing.late
    intent.unwatched = intent.unwatched or standing.unwatched
    if standing.ended and intent.ended_at is None:
        intent.ended_at = now
    changed = [column for column in CACHES if getattr(intent, column) != before[column]]
    if changed:
        intent.save(update_fields=changed)
    if "quote" in changed and intent.quote == Quote.EXPIRED:
        record("intent.expired", subject=intent, thread=intent.order, actor=None, unwatched=intent.unwatched)
    if "settlement" in changed:
        record(f"intent.{intent.settlement}", subject=intent, thread=intent.order, actor=None)
