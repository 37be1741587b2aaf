"""Turn facts into credit and credit into a paid order: one function, `advance`, that may run at any time and again."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_noop

from balance.actions import account_of
from balance.models import Account
from events.actions import record, recording, subject_of
from events.models import Event
from events.statements import kept_query, write_columns
from orders.actions import held, help_given, secure_lots
from orders.models import Hold

from .. import quotes, seals
from ..models import Allocation, ChainTransfer, Installation, NetworkCursor, PaymentIntent, ReviewItem
from ..prices import price_near
from ..queries import credited_cents, tolerance
from ..registry import Method, has_second_provider
from ..registry import method as method_by_code
from ..standing import FAIR_SHARE, Fact, Promise, Standing, shares, stand, worth
from .crediting import Credited, allocate, apart_of, priced
from .holds import received, renew_hold
from .intents import locked_again, locked_intent
from .paying import pay_from_credit, pay_order, settle_topup, would_cover
from .reversing import lost_credit, reverse
from .reviews import open_review

Quote, Settlement, Status = PaymentIntent.Quote, PaymentIntent.Settlement, ChainTransfer.Status


@dataclass(frozen=True, slots=True)
class Read:
    """What a pass has read of an intent before its turn: the row with its address and customer, which never change; the
    installation, which never does either; and until when the network was watched. That may be older than what is read
    under the lock, never younger: what was watched later does not count yet."""

    intent: PaymentIntent
    installation: Installation
    watched: datetime | None


def reads_of(network: str, intents: Sequence[PaymentIntent]) -> list[Read]:
    """Return what a pass knows of each of these intents, which come with their addresses and customers."""
    if not intents:
        return []
    installation, watched = Installation.objects.get(), watched_until(network)
    return [Read(intent, installation, watched) for intent in intents]


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that `advance` decides from: an intent's locked row, its promise, its transfers and the clock.

    `arrived`: all that was sent to its address and may have an effect; `transfers`: of it what the promise is about.
    `credited`: some of it is credited already. `before` are the caches as they are stored.
    """

    intent: PaymentIntent
    method: Method
    promise: Promise
    arrived: Sequence[ChainTransfer]
    transfers: Mapping[int, ChainTransfer]
    facts: Sequence[Fact]
    watched: datetime | None
    now: datetime
    credited: bool
    before: Mapping[str, object]

    def stand(self, *, fair_allowed: bool = True) -> Standing:
        return stand(
            self.promise,
            self.facts,
            order_payable=self.intent.purpose.is_payable,
            watched_until=self.watched,
            now=self.now,
            fair_allowed=fair_allowed,
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """What `advance` is about to do. `hold`: what held the order's lots before; `secured`: they are held now; `pays`:
    this credit may pay the order although it keeps no promise of its own."""

    standing: Standing
    split: Sequence[Credited]
    apart: Sequence[Credited]
    hold: Hold | None
    secured: bool
    pays: bool

    @property
    def credits(self) -> Sequence[Credited]:
        return [*self.split, *self.apart]

    @property
    def had_lots(self) -> bool:
        return self.hold is not None


def advance(
    intent_id: uuid.UUID, *, now: datetime, derived: str | None, complete: bool = True, read: Read | None = None
) -> None:
    """Bring an intent to what its facts say: credit final transfers, pay the order, end the promise, keep the caches.

    `derived` is the address that the worker's own key gives for the intent's index. Without it, or if it differs from
    the stored row, nothing is credited: a changed row must not move money. What was credited and is gone is reversed,
    if the network was read `complete`: else it may be in a block that was not read yet. `read`: what the caller knows
    already.
    """
    with recording():
        intent = locked_again(read.intent) if read else locked_intent(intent_id)
        case = case_of(intent, now, read)
        plan = plan_of(case, derived, read.installation if read else None)
        if complete and any(row.credited and row.status != Status.FINAL for row in case.arrived):
            for lost in lost_credit(case.intent):
                reverse(case.intent, lost)
        if plan.credits or plan.standing.settle:
            move_money(case, plan)
        elif case.intent.settlement == Settlement.REVIEW:
            leave_review(case.intent)
        keep_caches(case, plan.standing)
        if case.intent.order:
            arrived = None if case.credited else case.arrived  # what was reversed above changed other copies
            renew_hold(case.intent.order, now=now, hold=plan.hold, arrived=arrived)


def move_money(case: Case, plan: Plan) -> None:
    """Credit what is to be credited, and do what it was for. The account is locked last."""
    account = account_of(case.intent.customer)
    for credited in plan.credits:
        allocate(case.intent, credited, account)
    if plan.standing.settle:
        case.intent.settlement = keep_promise(case, plan, account)
    else:
        after_credit(case, plan, account)


def plan_of(case: Case, derived: str | None, installation: Installation | None) -> Plan:
    """Decide everything, and lock stock, before the first write to an account: that is the order of locks."""
    intent, hold, standing = case.intent, hold_of(case.intent), case.stand()
    apart = apart_of(intent, case.method, case.arrived, case.now) if derived else []
    if (standing.credit or apart) and not address_holds(intent, derived, installation):
        return Plan(postponed(standing), [], [], hold, False, False)
    split = priced(intent, case.method, shares(case.promise, standing), case.transfers, case.now)
    if standing.settle and lacks_promised(case.promise, standing, split):
        return Plan(postponed(standing), [], apart, hold, False, False)
    secured = standing.settle and (hold is not None or secure(intent))
    if standing.fair and not secured:
        standing = case.stand(fair_allowed=False)
        split = priced(intent, case.method, shares(case.promise, standing), case.transfers, case.now)
    pays = not standing.settle and intent.order is not None and would_cover(intent.order, intent, split)
    return Plan(standing, split, apart, hold, secured or (pays and (hold is not None or secure(intent))), pays)


def secure(intent: PaymentIntent) -> bool:
    return intent.order is None or secure_lots(intent.order)


def hold_of(intent: PaymentIntent) -> Hold | None:
    """Return the live hold of an intent's order, locked."""
    return held(intent.order) if intent.order else None


def lacks_promised(promise: Promise, standing: Standing, split: Sequence[Credited]) -> bool:
    """Tell whether what keeps the promise can't be priced yet. An excess without a price never keeps it waiting."""
    units = standing.locked_before + sum(credited.locked for credited in split)
    if standing.fair:
        return worth(promise, units) * FAIR_SHARE[1] < promise.usd_cents * FAIR_SHARE[0]
    return units < promise.needed


def postponed(standing: Standing) -> Standing:
    """Return the standing of an intent whose money can't be credited yet: it does not end by being settled."""
    return replace(standing, settle=False, ended=standing.ended and not standing.settle)


def case_of(intent: PaymentIntent, now: datetime, read: Read | None = None) -> Case:
    """Read everything about a locked intent."""
    # Before the transfers: what was watched meanwhile must not count.
    watched = read.watched if read else watched_until(intent.network)
    arrived, before = arrived_for(intent), {column: getattr(intent, column) for column in CACHES}
    judged = [row for row in received(intent, arrived) if row.verdict != ChainTransfer.Verdict.KEEP]
    method = method_by_code(intent.method)
    promise = promise_of(intent, method)
    facts = [fact_of(row, promise, method, now) for row in judged]
    credited = any(row.credited for row in arrived)
    transfers = {row.pk: row for row in judged}
    return Case(intent, method, promise, arrived, transfers, facts, watched, now, credited, before)


@kept_query
def arrived_for(intent: PaymentIntent) -> QuerySet[ChainTransfer]:
    return ChainTransfer.objects.filter(intent=intent, dust=False).exclude(method="").order_by("pk")


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
        at_once=intent.topup_id is not None,
    )


