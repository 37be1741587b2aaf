"""The eight invariants of docs/payments.md as functions of what the database and the chains hold.

The chains are asked apart from the shop's own books: what a wallet sent and when a complete pass could first see it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, Sum
from django.utils import timezone
from invariants.world import Violation, World

from balance.export import statement_csv
from balance.models import Account, House, Movement
from balance.queries import statement
from catalog.models import Offer
from events.models import Event
from orders.models import Hold, Order
from payments.models import Allocation, ChainTransfer, PaymentIntent, ReviewItem
from payments.networks.simulated_chain import Sent
from payments.pages import IntentPage, pages_of
from payments.queries import tolerance
from payments.quotes import is_dust, tolerated_shortfall
from payments.registry import method, simulated_chain
from payments.standing import FAIR_BAND
from payments.statement import words_of
from payments.verify import discrepancies

Quote, Settlement, Status = PaymentIntent.Quote, PaymentIntent.Settlement, ChainTransfer.Status
PLAIN = re.compile(r"\d+(\.\d+)?")
MONEY = re.compile(r"-?\d+\.\d{2}")


def require(holds: object, invariant: int | str, sentence: object) -> None:
    if not holds:
        raise Violation(f"invariant {invariant}: {sentence}")


@dataclass
class Past:
    """What was true before: some things never change back."""

    intents: dict[Any, tuple[str, str, bool]] = field(default_factory=dict)  # quote, settlement, ended
    orders: dict[int, str] = field(default_factory=dict)
    addresses: dict[int, Any] = field(default_factory=dict)  # to whom an address was given


@dataclass
class Books:
    """Everything about money, read once per check."""

    world: World
    intents: list[PaymentIntent]
    transfers: dict[int, ChainTransfer]
    allocations: list[Allocation]
    movements: dict[str, Movement]
    orders: list[Order]
    accounts: list[Account]
    now: datetime

    @classmethod
    def read(cls, world: World) -> "Books":
        return cls(
            world,
            world.intents(),
            {row.pk: row for row in ChainTransfer.objects.order_by("pk")},
            list(Allocation.objects.order_by("pk")),
            {row.reference: row for row in Movement.objects.all()},
            list(Order.objects.order_by("pk")),
            list(Account.objects.all()),
            timezone.now(),
        )

    def live(self) -> Iterator[Allocation]:
        return (a for a in self.allocations if a.live)


def check(world: World, past: Past) -> None:
    """Check what is cheap enough for every step."""
    books = Books.read(world)
    require(not world.faults, "none", world.faults)
    credited_at_most_once(books)
    everything_is_somewhere(books)
    locked_rate_is_no_option(books)
    captured_once(books)
    expired_is_nobody_who_paid_in_time(books)
    sums_to_zero(books)
    nothing_goes_back(books, past)
    stock_is_never_oversold()


def check_all(world: World, past: Past) -> None:
    """Check everything, once all that was on its way has arrived."""
    check(world, past)
    books = Books.read(world)
    chain_and_books_are_the_same(books)
    amounts_are_plain(books)
    who_paid_in_time_is_served(books)
    found = [str(one) for one in discrepancies()]
    require(not found, "8 (verifyledger)", found)


# --- 1 --------------------------------------------------------------------------------------------------------------
def credited_at_most_once(books: Books) -> None:
    """Credits of one transfer ∈ {0, 1}; after a reversal they net to 0."""
    live = Counter(a.transfer_id for a in books.live())
    for pk, row in books.transfers.items():
        require(live[pk] <= 1, 1, f"{row} has {live[pk]} live credits")
        require(row.credited == bool(live[pk]), 1, f"{row} says credited={row.credited}, live credits: {live[pk]}")
    for allocation in books.allocations:
        reference = f"transfer:{allocation.transfer_id}:{allocation.episode}"
        moved, back = books.movements.get(reference), books.movements.get(f"{reference}:reversed")
        net = (moved.amount_cents if moved else 0) - (back.amount_cents if back else 0)
        require(net == (allocation.usd_cents if allocation.live else 0), 1, f"{reference} nets to {net} cents")
    credits = [m for m in books.movements.values() if m.kind == Movement.Kind.TRANSFER]
    require(len(credits) == sum(1 for a in books.allocations if a.usd_cents), 1, "a credit without its allocation")


# --- 3 --------------------------------------------------------------------------------------------------------------
def everything_is_somewhere(books: Books) -> None:
    """Per intent in base units: received = credited + in review or waiting + dust, and nothing is in two places."""
    for allocation in books.live():
        row = books.transfers[allocation.transfer_id]
        units = allocation.locked_amount + allocation.market_amount
        require(units == row.amount, 3, f"{row}: {units} of {row.amount} base units are credited")
        require(not row.dust and row.verdict != ChainTransfer.Verdict.KEEP, 3, f"{row} is credited and left out")
    received: dict[Any, int] = defaultdict(int)
    credited: dict[Any, int] = defaultdict(int)
    for row in books.transfers.values():
        if not row.is_gone:
            received[row.intent_id, row.method] += row.amount
    for allocation in books.live():
        row = books.transfers[allocation.transfer_id]
        credited[row.intent_id, row.method] += row.amount
    for key, units in credited.items():
        held = sum(r.amount for r in books.transfers.values() if r.credited and r.is_gone and key[0] == r.intent_id)
        require(units <= received[key] + held, 3, f"{key}: {units} credited of {received[key]} received")


def chain_and_books_are_the_same(books: Books) -> None:
    """Every payment of the chain to an address of ours is one transfer, and every uncredited one has its reason."""
    known = {(row.network, row.txid, row.position): row for row in books.transfers.values()}
    there = set()
    for intent in books.intents:
        for sent in sent_to(intent):
            place = (intent.network, sent.txid, sent.position)
            row = known.get(place)
            require(row and row.amount == sent.payment.amount and row.intent_id == intent.pk, 3, f"{place}: {row}")
            there.add(place)
    asked = set(
        ReviewItem.objects.filter(decided_at=None, transfer__isnull=False).values_list("transfer_id", flat=True)
    )
    tokens = ReviewItem.objects.filter(reason=ReviewItem.Reason.TOKEN)  # one for all of an intent
    told = set(tokens.values_list("transfer__intent_id", flat=True))
    for place, row in known.items():
        if place not in there:
            require(row.is_gone and not row.credited, 3, f"{row} is not on the chain and is {row.status}")
        elif not row.credited:
            reason = row.dust or row.pk in asked or row.verdict == ChainTransfer.Verdict.KEEP
            reason = reason or (not row.method and row.intent_id in told)
            require(reason, 3, f"{row} of {row.amount} {row.method} is {row.status}, not credited and nobody is asked")


def locked_rate_is_no_option(books: Books) -> None:
    """The promised rate counts for money in time, or a little late as a whole, and up to 110 % of the due."""
    by_intent: dict[Any, list[Allocation]] = defaultdict(list)
    again = {a.intent_id for a in books.allocations if not a.live}
    for allocation in books.live():
        by_intent[allocation.intent_id].append(allocation)
    for intent in books.intents:
        mine = by_intent[intent.pk]
        locked = sum(a.locked_amount for a in mine)
        exact = locked == intent.amount and not any(a.market_amount for a in mine)
        cents = sum(a.usd_cents for a in mine)
        if intent.pk in again:
            continue  # what was reversed comes back as it was, beside what came meanwhile
        require(
            locked <= intent.amount * 110 // 100,
            "rates",
            f"{intent.method} {intent.pk}: {locked} of {intent.amount} at its rate",
        )
        require(
            not exact or cents == intent.usd_cents,
            "rates",
            f"{intent.method} {intent.pk}: an exact payer got {cents} cents",
        )
        for a in mine:
            late = first_known(books.transfers[a.transfer_id]) - until(intent)
            require(
                not a.locked_amount or late <= FAIR_BAND,
                "rates",
                f"{intent.method} {intent.pk}: {late} late at the promised rate",
            )


def until(intent: PaymentIntent) -> datetime:
    return intent.closed_at if intent.quote == Quote.CANCELLED and intent.closed_at else intent.expires_at


def first_known(row: ChainTransfer) -> datetime:
    in_block = row.block_time - timedelta(seconds=row.slack_seconds) if row.block_time else row.first_seen_at
    return min(row.first_seen_at, in_block)


# --- 4 --------------------------------------------------------------------------------------------------------------
def captured_once(books: Books) -> None:
    """An order is captured at most once ⇔ one settlement ⇔ one movement."""
    kept = Counter(i.order_id for i in books.intents if i.order_id and i.settlement == Settlement.SETTLED)
    paid = (Order.State.SETTLED, Order.State.RETURNED)
    captures = {ref for ref, m in books.movements.items() if m.kind == Movement.Kind.CAPTURE}
    require(len(captures) == sum(order.state in paid for order in books.orders), 4, "captures and paid orders differ")
    for order in books.orders:
        captured = f"order:{order.pk}:capture" in captures
        require(captured == (order.state in paid), 4, f"{order} is {order.state}, captured: {captured}")
        require(
            kept[order.pk] <= captured, 4, f"{order} is {order.state} and {kept[order.pk]} promises say they paid it"
        )


# --- 6 --------------------------------------------------------------------------------------------------------------
def amounts_are_plain(books: Books) -> None:
    """No amount has an exponent, a comma or too many decimals: pages, payment texts, the statement, events."""
    for intent in books.intents:
        page = pages_of(intent.purpose, [intent])[0]
        page_amounts_are_plain(page)
    for customer in books.world.base.customers:
        rows = statement(customer)
        lines = statement_csv(rows, dict(words_of(row.movement for row in rows))).splitlines()[1:]
        for line in lines:
            amount, balance = line.split(",")[-2:]
            require(MONEY.fullmatch(amount) and MONEY.fullmatch(balance), 6, line)
    for facts in Event.objects.values_list("data", flat=True):
        for name in ("amount", "received", "promised", "market"):
            require(name not in facts or re.fullmatch(r"\d+", facts[name]), 6, facts)


def page_amounts_are_plain(page: IntentPage) -> None:
    decimals = page.asset.decimals
    texts = [page.amount_text, page.received_text, page.missing_text]
    for text in [*texts, page.rate_text, page.markup_percent, *filter(None, [page.listed_amount])]:
        require(PLAIN.fullmatch(text), 6, text)
    require(all(len(text.partition(".")[2]) <= decimals for text in texts), 6, texts)
    uri = page.method.family.payment_uri(page.intent.address.address, page.asset, page.missing)
    require(all(PLAIN.fullmatch(found) for found in re.findall(r"amount=([^&]*)", uri)), 6, uri)


# --- 7 --------------------------------------------------------------------------------------------------------------
def expired_is_nobody_who_paid_in_time(books: Books) -> None:
    """Who paid in time, as the chain and the passes over it say, is never shown the word "expired"."""
    for intent in books.intents:
        if intent.quote == Quote.EXPIRED and not intent.unwatched and in_time(books, intent):
            word = pages_of(intent.purpose, [intent])[0].word.code
            require(word != "expired", 7, f"{intent.method} {intent.pk} was paid in time and its page says {word}")


def who_paid_in_time_is_served(books: Books) -> None:
    """Who paid the whole in time has a paid order, unless it was closed; their promise did not end unkept."""
    for intent in books.intents:
        if intent.quote == Quote.CANCELLED or sum(in_time(books, intent)) < needed(intent):
            continue
        require(
            intent.settlement != Settlement.UNSETTLED,
            7,
            f"{intent.method} {intent.pk} was paid in time and is {intent.settlement}",
        )


def needed(intent: PaymentIntent) -> int:
    share, cap = tolerance(method(intent.method))
    return intent.amount - tolerated_shortfall(intent.amount, intent.usd_cents, share, cap)


def in_time(books: Books, intent: PaymentIntent) -> list[int]:
    """Return the amounts that were sent in time: in a block, or in the pool of a complete pass."""
    return [
        sent.payment.amount
        for sent in sent_to(intent)
        if sent.payment.method == intent.method
        and not is_dust(sent.payment.amount, intent.amount, intent.usd_cents)
        and known_at(books.world, intent, sent) <= until(intent)
    ]


def known_at(world: World, intent: PaymentIntent, sent: Sent) -> datetime:
    seen = world.seen_at.get((intent.network, sent.txid, sent.position))
    moments = [moment for moment in (seen, sent.block.time if sent.block else None) if moment]
    return min(moments, default=datetime.max.replace(tzinfo=intent.expires_at.tzinfo))


def sent_to(intent: PaymentIntent) -> list[Sent]:
    chain = simulated_chain(intent.network)
    return [sent for sent in chain.recent(500) if sent.payment.address == intent.address.address]


# --- 8 --------------------------------------------------------------------------------------------------------------
def sums_to_zero(books: Books) -> None:
    """What customers have and what the house holds sum to zero, and no balance is below its floor."""
    total: dict[int, int] = defaultdict(int)
    for movement in books.movements.values():
        total[movement.debit_id] -= movement.amount_cents
        total[movement.credit_id] += movement.amount_cents
    kept = {account.pk: account for account in books.accounts}
    house = {str(account.house): total[account.pk] for account in books.accounts if account.house}
    customers = sum(account.balance_cents or 0 for account in books.accounts if account.customer_id)
    require(customers + sum(house.values()) == 0, 8, f"customers have {customers}, the house {house}")
    for pk, account in kept.items():
        if account.customer_id:
            require(
                account.balance_cents == total[pk], 8, f"{account.pk} keeps {account.balance_cents}, not {total[pk]}"
            )
            require(account.floor_cents <= min(total[pk], 0), 8, f"{account.pk} is below its floor")
    credited = sum(a.usd_cents for a in books.live())
    require(house[House.RECEIVED] == -credited, 8, f"received {house[House.RECEIVED]}, credited {credited}")


# --- and besides ----------------------------------------------------------------------------------------------------
def nothing_goes_back(books: Books, past: Past) -> None:
    """A settled promise never expires, a paid order stays paid, an address is given once."""
    for intent in books.intents:
        quote, settlement, ended = past.intents.get(intent.pk, (Quote.OPEN, Settlement.UNSETTLED, False))
        if settlement == Settlement.SETTLED:
            require(intent.settlement in (settlement, Settlement.REVERSED), "life", f"{settlement}→{intent.settlement}")
            require(
                intent.quote == quote,
                "life",
                f"{intent.method} {intent.pk} was settled and {quote}, and became {intent.quote}",
            )
        require(intent.ended_at or not ended, "life", f"{intent.method} {intent.pk} had ended and lives again")
        past.intents[intent.pk] = (intent.quote, intent.settlement, intent.ended_at is not None)
        given = past.addresses.setdefault(intent.address_id, intent.pk)
        require(given == intent.pk and intent.address.issued_at, "life", f"address {intent.address} was given twice")
    for order in books.orders:
        before = past.orders.get(order.pk, Order.State.OPEN)
        may = before == order.state or order.state in Order.TRANSITIONS[Order.State(before)]
        require(may, "life", f"{order}: {before} → {order.state}")
        past.orders[order.pk] = order.state


def stock_is_never_oversold() -> None:
    held = Hold.objects.filter(state=Hold.State.HELD).values("offer").annotate(total=Sum("lots")).order_by()
    lots = {row["offer"]: row["total"] for row in held}
    for offer in Offer.objects.filter(Q(taken__gt=0) | Q(pk__in=lots)):
        require(offer.taken == lots.get(offer.pk, 0) <= offer.lots, "stock", f"{offer}: {offer.taken}, held {lots}")
