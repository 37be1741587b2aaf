from celery import shared_task

from . import relay as deliveries


@shared_task
def relay() -> None:
    deliveries.drain()
