"""What came of an order's or a top-up's money, as one value of plain values: for the receipt's page and its proof.

Three sums reconcile: what arrived and what was added to it = what was spent + what is in the balance. Nothing here
names the customer.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from balance.models import Movement
from orders.models import Order

from .models import Allocation, ChainTransfer, PaymentIntent, Purpose
from .registry import method as method_by_code
from .registry import methods


@dataclass(frozen=True, slots=True)
class PriceSeen:
    """One source's price in 10⁻⁸ dollars for a whole coin, and when it was received."""

    source: str
    price_e8: int
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a promised rate was made of: the market's price, the markup in basis points, and the sources."""

    market_e8: int
    markup_basis_points: int
    samples: tuple[PriceSeen, ...]


@dataclass(frozen=True, slots=True)
class Credit:
    """How a transfer became money in the ledger, once per episode; `live` is false once that was reversed.

    `reference` is the ledger's, empty if it was worth less than a cent. Amounts are base units at the promised rate
    and at the market's.
    """

    episode: int
    live: bool
    reference: str
    usd_cents: int
    promised_amount: int
    market_amount: int
    market_rate_e8: int | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Arrival:
    """A transfer on the chain: amount in base units, its block, and how it was credited. `symbol` is empty and
    `decimals` none for a token that we do not know."""

    txid: str
    position: str
    method: str
    symbol: str
    decimals: int | None
    contract: str
    amount: int
    status: str
    block_height: int | None
    block_hash: str
    block_time: datetime | None
    first_seen_at: datetime
    url: str | None
    credits: tuple[Credit, ...]

    @property
    def credited_cents(self) -> int:
        return sum(credit.usd_cents for credit in self.credits if credit.live)


@dataclass(frozen=True, slots=True)
class Promised:
    """Payment instructions: what was to be sent where, at which rate, until when, and what arrived."""

    id: str
    method: str
    symbol: str
    decimals: int
    network: str
    network_name: str
    address: str
    amount: int
    usd_cents: int
    rate_e8: int
    evidence: Evidence
    created_at: datetime
    expires_at: datetime
    settlement: str
    tolerance_cents: int
    arrivals: tuple[Arrival, ...]

    @property
    def received(self) -> int:
        """Base units of the asked asset that arrived and are known to the network."""
        gone = ChainTransfer.GONE
        return sum(a.amount for a in self.arrivals if a.method == self.method and a.status not in gone)

    @property
    def credited_cents(self) -> int:
        return sum(arrival.credited_cents for arrival in self.arrivals)

    @property
    def extra(self) -> int:
        """Base units beyond the exact amount: an over-payment belongs to the instructions that it was sent to."""
        return max(self.received - self.amount, 0)


@dataclass(frozen=True, slots=True)
class Totals:
    """Cents: credited + tolerance + by hand + from the balance = paid + to the balance + reversed.

    `credited` counts every credit, also those `reversed` since. `to_balance` is below zero when a reversal left a debt.
    """

    due: int
    credited: int
    tolerance: int
    by_hand: int
    from_balance: int
    paid: int
    reversed: int

    @property
    def arrived(self) -> int:
        """Everything that counts for it: the first of the three sums."""
        return self.credited + self.tolerance + self.by_hand + self.from_balance

    @property
    def kept(self) -> int:
        """What transfers were credited with and the network did not take back."""
        return self.credited - self.reversed

    @property
    def to_balance(self) -> int:
        return self.arrived - self.paid - self.reversed


@dataclass(frozen=True, slots=True)
class Receipt:
    """The receipt of an order (`kind` "order") or a top-up ("topup"). `references` are the ledger's movements."""

    number: str
    kind: str
    state: str
    what: str
    created_at: datetime
    settled_at: datetime | None
    totals: Totals
    promises: tuple[Promised, ...]
    references: tuple[str, ...]


def receipt_of(purpose: Purpose) -> Receipt:
    """Return the receipt as the rows say now, in a few queries whatever it holds."""
    intents = list(purpose.intents.select_related("address").order_by("created_at", "pk"))
    allocations = allocations_of(intents)
    moved = movements_of(purpose, allocations, intents)
    promises = tuple(promised(intent, arrivals, moved) for intent, arrivals in arrivals_of(intents, allocations))
    return Receipt(
        number=purpose.number,
        kind="order" if isinstance(purpose, Order) else "topup",
        state=purpose.state,
        what=purpose.offer_name if isinstance(purpose, Order) else "",
        created_at=purpose.created_at,
        settled_at=purpose.settled_at,
        totals=totals_of(purpose, allocations, moved),
        promises=promises,
        references=(*(a.movement.reference for a in allocations if a.movement), *moved),
    )


def allocations_of(intents: Iterable[PaymentIntent]) -> list[Allocation]:
    rows = Allocation.objects.filter(intent__in=list(intents)).select_related("movement")
    return list(rows.order_by("transfer_id", "episode"))