def fact_of(transfer: ChainTransfer, promise: Promise, method: Method, now: datetime) -> Fact:
    """Return what a transfer says. Money that a second provider must confirm first is not final yet."""
    known_at = known_since(transfer)
    late = promise.in_fair_band(known_at) and not transfer.credited
    rate = price_near(method.asset.symbol, transfer.block_time or known_at, now) if late else None
    return Fact(
        id=transfer.pk,
        amount=transfer.amount,
        known_at=known_at,
        included=transfer.status != Status.SEEN,
        final=transfer.status == Status.FINAL and not wants_second(transfer, promise),
        credited=transfer.credited and transfer.status != Status.SEEN,  # else its credit is about to be reversed
        market_cents=quotes.cents_for(transfer.amount, rate, method.asset.decimals) if rate else None,
    )


def known_since(transfer: ChainTransfer) -> datetime:
    """Return since when a transfer counts as made: our first sight or its block's time, whichever is earlier, and what
    an unwatched pool leaves in doubt to the customer's favour."""
    if transfer.block_time is None:
        return transfer.first_seen_at
    return min(transfer.first_seen_at, transfer.block_time - timedelta(seconds=transfer.slack_seconds))


def wants_second(transfer: ChainTransfer, promise: Promise) -> bool:
    """Tell whether a second provider must confirm a transfer before it counts, and has not done so yet."""
    worth = transfer.amount * promise.usd_cents // promise.amount
    if transfer.credited or transfer.seconded or worth <= settings.SECOND_PROVIDER_ABOVE_CENTS:
        return False
    return has_second_provider(transfer.network) and transfer.verdict != ChainTransfer.Verdict.CREDIT


def watched_until(network: str) -> datetime | None:
    """Return until when the network was watched: the last block's time, or when we read it if that is earlier.

    A block may claim a time that has not come; what happens until then was not watched yet.
    """
    watched, passed = NetworkCursor.objects.values_list("watched_until", "last_pass_at").get(pk=network)
    return min(watched, passed or watched) if watched else None


