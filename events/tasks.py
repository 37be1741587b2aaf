from celery import shared_task
from django.utils import timezone

from . import heartbeat
from . import relay as deliveries


@shared_task
def relay() -> None:
    deliveries.drain()


@shared_task
def beat() -> None:
    heartbeat.beat(timezone.now())