def movements_of(
    purpose: Purpose, allocations: Iterable[Allocation], intents: Iterable[PaymentIntent]
) -> dict[str, Movement]:
    """Return the ledger's other movements for it by their references: capture, return, reversals, tolerances, and what
    was settled by hand."""
    wanted = [tolerance_reference(intent.pk) for intent in intents]
    wanted += [f"{a.movement.reference}:reversed" for a in allocations if a.movement and not a.live]
    if isinstance(purpose, Order):
        wanted += [f"order:{purpose.pk}:capture", f"order:{purpose.pk}:returned"]
        wanted += [f"hand:{pk}" for pk in purpose.hand_settlements.values_list("pk", flat=True)]
    return {row.reference: row for row in Movement.objects.filter(reference__in=wanted).order_by("pk")}


def tolerance_reference(intent_id: object) -> str:
    return f"intent:{intent_id}:tolerance"


def totals_of(purpose: Purpose, allocations: Sequence[Allocation], moved: Mapping[str, Movement]) -> Totals:
    kinds = Movement.Kind
    capture = next((row for row in moved.values() if row.kind == kinds.CAPTURE), None)
    added = [row for row in moved.values() if row.kind in (kinds.TOLERANCE, kinds.ADJUSTMENT)]
    credits = [a.movement for a in allocations if a.movement]
    taken_back = [row for row in moved.values() if row.kind == kinds.REVERSAL]
    paid = capture.amount_cents if capture else 0
    return Totals(
        due=purpose.total_cents,
        credited=sum(row.amount_cents for row in credits),
        tolerance=sum(row.amount_cents for row in added if row.kind == kinds.TOLERANCE),
        by_hand=sum(row.amount_cents for row in added if row.kind == kinds.ADJUSTMENT),
        from_balance=max(paid - before(capture, *credits, *added) + before(capture, *taken_back), 0),
        paid=paid if purpose.state == Order.State.SETTLED else 0,
        reversed=sum(row.amount_cents for row in taken_back),
    )


def before(capture: Movement | None, *rows: Movement) -> int:
    """Return the cents that were moved before the capture."""
    return sum(row.amount_cents for row in rows if capture and row.pk < capture.pk)


def arrivals_of(
    intents: Sequence[PaymentIntent], allocations: Iterable[Allocation]
) -> list[tuple[PaymentIntent, tuple[Arrival, ...]]]:
    """Return each intent with its transfers; what is gone and was never credited is left out, and so is dust."""
    credits: dict[int, list[Credit]] = defaultdict(list)
    for allocation in allocations:
        credits[allocation.transfer_id].append(credit_of(allocation))
    transfers: dict[object, list[Arrival]] = defaultdict(list)
    for row in ChainTransfer.objects.filter(intent__in=list(intents), dust=False).order_by("pk"):
        if credits[row.pk] or not row.is_gone:
            transfers[row.intent_id].append(arrival_of(row, credits[row.pk]))
    return [(intent, tuple(transfers[intent.pk])) for intent in intents]


def credit_of(allocation: Allocation) -> Credit:
    return Credit(
        episode=allocation.episode,
        live=allocation.live,
        reference=allocation.movement.reference if allocation.movement else "",
        usd_cents=allocation.usd_cents,
        promised_amount=allocation.locked_amount,
        market_amount=allocation.market_amount,
        market_rate_e8=allocation.market_rate_e8,
        at=allocation.at,
    )


def arrival_of(row: ChainTransfer, credits: Iterable[Credit]) -> Arrival:
    known = {m.code: m for m in methods()}.get(row.method)
    return Arrival(
        txid=row.txid,
        position=row.position,
        method=row.method,
        symbol=known.asset.symbol if known else "",
        decimals=known.asset.decimals if known else None,
        contract=row.contract,
        amount=row.amount,
        status=row.status,
        block_height=row.block_height,
        block_hash=row.block_hash,
        block_time=row.block_time,
        first_seen_at=row.first_seen_at,
        url=known.family.transaction_url(row.txid) if known else None,
        credits=tuple(credits),
    )


def promised(intent: PaymentIntent, arrivals: tuple[Arrival, ...], moved: Mapping[str, Movement]) -> Promised:
    method = method_by_code(intent.method)
    tolerance = moved.get(tolerance_reference(intent.pk))
    return Promised(
        id=str(intent.pk),
        method=intent.method,
        symbol=method.asset.symbol,
        decimals=method.asset.decimals,
        network=intent.network,
        network_name=method.family.name,
        address=method.family.display(intent.address.address),
        amount=intent.amount,
        usd_cents=intent.usd_cents,
        rate_e8=intent.rate_e8,
        evidence=evidence_of(intent.rate_evidence),
        created_at=intent.created_at,
        expires_at=intent.expires_at,
        settlement=intent.settlement,
        tolerance_cents=tolerance.amount_cents if tolerance else 0,
        arrivals=arrivals,
    )


def evidence_of(stored: Mapping[str, Any]) -> Evidence:
    return Evidence(
        market_e8=int(stored.get("market_e8", 0)),
        markup_basis_points=int(stored.get("markup_basis_points", 0)),
        samples=tuple(
            PriceSeen(s["source"], int(s["price_e8"]), datetime.fromisoformat(s["received_at"]))
            for s in stored.get("samples", [])
        ),
    )
