"""Reactions to events; each runs inside the relay's transaction."""

from events.models import Event

from .actions import ensure_rental


def start_rental(event: Event) -> None:
    """Queue the rental of an order that was settled or got its lots; the state decides, not the event's order."""
    ensure_rental(int(event.thread.removeprefix("order:")))
