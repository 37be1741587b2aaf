"""What operators see and decide of payments."""

from . import adjustments, by_hand, checkups, facts, pauses, payouts, reports, reviews

__all__ = ["adjustments", "by_hand", "checkups", "facts", "pauses", "payouts", "reports", "reviews"]
