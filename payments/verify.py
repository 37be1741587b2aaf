"""Recompute every balance and every link from the rows themselves, and name each discrepancy (BAL-6).

Nothing here writes. Sums of base units are made in Python, those of cents by the database.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import F, Q, Sum

from balance.models import Account, House, Movement
from catalog.models import Offer
from orders.models import Hold, Order

from .corrections import last_of
from .models import Adjustment, Allocation, ChainTransfer, HandSettlement, PaymentIntent, Payout, ReviewItem
from .quotes import cents_for
from .registry import methods

Status = ChainTransfer.Status
LEAST_TOPUP = (95, 100)  # a top-up is credited what came; it counts as covered within the tolerance, which is less


@contextmanager
def snapshot() -> Iterator[None]:
    """Read one moment of the database, while the site goes on: what commits meanwhile is no discrepancy.

    On SQLite by a plain BEGIN: one of Django's own would keep every writer waiting.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    else:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN")
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """One thing that can't be: which row, and what is wrong with it."""

    subject: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.sentence}"


def discrepancies() -> Iterator[Discrepancy]:
    """Yield everything that does not add up; nothing if the books are right."""
    yield from balances()
    yield from debts()
    yield from sides()
    yield from reversals()
    yield from movements()
    yield from allocations()
    yield from captures()
    yield from settled_intents()
    yield from settled_by_hand()
    yield from payouts()
    yield from refunds()
    yield from adjusted()
    yield from stock()


def balances() -> Iterator[Discrepancy]:
    """Every kept balance is the sum of its movements."""
    credits_of = sums("credit_id")
    debits_of = sums("debit_id")
    for account in Account.objects.exclude(customer=None).iterator():
        balance = credits_of.get(account.pk, 0) - debits_of.get(account.pk, 0)
        if balance != account.balance_cents:
            yield Discrepancy(
                f"account {account.pk}", f"keeps {account.balance_cents} cents, its movements sum to {balance}"
            )


def debts() -> Iterator[Discrepancy]:
    """A floor is the debt that reversals left and credits have not paid back yet, by replaying the account."""
    reversed_ones = Movement.objects.filter(kind=Movement.Kind.REVERSAL).values("debit_id")
    for account in Account.objects.filter(Q(floor_cents__lt=0) | Q(pk__in=reversed_ones)):
        balance = floor = 0
        for movement in Movement.objects.filter(Q(debit=account) | Q(credit=account)).order_by("id").iterator():
            if movement.credit_id == account.pk:
                balance += movement.amount_cents
                floor = max(floor, min(0, balance))
            else:
                balance -= movement.amount_cents
                floor = min(floor, balance) if movement.kind == Movement.Kind.REVERSAL else floor
        if floor != account.floor_cents:
            yield Discrepancy(f"account {account.pk}", f"has a floor of {account.floor_cents} cents, not {floor}")


# Which account of the house each kind of movement debits or credits; the other side is a customer.
FROM_HOUSE = {
    Movement.Kind.TRANSFER: House.RECEIVED,
    Movement.Kind.TOLERANCE: House.TOLERANCE,
    Movement.Kind.RETURN: House.ORDERS,
    Movement.Kind.UNSENT: House.PAYOUTS,
}
TO_HOUSE = {Movement.Kind.CAPTURE: House.ORDERS, Movement.Kind.PAYOUT: House.PAYOUTS}


def sides() -> Iterator[Discrepancy]:
    """Every movement is between a customer and the account of the house that its kind belongs to."""
    right = Q(kind=Movement.Kind.REVERSAL, debit__house=None, credit__customer=None)
    for adjusted, customer in (("debit", "credit"), ("credit", "debit")):
        right |= Q(
            **{"kind": Movement.Kind.ADJUSTMENT, f"{adjusted}__house": House.ADJUSTMENTS, f"{customer}__house": None}
        )
    for kind, house in FROM_HOUSE.items():
        right |= Q(kind=kind, debit__house=house, credit__house=None)
    for kind, house in TO_HOUSE.items():
        right |= Q(kind=kind, debit__house=None, credit__house=house)
    for movement in Movement.objects.filter(~right).iterator():
        yield Discrepancy(movement.reference, f"is a {movement.kind} between accounts it can't be between")


