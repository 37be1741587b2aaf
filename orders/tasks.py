"""Timers of orders: each finds its work in the database and does one order per transaction."""

from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from . import actions
from .models import Hold, Order


@shared_task
def end_holds() -> None:
    now = timezone.now()
    ended = Hold.objects.filter(state=Hold.State.HELD, until__lt=now).order_by("until")[:500]
    for order_id in list(ended.values_list("order_id", flat=True)):
        actions.end_hold(order_id, now=now)


@shared_task
def expire_orders() -> None:
    before = timezone.now() - timedelta(days=settings.ORDER_EXPIRY_DAYS)
    old = Order.objects.filter(state=Order.State.OPEN, created_at__lt=before).order_by("created_at")[:500]
    for order_id in list(old.values_list("pk", flat=True)):
        actions.expire_order(order_id, created_before=before)
