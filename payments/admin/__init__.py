"""What operators see and decide of payments."""

from . import by_hand, checkups, facts, pauses, payouts, reports, reviews

__all__ = ["by_hand", "checkups", "facts", "pauses", "payouts", "reports", "reviews"]
