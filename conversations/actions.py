"""Every write to conversations. Lock order: order, conversation, customer."""

import uuid
from collections.abc import Mapping
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from events.actions import record
from orders.models import Order

from .errors import NobodyReads, NothingToCancel, TooManyMessages
from .models import CannedText, Conversation, Message, Side
from .samples import canned_texts

Kind = Message.Kind


def ensure_canned_texts() -> None:
    """Make the usual prepared answers once; afterwards the list belongs to the operators."""
    if CannedText.objects.exists():
        return
    CannedText.objects.bulk_create(canned_texts(), ignore_conflicts=True)


def locked(order_id: int) -> Conversation:
    """Return the conversation of an order, locked; the first message of an order makes it."""
    Conversation.objects.get_or_create(order_id=order_id)
    rows = Conversation.objects.select_for_update(of=("self",), no_key=True)
    return rows.select_related("order__customer").get(pk=order_id)


def send(
    order: Order, *, kind: str, body: str, form_key: uuid.UUID, actor: User, context: Mapping[str, str] | None = None
) -> Message:
    """Send what the customer wrote; the same form key again returns the first message.

    Raises a `Refused` that says why; then nothing was sent. Texts that look like secrets were asked about before.
    """
    with transaction.atomic(durable=True):
        conversation = locked(order.pk)
        sent = Message.objects.filter(order=order, side=Side.CUSTOMER, form_key=form_key).first()
        if sent:
            return sent
        if kind == Kind.CANCELLATION and conversation.order.state != Order.State.SETTLED:
            raise NothingToCancel
        leave_room(actor)
        message = Message(kind=kind, body=body, context=dict(context or {}), form_key=form_key)
        return append(conversation, message, side=Side.CUSTOMER, actor=actor)


def ask_for_date(order: Order, topic: str, *, actor: User) -> Message:
    """Ask support for a date that is not set yet, once per date (PRV-3); again returns the first request."""
    with transaction.atomic(durable=True):
        conversation = locked(order.pk)
        asked = Message.objects.filter(order=order, topic=topic).first()
        if asked:
            return asked
        leave_room(actor)
        return append(conversation, Message(kind=Kind.DATE, topic=topic), side=Side.CUSTOMER, actor=actor)


def answer(order_id: int, *, body: str, form_key: uuid.UUID, read_up_to: int, actor: User | None) -> Message:
    """Answer the customer; the same form key again returns the first answer. None as actor is the system.

    `read_up_to` is the last message that the author has seen: what the customer wrote after it still waits. Payments
    and provisioning may call it in a transaction of theirs that holds the order.
    """
    with transaction.atomic():
        conversation = locked(order_id)
        sent = Message.objects.filter(order_id=order_id, side=Side.STAFF, form_key=form_key).first()
        if sent:
            return sent
        if conversation.order.customer.closed_at:
            raise NobodyReads
        settle(conversation, read_up_to)
        message = Message(kind=Kind.ANSWER, body=body, form_key=form_key)
        return append(conversation, message, side=Side.STAFF, actor=actor)


def append(conversation: Conversation, message: Message, *, side: Side, actor: User | None) -> Message:
    """Write a message into a locked conversation, and the event that tells of it without its words."""
    message.order, message.side, message.author = conversation.order, side, actor
    message.save(force_insert=True)
    if side == Side.CUSTOMER:
        conversation.last_of_customer = message.pk
        conversation.waiting_since = conversation.waiting_since or message.at
    else:
        conversation.last_of_staff = message.pk
    conversation.save(update_fields=["last_of_customer", "last_of_staff", "waiting_since"])
    record("message.sent", subject=message, thread=message.order, actor=actor, side=side.value, about=message.kind)
    return message


def settle(conversation: Conversation, read_up_to: int) -> None:
    """Note what support has read; what the customer wrote after it waits since its own time."""
    conversation.read_by_staff = max(conversation.read_by_staff, min(read_up_to, conversation.last_of_customer))
    later = Message.objects.filter(
        order=conversation.order, side=Side.CUSTOMER, pk__gt=conversation.read_by_staff
    ).order_by("pk")
    conversation.waiting_since = later.values_list("at", flat=True).first()
    conversation.save(update_fields=["read_by_staff", "waiting_since"])


def set_aside(order_id: int, *, read_up_to: int, actor: User) -> None:
    """Note that what the customer wrote needs no answer."""
    with transaction.atomic(durable=True):
        conversation = locked(order_id)
        if conversation.waiting_since is None:
            return
        settle(conversation, read_up_to)
        record("message.set_aside", subject=conversation.order, actor=actor)


def mark_read(order: Order, *, read_up_to: int, actor: User) -> None:
    """Note up to which message the customer has read."""
    with transaction.atomic(durable=True):
        conversation = Conversation.objects.select_for_update(no_key=True).filter(order=order).first()
        if conversation is None:
            return
        read = min(read_up_to, max(conversation.last_of_staff, conversation.last_of_customer))
        if read > conversation.read_by_customer:
            conversation.read_by_customer = read
            conversation.save(update_fields=["read_by_customer"])


def leave_room(customer: User) -> None:
    """Raise TooManyMessages if the customer has sent the most of an hour. The row of the person makes it exact."""
    User.objects.select_for_update(no_key=True).get(pk=customer.pk)
    since = timezone.now() - timedelta(hours=1)
    sent = Message.objects.filter(side=Side.CUSTOMER, author=customer, at__gt=since).count()
    if sent >= settings.MESSAGES_PER_HOUR:
        raise TooManyMessages(settings.MESSAGES_PER_HOUR)


def forget_texts() -> int:
    """Remove the words of conversations with accounts closed long enough ago (ACC-7); return of how many messages."""
    now = timezone.now()
    before = now - timedelta(days=settings.CONTACT_RETENTION_DAYS)
    rows = Message.objects.filter(order__customer__closed_at__lte=before, forgotten_at=None)
    return rows.update(body="", context={}, forgotten_at=now)
