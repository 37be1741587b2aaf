"""What operators see and decide of payments."""

from . import by_hand, facts, pauses, payouts, reviews

__all__ = ["by_hand", "facts", "pauses", "payouts", "reviews"]
