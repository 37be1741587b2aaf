"""Workers that tell operators, look around and beat at the same moment: each thing is said once."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from post import PostOffice, post_office
from story import make_customer
from together import at_once, errors

from config.tasks import tell_operators
from events import alarms, heartbeat
from events.actions import record
from events.models import Alarm, Event, Heartbeat, Notice
from events.relay import drain

pytestmark = [pytest.mark.races, pytest.mark.django_db(transaction=True)]
WORKERS = 6


@pytest.fixture
def office(settings: Any) -> Iterator[PostOffice]:
    settings.OPERATOR_EMAILS = ["olga@shop.example"]
    with post_office() as office:
        settings.MAILERS = {"default": {"BACKEND": "config.mailing.Backend", "OPTIONS": office.options}}
        yield office


def test_six_workers_send_one_mail(office: PostOffice) -> None:
    ada = make_customer()
    with transaction.atomic():
        for _ in range(10):
            record("order.waiting_for_stock", subject=ada, actor=None)
    drain()
    outcomes = at_once([tell_operators] * WORKERS)
    assert errors(outcomes) == {"": WORKERS}
    assert len(office.mails) == 1 and not Notice.objects.filter(sent_at=None).exists()


def test_six_looks_raise_one_alarm() -> None:
    now = timezone.now()
    at_once([lambda: alarms.look({"network:ethereum"}, now)] * WORKERS)
    later = now + timedelta(minutes=5)
    outcomes = at_once([lambda: alarms.look({"network:ethereum"}, later)] * WORKERS)
    assert errors(outcomes) == {"": WORKERS}
    assert Alarm.objects.count() == 1 and Event.objects.filter(kind="alarm.raised").count() == 1


def test_six_beats_after_a_silence_tell_of_it_once() -> None:
    now = timezone.now()
    at_once([lambda: heartbeat.beat(now)] * WORKERS)
    later = now + timedelta(hours=1)
    outcomes = at_once([lambda: heartbeat.beat(later)] * WORKERS)
    assert errors(outcomes) == {"": WORKERS}
    assert Heartbeat.objects.get().at == later and Event.objects.filter(kind="worker.resumed").count() == 1