def reversals() -> Iterator[Discrepancy]:
    """Every reversal mirrors an earlier credit of the same customer, and no credit is mirrored twice."""
    mirrored: dict[tuple[int, int, int], int] = {}
    for movement in Movement.objects.filter(kind=Movement.Kind.REVERSAL).iterator():
        key = (movement.debit_id, movement.credit_id, movement.amount_cents)
        mirrored[key] = mirrored.get(key, 0) + 1
        customer_id, house_id, cents = key
        credited = Movement.objects.filter(
            credit=customer_id, debit=house_id, amount_cents=cents, pk__lt=movement.pk
        ).exclude(kind=Movement.Kind.REVERSAL)
        if credited.count() < mirrored[key]:
            yield Discrepancy(movement.reference, "reverses a credit that never was")


def sums(side: str) -> dict[int, int]:
    rows = Movement.objects.values(side).annotate(total=Sum("amount_cents")).order_by()
    return {row[side]: row["total"] for row in rows}


def movements() -> Iterator[Discrepancy]:
    """Every credit for a transfer belongs to an allocation of the same customer and amount."""
    owned = set(Allocation.objects.exclude(movement=None).values_list("movement_id", flat=True))
    for movement in Movement.objects.filter(kind=Movement.Kind.TRANSFER).iterator():
        if movement.pk not in owned:
            yield Discrepancy(movement.reference, "credits a transfer that has no allocation")
    wrong = Allocation.objects.exclude(movement=None).exclude(
        movement__amount_cents=F("usd_cents"), movement__credit__customer=F("customer")
    )
    for allocation in wrong:
        yield Discrepancy(f"allocation {allocation.pk}", "differs from its movement in amount or customer")
    yield from taken_back()


def taken_back() -> Iterator[Discrepancy]:
    """A credit is reversed if and only if its allocation is not live any more; then no counter-entry takes it too."""
    reversed_ones = set(Movement.objects.filter(kind=Movement.Kind.REVERSAL).values_list("reference", flat=True))
    undone = set(Adjustment.objects.filter(state=Adjustment.State.DONE).values_list("counter_of_id", flat=True))
    for allocation in Allocation.objects.exclude(movement=None).select_related("movement").iterator():
        movement = allocation.movement
        if movement is None or (f"{movement.reference}:reversed" in reversed_ones) == allocation.live:
            yield Discrepancy(f"allocation {allocation.pk}", f"says live={allocation.live}, its movement does not")
        elif not allocation.live and movement.pk in undone and last_of(movement)[1]:
            yield Discrepancy(f"allocation {allocation.pk}", "is reversed and undone by a counter-entry too")


def allocations() -> Iterator[Discrepancy]:
    """A credited transfer has one live allocation over its whole amount; others have none."""
    for transfer in ChainTransfer.objects.prefetch_related("allocations").select_related("intent").iterator(1000):
        live = [a for a in transfer.allocations.all() if a.live]
        if transfer.credited != bool(live):
            yield Discrepancy(
                f"transfer {transfer}", f"says credited={transfer.credited}, live allocations: {len(live)}"
            )
        for allocation in live:
            if allocation.locked_amount + allocation.market_amount != transfer.amount:
                yield Discrepancy(f"transfer {transfer}", "is not credited over its whole amount")
            if not well_priced(allocation, transfer):
                yield Discrepancy(f"transfer {transfer}", "is not credited with what its rates make of it")
            if transfer.status != Status.FINAL and not moved_by_a_reorg(transfer):
                yield Discrepancy(f"transfer {transfer}", f"is credited but {transfer.status}")
            if allocation.customer_id != transfer.intent.customer_id:
                yield Discrepancy(f"transfer {transfer}", "is credited to somebody else")


def well_priced(allocation: Allocation, transfer: ChainTransfer) -> bool:
    """Tell whether the cents of a credit are its parts at their rates: at the promise's up to a cent, as parts of a sum
    are rounded."""
    intent, rate = transfer.intent, allocation.market_rate_e8
    decimals = {known.code: known.asset.decimals for known in methods()}.get(transfer.method)
    if rate and decimals is not None:
        market = cents_for(allocation.market_amount, rate, decimals)
    elif allocation.market_amount:
        return decimals is None  # of a method that is not offered any more the unit is not known
    else:
        market = 0
    least = allocation.locked_amount * intent.usd_cents // intent.amount
    return least <= allocation.usd_cents - market <= least + 1


def moved_by_a_reorg(transfer: ChainTransfer) -> bool:
    """Tell whether a credited transfer that was final is in another block now, and will be final again; somebody was
    told."""
    told = ReviewItem.objects.filter(reason=ReviewItem.Reason.ORPHANED, transfer=transfer)
    return transfer.status == Status.INCLUDED and told.exists()


