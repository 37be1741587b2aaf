"""Each handler hears of each event exactly once, however many relays run."""

from collections import Counter

import pytest
from django.db import transaction
from story import make_customer
from together import at_once

from events.actions import record
from events.models import Delivery, Event
from events.relay import drain

pytestmark = [pytest.mark.races, pytest.mark.django_db(transaction=True)]
EVENTS, RELAYS = 50, 8


def note(event: Event) -> None:
    """Stand in for a handler: write a row in the relay's transaction, as a real one does."""
    record("test.heard", subject=event, actor=None)


def tell() -> None:
    ada = make_customer()
    with transaction.atomic():
        for _ in range(EVENTS):
            record("order.settled", subject=ada, actor=None)


def heard() -> Counter[str]:
    return Counter(Event.objects.filter(kind="test.heard").values_list("subject", flat=True))


def test_eight_relays_deliver_fifty_events_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("provisioning.handlers.start_rental", note)
    tell()
    outcomes = at_once([drain] * RELAYS)
    assert sum(int(str(outcome.value)) for outcome in outcomes) == EVENTS
    assert set(heard().values()) == {1}
    assert len(heard()) == EVENTS
    assert not Delivery.objects.filter(done_at=None).exists()


def test_relays_deliver_once_also_when_every_third_handler_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_at_first(event: Event) -> None:
        note(event)
        if event.pk % 3 == 0 and Delivery.objects.get(event=event).attempts == 0:
            raise RuntimeError("not now")

    monkeypatch.setattr("provisioning.handlers.start_rental", fail_at_first)
    tell()
    at_once([drain] * RELAYS)
    failed = Delivery.objects.filter(done_at=None)
    assert {delivery.attempts for delivery in failed} == {1}
    assert all("not now" in delivery.error for delivery in failed)
    assert len(heard()) == EVENTS - failed.count()  # what a failed handler wrote is gone

    failed.update(due_at=Event.objects.earliest("at").at)
    at_once([drain] * RELAYS)
    assert set(heard().values()) == {1}
    assert len(heard()) == EVENTS
