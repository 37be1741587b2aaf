"""A worker that is killed anywhere while it tells operators: the news go out, at most twice, under one name."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone
from killing import KILLED
from post import PostOffice, post_office
from story import make_customer

from config.tasks import tell_operators
from events.actions import record
from events.models import Notice
from events.notices import LEASE
from events.relay import drain

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def office(settings: Any) -> Iterator[PostOffice]:
    settings.OPERATOR_EMAILS = ["olga@shop.example"]
    with post_office() as office:
        settings.MAILERS = {"default": {"BACKEND": "config.mailing.Backend", "OPTIONS": office.options}}
        yield office


def happen() -> None:
    """Let something happen that operators are told of."""
    with transaction.atomic():
        record(
            "order.waiting_for_stock", subject=make_customer(f"{timezone.now().timestamp()}@example.com"), actor=None
        )


def work() -> None:
    """Do what a worker does of it: the relay writes the notice, the timer sends it."""
    drain()
    tell_operators()


def test_news_are_sent_at_most_twice_and_never_lost_wherever_the_worker_dies(office: PostOffice, child: Any) -> None:
    happen()
    steps = len(child(work).steps)
    assert len(office.mails) == 1 and steps > 10
    sent_twice = 0
    for step in range(1, steps + 1):
        Notice.objects.all().delete()
        office.mails.clear()
        happen()
        assert child(work, step).status == KILLED
        with time_machine.travel(timezone.now() + LEASE + timedelta(minutes=1)):
            work()
            work()
        assert not Notice.objects.filter(sent_at=None).exists(), step
        assert len(office.mails) in (1, 2), step
        assert len({mail["Message-ID"] for mail in office.mails}) == 1, step
        sent_twice += len(office.mails) == 2
    assert sent_twice  # between send and settle
