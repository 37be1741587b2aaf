"""Events of one transaction are inserted together at its end, as if each had been inserted when it was recorded."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from story import make_customer

from accounts.models import User
from events.actions import record, recording
from events.models import Delivery, Event

pytestmark = pytest.mark.django_db(transaction=True)


def kinds() -> list[str]:
    return list(Event.objects.filter(kind__startswith="test.").order_by("id").values_list("kind", flat=True))


def record_and_fail(subject: User) -> None:
    record("test.lost", subject=subject, actor=None)
    raise ZeroDivisionError


def test_they_keep_their_order_and_reach_their_handlers_with_one_statement_each() -> None:
    ada = make_customer()
    with CaptureQueriesContext(connection) as sent, recording():
        for kind in ("test.first", "order.settled", "test.second", "order.settled", "test.third"):
            record(kind, subject=ada, actor=None)
    assert kinds() == ["test.first", "test.second", "test.third"]
    assert Delivery.objects.count() == 2
    assert sum("INSERT INTO" in query["sql"] for query in sent) == 2


def test_what_was_recorded_in_a_savepoint_that_was_rolled_back_never_was() -> None:
    ada = make_customer()
    with recording():
        record("test.before", subject=ada, actor=None)
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            record_and_fail(ada)
        with transaction.atomic():
            record("test.kept", subject=ada, actor=None)
    assert kinds() == ["test.before", "test.kept"]


def test_a_transaction_that_fails_leaves_no_event_and_none_for_the_next_one() -> None:
    ada = make_customer()
    with pytest.raises(ZeroDivisionError), recording():
        record_and_fail(ada)
    with recording():
        record("test.next", subject=ada, actor=None)
    with transaction.atomic():
        record("test.at_once", subject=ada, actor=None)
        assert kinds() == ["test.next", "test.at_once"]
