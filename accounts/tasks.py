from celery import shared_task

from .actions import guests


@shared_task
def forget_guests() -> None:
    guests.forget_guests()
