"""The timer of conversations."""

from celery import shared_task

from . import actions


@shared_task
def forget_texts() -> None:
    actions.forget_texts()