def captures() -> Iterator[Discrepancy]:
    """An order is settled if and only if there is exactly its capture, over its total, by its customer; what was given
    back is as much."""
    paid = {m.reference: m for m in Movement.objects.filter(kind=Movement.Kind.CAPTURE).select_related("debit")}
    returns = Movement.objects.filter(kind=Movement.Kind.RETURN)
    returned = {row[0]: row[1:] for row in returns.values_list("reference", "amount_cents", "credit__customer_id")}
    for order in Order.objects.filter(state__in=(Order.State.SETTLED, Order.State.RETURNED)).iterator():
        back, receiver = returned.pop(f"order:{order.pk}:returned", (0, order.customer_id))
        if receiver != order.customer_id:
            yield Discrepancy(f"order {order}", "was given back to another customer")
        if back != (order.total_cents if order.state == Order.State.RETURNED else 0):
            yield Discrepancy(f"order {order}", f"is {order.state}, and {back} cents of it were given back")
        capture = paid.pop(f"order:{order.pk}:capture", None)
        if capture is None:
            yield Discrepancy(f"order {order}", "is settled without a capture")
        elif (capture.amount_cents, capture.debit.customer_id) != (order.total_cents, order.customer_id):
            yield Discrepancy(f"order {order}", "was captured with another amount or from another customer")
    for reference in paid:
        yield Discrepancy(reference, "captures an order that is not settled")
    for reference in returned:
        yield Discrepancy(reference, "gives back an order that was not paid")


def settled_intents() -> Iterator[Discrepancy]:
    """What a settled intent received at the promised rate, with the accepted shortfall, covers its promise."""
    shortfalls = Movement.objects.filter(kind=Movement.Kind.TOLERANCE)
    tolerated = {row.reference: row for row in shortfalls.select_related("credit")}
    kept = (PaymentIntent.Settlement.SETTLED, PaymentIntent.Settlement.REVERSED)
    settled = PaymentIntent.objects.filter(settlement__in=kept).prefetch_related("allocations")
    for intent in settled.iterator(1000):
        credited = sum(a.usd_cents for a in intent.allocations.all() if a.live)
        shortfall = tolerated.pop(f"intent:{intent.pk}:tolerance", None)
        given = shortfall.amount_cents if shortfall else 0
        if shortfall and shortfall.credit.customer_id != intent.customer_id:
            yield Discrepancy(shortfall.reference, "was given to another customer than the intent's")
        if given > intent.usd_cents - intent.usd_cents * LEAST_TOPUP[0] // LEAST_TOPUP[1]:
            yield Discrepancy(f"intent {intent.pk}", f"was given {given} of {intent.usd_cents} cents as a shortfall")
        if intent.settlement != PaymentIntent.Settlement.SETTLED:
            continue  # its credit is gone, and the books show the debt
        needed = intent.usd_cents if intent.order_id else intent.usd_cents * LEAST_TOPUP[0] // LEAST_TOPUP[1]
        if credited + given < needed:
            yield Discrepancy(f"intent {intent.pk}", f"is settled with {credited + given} of {intent.usd_cents} cents")
    for reference in tolerated:
        yield Discrepancy(reference, "accepts a shortfall of an intent that is not settled")


def settled_by_hand() -> Iterator[Discrepancy]:
    """What operators settled by hand is one adjustment each, over the sum that they put down."""
    rows = Movement.objects.filter(reference__startswith="hand:").select_related("credit")
    moved = {row.reference: row for row in rows}
    done = HandSettlement.objects.filter(state=HandSettlement.State.DONE).select_related("order")
    for settlement in done.iterator():
        movement = moved.pop(f"hand:{settlement.pk}", None)
        cents = movement.amount_cents if movement else 0
        if movement and movement.credit.customer_id != settlement.order.customer_id:
            yield Discrepancy(f"hand settlement {settlement.pk}", "was credited to another customer than the order's")
        if cents != settlement.usd_cents:
            yield Discrepancy(f"hand settlement {settlement.pk}", f"says {settlement.usd_cents} cents, moved {cents}")
    for reference in moved:
        yield Discrepancy(reference, "adjusts a balance for a settlement by hand that was not made")


