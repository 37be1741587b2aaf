"""Make top-ups (BAL-1)."""

import uuid

from django.conf import settings
from django.db import transaction

from accounts.models import User
from events.actions import record
from orders.numbering import insert_with_fresh_number

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
        topup = TopUp(customer=customer, amount_cents=amount_cents, form_key=form_key)
        insert_with_fresh_number(topup)
        record("topup.made", subject=topup, actor=customer, amount_cents=amount_cents)
        return topup
