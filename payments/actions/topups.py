"""Make top-ups (BAL-1)."""

import uuid

from django.conf import settings
from django.db import IntegrityError, transaction

from accounts.models import User
from events.actions import record
from orders import numbers

from .. import errors
from ..models import TopUp


def make_topup(customer: User, amount_cents: int, *, form_key: uuid.UUID) -> TopUp:
    """Make a top-up of one of the amounts of the list; the same form key again returns the first one."""
    if amount_cents not in settings.TOPUP_CENTS:
        raise errors.NoSuchAmount
    with transaction.atomic(durable=True):
        User.objects.select_for_update(no_key=True).get(pk=customer.pk)
        existing = TopUp.objects.filter(customer=customer, form_key=form_key).first()
        if existing:
            return existing
        topup = insert_with_fresh_number(TopUp(customer=customer, amount_cents=amount_cents, form_key=form_key))
        record("topup.made", subject=topup, actor=customer, amount_cents=amount_cents)
        return topup


def insert_with_fresh_number(topup: TopUp) -> TopUp:
    for _attempt in range(5):
        topup.symbols = numbers.draw()
        try:
            with transaction.atomic():
                topup.save(force_insert=True)
            return topup
        except IntegrityError:
            if not TopUp.objects.filter(symbols=topup.symbols).exists():
                raise
    raise RuntimeError("no free top-up number was found")