def payouts() -> Iterator[Discrepancy]:
    """Every payout was debited from its customer, once; what was refused or cancelled came back, and nothing else."""
    kinds = (Movement.Kind.PAYOUT, Movement.Kind.UNSENT)
    moved = {m.reference: m for m in Movement.objects.filter(kind__in=kinds).select_related("debit", "credit")}
    for payout in Payout.objects.filter(usd_cents__gt=0).iterator():
        wanted = [(payout.reference, Movement.Kind.PAYOUT)]
        if payout.is_closed:
            wanted.append((f"{payout.reference}:unsent", Movement.Kind.UNSENT))
        for reference, kind in wanted:
            movement = moved.pop(reference, None)
            if movement is None:
                yield Discrepancy(f"payout {payout}", f"is {payout.state} without its movement {reference}")
                continue
            customer = (movement.debit if kind == Movement.Kind.PAYOUT else movement.credit).customer_id
            said = (movement.kind, movement.amount_cents, customer)
            if said != (kind, payout.usd_cents, payout.customer_id):
                yield Discrepancy(reference, "differs from its payout in kind, amount or customer")
    for reference in moved:
        yield Discrepancy(reference, "moves money for a payout that is not there, or that was not ended")


def refunds() -> Iterator[Discrepancy]:
    """What is sent back of a transfer is no more than came, in units and in the cents it was credited with; of one that
    is sent back uncredited nothing is credited."""
    standing = Payout.objects.filter(kind=Payout.Kind.REFUND).standing()
    rows = ChainTransfer.objects.filter(payouts__in=standing).select_related("intent").distinct()
    for transfer in rows.order_by("pk"):
        mine = list(transfer.payouts.standing())
        if any(payout.customer_id != transfer.intent.customer_id for payout in mine):
            yield Discrepancy(f"transfer {transfer}", "is sent back to another customer than it came from")
        live = transfer.allocations.filter(live=True).exclude(movement=None).select_related("movement").first()
        if live and live.movement and last_of(live.movement)[1]:
            yield Discrepancy(f"transfer {transfer}", "is sent back although its credit was undone by a counter-entry")
        if sum(payout.taken for payout in mine) > transfer.amount:
            yield Discrepancy(f"transfer {transfer}", "is sent back over more than arrived")
        credited = max([0, *transfer.allocations.values_list("usd_cents", flat=True)])
        if sum(payout.usd_cents for payout in mine) > credited:
            yield Discrepancy(f"transfer {transfer}", "is sent back for more than it was credited with")
        if transfer.credited and not all(payout.usd_cents for payout in mine):
            yield Discrepancy(f"transfer {transfer}", "is credited and sent back without a debit")


def adjusted() -> Iterator[Discrepancy]:
    """Every correction that was done is one adjustment of its customer, over its sum and in its direction; one that
    undoes an entry is that entry turned round."""
    own = Q(reference__startswith="adjustment:") | Q(reference__startswith="counter:")
    moved = {row.reference: row for row in Movement.objects.filter(own).select_related("debit", "credit")}
    done = Adjustment.objects.filter(state=Adjustment.State.DONE).select_related("counter_of")
    for adjustment in done.iterator():
        movement = moved.pop(adjustment.reference, None)
        if movement is None or movement.pk != adjustment.movement_id:
            yield Discrepancy(f"adjustment {adjustment.pk}", "is done and its movement is not there")
        elif not says(movement, adjustment):
            yield Discrepancy(f"adjustment {adjustment.pk}", "differs from its movement in sum, customer or direction")
        elif adjustment.counter_of and not turned_round(movement, adjustment.counter_of):
            yield Discrepancy(f"adjustment {adjustment.pk}", "is not the entry that it undoes turned round")
    for reference in moved:
        yield Discrepancy(reference, "adjusts a balance for a correction that was not made")


def says(movement: Movement, adjustment: Adjustment) -> bool:
    side = movement.credit if adjustment.direction == Adjustment.Direction.CREDIT else movement.debit
    facts = (movement.kind, movement.amount_cents, side.customer_id)
    return facts == (Movement.Kind.ADJUSTMENT, adjustment.usd_cents, adjustment.customer_id)


def turned_round(movement: Movement, undone: Movement) -> bool:
    """Tell whether a movement undoes another one: over its sum, from or to the same customer, the other way."""
    gave, takes = undone.credit.customer_id, movement.debit.customer_id
    took, gives = undone.debit.customer_id, movement.credit.customer_id
    return (gave, took, undone.amount_cents) == (takes, gives, movement.amount_cents)


def stock() -> Iterator[Discrepancy]:
    """What offers say is taken is what live holds hold."""
    held = Hold.objects.filter(state=Hold.State.HELD).values("offer").annotate(total=Sum("lots")).order_by()
    lots = {row["offer"]: row["total"] for row in held}
    for offer in Offer.objects.filter(Q(taken__gt=0) | Q(pk__in=lots)):
        if offer.taken != lots.get(offer.pk, 0):
            yield Discrepancy(
                f"offer {offer}", f"says {offer.taken} lots are taken, holds keep {lots.get(offer.pk, 0)}"
            )
