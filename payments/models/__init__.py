"""Promises (intents), facts of chains (transfers), how facts became credit (allocations), decisions of people, and
money that goes out (payouts)."""

from .decisions import HandSettlement, Inquiry, ReviewItem
from .health import Checkup, LastRate, RateSourceHealth
from .network import Installation, NetworkCursor, RateSample, ReservedAddress
from .payouts import Payout
from .promises import PaymentIntent, Purpose, TopUp
from .proof import Reconciliation
from .transfers import Allocation, ChainTransfer, SpentOutput

__all__ = [
    "Allocation",
    "ChainTransfer",
    "Checkup",
    "HandSettlement",
    "Inquiry",
    "Installation",
    "LastRate",
    "NetworkCursor",
    "PaymentIntent",
    "Payout",
    "Purpose",
    "RateSample",
    "RateSourceHealth",
    "Reconciliation",
    "ReservedAddress",
    "ReviewItem",
    "SpentOutput",
    "TopUp",
]