def address_holds(intent: PaymentIntent, derived: str | None, installation: Installation | None) -> bool:
    """Check the address once more before money moves: the seal of its row, and what our key derives."""
    row = intent.address
    if derived is None:
        return False
    if derived == row.address and seals.holds(row, installation or Installation.objects.get()):
        return True
    if intent.settlement == Settlement.UNSETTLED:
        intent.settlement = Settlement.REVIEW
    open_review(
        ReviewItem.Reason.ADDRESS,
        subject=intent,
        thread=intent.purpose,
        derived=derived,
        stored=row.address,
        lasting=True,
        suggestion=gettext_noop("Compare both with your wallet. Do not credit before you know who changed the row."),
    )
    return False


def keep_promise(case: Case, plan: Plan, account: Account) -> PaymentIntent.Settlement:
    """Do what the money was for: pay the order, or call the top-up covered."""
    if case.intent.topup:
        settle_topup(case.intent.topup)
        return Settlement.SETTLED
    fresh = sum(one.cents for one in plan.credits)
    credited = credited_cents([case.intent]) if case.credited else fresh
    secured, had_lots = plan.secured, plan.had_lots
    return pay_order(case.intent, case.promise, account, credited=credited, secured=secured, had_lots=had_lots)


def after_credit(case: Case, plan: Plan, account: Account) -> None:
    """Note what became of credited money that kept no promise, or came after it was kept."""
    intent = case.intent
    if intent.settlement == Settlement.REVERSED:
        intent.settlement = returned_settlement(case)
        if intent.order and not lacks_money(intent):
            help_given(intent.order, actor=None)
    elif intent.settlement == Settlement.REVIEW or (plan.split and intent.settlement != Settlement.SETTLED):
        intent.settlement = Settlement.CREDITED
    if intent.order and plan.pays and plan.secured:
        pay_from_credit(intent.order, intent, account, had_lots=plan.had_lots)
    elif intent.topup:
        settle_topup(intent.topup, if_covered=True)


def leave_review(intent: PaymentIntent) -> None:
    """Call an intent what it was before, once nothing about it stands before a person any more."""
    about = Q(transfer__intent=intent) | Q(subject=subject_of(intent))
    if not ReviewItem.objects.filter(about, decided_at=None).exists():
        credited = Allocation.objects.filter(intent=intent, live=True).exists()
        intent.settlement = Settlement.CREDITED if credited else Settlement.UNSETTLED


def returned_settlement(case: Case) -> PaymentIntent.Settlement:
    """Return what a reversed intent becomes once money came back: what it was, if all that it needs did, or all that
    was gone: a part alone is never all that it needs.

    Only one that had paid its order pays it again; the same order may have been paid by another one meanwhile.
    """
    gone = ChainTransfer.objects.filter(intent=case.intent, credited=False, allocations__isnull=False)
    if sum(fact.amount for fact in case.facts if fact.final) < case.promise.needed and gone.exists():
        return Settlement.REVERSED
    was_settled = Event.objects.filter(kind="intent.settled", thread=subject_of(case.intent.purpose))
    mine = was_settled.filter(subject=subject_of(case.intent)).exists()
    return Settlement.SETTLED if mine else Settlement.CREDITED


def lacks_money(intent: PaymentIntent) -> bool:
    """Tell whether credit of the intent's order is still gone."""
    if intent.settlement == Settlement.REVERSED:
        return True
    others = PaymentIntent.objects.filter(order=intent.order, settlement=Settlement.REVERSED)
    return others.exclude(pk=intent.pk).exists()


CACHES = ("quote", "funding", "settlement", "late", "unwatched", "ended_at")


def keep_caches(case: Case, standing: Standing) -> None:
    """Write the derived columns that became different, and record it."""
    intent = case.intent
    intent.quote, intent.funding, intent.late = standing.quote, standing.funding, standing.late
    intent.unwatched = intent.unwatched or standing.unwatched
    if standing.ended and intent.ended_at is None:
        intent.ended_at = case.now
    changed = [column for column in CACHES if getattr(intent, column) != case.before[column]]
    if changed:
        write_columns(intent, changed)
    facts = {"received": str(sum(row.amount for row in received(intent, case.arrived)))}
    thread = intent.purpose
    if "quote" in changed and intent.quote == Quote.EXPIRED:
        record("intent.expired", subject=intent, thread=thread, actor=None, unwatched=intent.unwatched, **facts)
    if "funding" in changed and intent.funding in (PaymentIntent.Funding.PARTIAL, PaymentIntent.Funding.OVER):
        record(f"intent.{intent.funding}", subject=intent, thread=thread, actor=None, **facts)
    if "late" in changed and intent.late:
        record("intent.late", subject=intent, thread=thread, actor=None, **facts)
    if "settlement" in changed:
        record(f"intent.{intent.settlement}", subject=intent, thread=thread, actor=None, **facts)
