"""What operators see and decide of payments."""

from . import adjustments, by_hand, facts, pauses, reviews

__all__ = ["adjustments", "by_hand", "facts", "pauses", "reviews"]
