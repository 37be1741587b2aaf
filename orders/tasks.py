"""Timers of orders: each finds its work in the database and does one order per transaction."""

import logging
from collections.abc import Callable, Iterable
from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from . import actions, forgetting
from .models import Hold, Order

log = logging.getLogger(__name__)


@shared_task
def end_holds() -> None:
    now = timezone.now()
    ended = Hold.objects.filter(state=Hold.State.HELD, until__lt=now).order_by("until")[:500]
    each(ended.values_list("order_id", flat=True), lambda order_id: actions.end_hold(order_id, now=now))


@shared_task
def expire_orders() -> None:
    now = timezone.now()
    before = now - timedelta(days=settings.ORDER_EXPIRY_DAYS)
    old = Order.objects.filter(state=Order.State.OPEN, payment=Order.Payment.NONE, created_at__lt=before)
    ripe = old.exclude(promised_until__gt=now).exclude(holds__state=Hold.State.HELD).order_by("created_at")[:500]
    each(ripe.values_list("pk", flat=True), lambda order_id: actions.expire_order(order_id, created_before=before))


@shared_task
def forget_contacts() -> None:
    forgetting.forget_contacts()


def each(order_ids: Iterable[int], act: Callable[[int], object]) -> None:
    """Do every order; one that fails does not keep the others waiting."""
    for order_id in list(order_ids):
        try:
            act(order_id)
        except Exception:
            log.exception("order %s could not be worked on", order_id)
