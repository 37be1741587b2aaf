"""Every event reaches each of its handlers exactly once, and one that fails keeps nobody else waiting."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from django.utils.module_loading import import_string
from story import make_customer

from accounts.models import User
from events import relay
from events.actions import record
from events.models import Delivery, Event

pytestmark = pytest.mark.django_db(transaction=True)
SEEN: list[str] = []
HANDLERS = {
    "test.happened": (f"{__name__}.note", f"{__name__}.fail", f"{__name__}.note_too"),
    "test.harmless": (f"{__name__}.note",),
}


def note(event: Event) -> None:
    SEEN.append(f"note {event.data.get('n')}")


def note_too(event: Event) -> None:
    SEEN.append(f"note_too {event.data.get('n')}")


def fail(event: Event) -> None:
    make_customer(f"written-by-{event.pk}@example.com")
    if event.data.get("broken", True):
        raise ValueError("the handler is broken")


@pytest.fixture(autouse=True)
def handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let our handlers stand in the table, found by name as the real ones are."""
    table = {name: globals()[name.rpartition(".")[2]] for names in HANDLERS.values() for name in names}
    monkeypatch.setattr("events.relay.import_string", lambda path: table.get(path) or import_string(path))
    monkeypatch.setattr("events.actions.import_string", lambda path: HANDLERS)
    SEEN.clear()


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(datetime(2026, 5, 1, 12, tzinfo=UTC), tick=False) as traveller:
        yield traveller


@pytest.fixture
def someone() -> User:
    customer: User = make_customer()
    return customer


def happen(subject: User, kind: str = "test.happened", **data: Any) -> Event:
    with transaction.atomic():
        return record(kind, subject=subject, actor=None, **data)


def test_an_event_outside_a_transaction_is_refused(someone: User) -> None:
    with pytest.raises(RuntimeError, match=r"test\.happened must be recorded in the transaction of its change"):
        record("test.happened", subject=someone, actor=None)
    assert not Event.objects.exists()


def test_an_event_names_subject_thread_actor_and_time(someone: User, clock: time_machine.Traveller) -> None:
    with transaction.atomic():
        event = record("test.harmless", subject=someone, thread=someone, actor=someone, cents=5, at_time=timezone.now())
    event.refresh_from_db()
    assert (event.subject, event.thread, event.actor, event.at) == (
        f"user:{someone.pk}", f"user:{someone.pk}", someone, timezone.now(),
    )  # fmt: skip
    assert event.data == {"cents": 5, "at_time": "2026-05-01T12:00:00Z"}


def test_an_event_of_a_change_that_was_rolled_back_never_was(someone: User) -> None:
    with transaction.atomic():
        record("test.happened", subject=someone, actor=None)
        transaction.set_rollback(True)
    assert (Event.objects.count(), Delivery.objects.count()) == (0, 0)


def test_every_handler_runs_once_and_a_failing_one_keeps_nobody_waiting(
    someone: User, clock: time_machine.Traveller
) -> None:
    happen(someone, n=1)
    happen(someone, "test.harmless", n=2)
    assert relay.drain() == 3
    assert SEEN == ["note 1", "note_too 1", "note 2"]
    assert relay.drain() == 0
    assert SEEN == ["note 1", "note_too 1", "note 2"]
    stuck = Delivery.objects.get(done_at=None)
    assert (stuck.handler, stuck.attempts) == (f"{__name__}.fail", 1)
    assert stuck.error == "ValueError: the handler is broken"


def test_what_a_failing_handler_wrote_is_rolled_back_and_the_delay_grows(
    someone: User, clock: time_machine.Traveller
) -> None:
    event = happen(someone)
    relay.drain()
    for delay in (5, 10, 20, 40):
        stuck = Delivery.objects.get(done_at=None)
        assert stuck.due_at == timezone.now() + timedelta(seconds=delay)
        assert not User.objects.filter(email=f"written-by-{event.pk}@example.com").exists()
        clock.move_to(stuck.due_at - timedelta(seconds=1))
        assert relay.drain() == 0
        assert Delivery.objects.get(done_at=None).attempts == stuck.attempts
        clock.move_to(stuck.due_at)
        relay.drain()
    for _ in range(20):
        stuck = Delivery.objects.get(done_at=None)
        clock.move_to(stuck.due_at)
        relay.drain()
    assert Delivery.objects.get(done_at=None).due_at == timezone.now() + timedelta(hours=1)


def test_a_handler_that_was_repaired_is_delivered_and_leaves_no_error(
    someone: User, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = happen(someone)
    relay.drain()
    monkeypatch.setattr("events.relay.import_string", lambda path: note)
    clock.move_to(timezone.now() + timedelta(seconds=5))
    assert relay.drain() == 1
    done = Delivery.objects.get(handler=f"{__name__}.fail", event=event)
    assert (done.error, done.done_at) == ("", timezone.now())


def test_a_handler_that_does_not_exist_is_kept_with_its_error(someone: User) -> None:
    with transaction.atomic():
        event = Event.objects.create(kind="test.old", thread="user:1", subject="user:1")
        Delivery.objects.create(event=event, handler="nowhere.at_all")
    assert relay.drain() == 0
    assert "ModuleNotFoundError" in Delivery.objects.get().error


def test_an_event_has_one_delivery_for_a_handler(someone: User) -> None:
    event = happen(someone, "test.harmless")
    with pytest.raises(IntegrityError), transaction.atomic():
        Delivery.objects.create(event=event, handler=f"{__name__}.note")


def test_a_done_mark_that_cannot_be_written_takes_the_handler_s_writes_with_it(someone: User) -> None:
    event = happen(someone, broken=False)
    failing = Delivery.objects.get(handler=f"{__name__}.fail")

    def die(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith('UPDATE "events_delivery" SET "done_at"') and failing.pk in params:
            raise RuntimeError("the process died here")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(die):
        relay.drain()
    assert not User.objects.filter(email=f"written-by-{event.pk}@example.com").exists()
    failing.refresh_from_db()
    assert failing.done_at is None
    assert "died here" in failing.error
