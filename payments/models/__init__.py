"""Promises (intents), facts of chains (transfers), how facts became credit (allocations), and decisions of people."""

from .adjustments import Adjustment
from .decisions import HandSettlement, Inquiry, ReviewItem
from .health import LastRate, RateSourceHealth
from .network import Installation, NetworkCursor, RateSample, ReservedAddress
from .promises import PaymentIntent, Purpose, TopUp
from .proof import Reconciliation
from .transfers import Allocation, ChainTransfer, SpentOutput
from .two_persons import TwoPersons

__all__ = [
    "Adjustment",
    "Allocation",
    "ChainTransfer",
    "HandSettlement",
    "Inquiry",
    "Installation",
    "LastRate",
    "NetworkCursor",
    "PaymentIntent",
    "Purpose",
    "RateSample",
    "RateSourceHealth",
    "Reconciliation",
    "ReservedAddress",
    "ReviewItem",
    "SpentOutput",
    "TopUp",
    "TwoPersons",
]
