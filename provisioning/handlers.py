"""Reactions to events; each runs inside the relay's transaction."""

from events.models import Event

from .actions import ensure_rental, forget_access


def start_rental(event: Event) -> None:
    """Queue the rental of an order that was settled or got its lots; the state decides, not the event's order."""
    ensure_rental(int(event.thread.removeprefix("order:")))


def forget_access_of_closed(event: Event) -> None:
    """Remove the access information of an account that was closed."""
    forget_access(int(event.thread.removeprefix("user:")))
