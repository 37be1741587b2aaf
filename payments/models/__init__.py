"""Promises (intents), facts of chains (transfers), how facts became credit (allocations), decisions of people, and
money that goes out (payouts)."""

from .adjustments import Adjustment
from .decisions import HandSettlement, Inquiry, ReviewItem
from .health import Checkup, LastRate, RateSourceHealth
from .network import Installation, NetworkCursor, RateSample, ReservedAddress
from .payouts import Payout
from .promises import PaymentIntent, Purpose, TopUp
from .proof import Reconciliation
from .transfers import Allocation, ChainTransfer, SpentOutput
from .two_persons import TwoPersons

__all__ = [
    "Adjustment",
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
    "TwoPersons",
]
