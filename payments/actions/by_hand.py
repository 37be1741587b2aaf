"""Settle an order by hand (PAY-5): by a ledger adjustment with reason and evidence, above a sum by two persons."""

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from balance.actions import Overdrawn, account_of, credit
from balance.models import House, Movement
from events.actions import record
from money.usd import localised
from orders.actions import capture, held, locked, secure_lots
from orders.models import Order

from .. import errors
from ..corrections import given_alone
from ..models import HandSettlement, Inquiry, ReviewItem
from ..queries import rest_cents
from .adjusting import locked_customer
from .deciding import close
from .holds import renew_hold
from .two_persons import agree, finish, needs_second, take_back

State = HandSettlement.State


def settle_by_hand(order_id: int, *, reason: str, evidence: str, actor: User) -> HandSettlement:
    """Settle an unpaid order, or propose it to a second person above the limit; twice returns the first one.

    Credited by adjustment is what is missing beyond the credit of the order's own instructions; the order is captured
    in the same transaction. Chain money that arrives later goes to the balance, as for any paid order.
    """
    if not reason.strip() or not evidence.strip():
        raise errors.NoGrounds
    with transaction.atomic(durable=True):
        order = locked(order_id)
        existing = HandSettlement.objects.filter(order=order).exclude(state=State.WITHDRAWN).first()
        if existing:
            return existing
        if order.customer_id == actor.pk:
            raise errors.OwnMoney
        if not order.is_payable:
            raise errors.NotPayable
        held(order)  # the hold before the customer: that is the order of locks
        locked_customer(order.customer_id)  # what one person gives them alone counts together
        settlement = HandSettlement.objects.create(
            order=order, usd_cents=max(rest_cents(order), 0), reason=reason, evidence=evidence, proposed_by=actor
        )
        record("order.hand_proposed", subject=settlement, thread=order, actor=actor, usd_cents=settlement.usd_cents)
        if not needs_second(order.total_cents + given_alone(order.customer_id, actor)):
            carry_out(settlement, order, actor=actor)
        return settlement


def approve(settlement_id: int, *, actor: User) -> HandSettlement:
    """Agree as the second person; SamePerson for the first one. Approving again changes nothing."""
    with transaction.atomic(durable=True):
        settlement, order = locked_settlement(settlement_id)
        if agree(settlement, actor):
            if order.customer_id == actor.pk:
                raise errors.OwnMoney
            if not order.is_payable:
                raise errors.NotPayable
            carry_out(settlement, order, actor=actor)
        return settlement


def withdraw(settlement_id: int, *, actor: User) -> HandSettlement:
    """Take a proposal back, or refuse it as the second person; nothing moved."""
    with transaction.atomic(durable=True):
        settlement, order = locked_settlement(settlement_id)
        take_back(settlement, "order.hand_withdrawn", thread=order, actor=actor)
        return settlement


def locked_settlement(settlement_id: int) -> tuple[HandSettlement, Order]:
    """Return the settlement and its order, both locked: the order first."""
    order = locked(HandSettlement.objects.values_list("order_id", flat=True).get(pk=settlement_id))
    settlement = HandSettlement.objects.select_for_update(of=("self",), no_key=True).get(pk=settlement_id)
    return settlement, order


def carry_out(settlement: HandSettlement, order: Order, *, actor: User) -> None:
    """Credit what is missing by now and capture the order: stock is locked before the account. InDebt if a debt would
    swallow the adjustment; then nothing moved."""
    secured = secure_lots(order)
    account_of(order.customer)
    settlement.usd_cents = max(rest_cents(order), 0)  # money may have arrived since it was proposed
    if settlement.usd_cents:
        credit(
            order.customer,
            settlement.usd_cents,
            house=House.ADJUSTMENTS,
            kind=Movement.Kind.ADJUSTMENT,
            reference=f"hand:{settlement.pk}",
            actor=actor,
            reason=settlement.reason,
        )
    try:
        capture(order, secured=secured, actor=actor, source=f"hand:{settlement.pk}")
    except Overdrawn as short:  # a debt that a reversal left took the adjustment
        raise errors.InDebt(localised(short.available_cents), localised(short.needed_cents)) from short
    finish(settlement, columns=["usd_cents"])
    record(
        "order.hand_settled",
        subject=settlement,
        thread=order,
        actor=actor,
        usd_cents=settlement.usd_cents,
        reason=settlement.reason,
        evidence=settlement.evidence,
    )
    answer_claims(order, reason=settlement.reason, actor=actor)
    renew_hold(order, now=timezone.now())


def answer_claims(order: Order, *, reason: str, actor: User) -> None:
    """Close what customers claimed about the payment of an order that is settled now: nothing is left to decide."""
    inquiries = Inquiry.objects.filter(intent__order=order).values_list("pk", flat=True)
    subjects = [f"inquiry:{pk}" for pk in inquiries]
    claims = ReviewItem.objects.filter(reason=ReviewItem.Reason.CLAIM, subject__in=subjects, decided_at=None)
    for item in claims.select_for_update(of=("self",), no_key=True).order_by("pk"):
        close(item, ReviewItem.Outcome.NOTED, reason=reason, actor=actor)
