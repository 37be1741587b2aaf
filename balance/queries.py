"""Reads of the ledger."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Case, F, Q, QuerySet, Sum, When

from accounts.models import User

from .models import Account, Movement


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a statement: the movement, its signed amount and the balance after it, in cents."""

    movement: Movement
    amount_cents: int
    balance_cents: int


def balance_cents(customer: User) -> int:
    """Return what we owe the customer; below zero if a reversal left a debt."""
    account = Account.objects.filter(customer=customer).first()
    return (account.balance_cents or 0) if account else 0


def available_cents(customer: User) -> int:
    """Return what the customer can spend now."""
    return max(balance_cents(customer), 0)


def movements_of(customer: User) -> QuerySet[Movement]:
    """Return every movement of the customer, newest first.

    By the account's own key: through the customer of either side the whole ledger would be read.
    """
    account = Account.objects.filter(customer=customer).first()
    if account is None:
        return Movement.objects.none()
    return Movement.objects.filter(Q(debit=account) | Q(credit=account)).select_related("credit").order_by("-id")


def statement(
    customer: User, movements: Sequence[Movement] | None = None, everything: QuerySet[Movement] | None = None
) -> list[Row]:
    """Return movements, neighbours and newest first, with the running balance: all by default. `everything`: what
    `movements_of` returned, if it was asked before."""
    everything = movements_of(customer) if everything is None else everything
    chosen = list(everything if movements is None else movements)
    balance = balance_after(customer, everything, chosen[0]) if chosen else 0
    rows: list[Row] = []
    for movement in chosen:
        amount = movement.amount_cents if movement.credit.customer_id == customer.pk else -movement.amount_cents
        rows.append(Row(movement, amount, balance))
        balance -= amount
    return rows


def balance_after(customer: User, everything: QuerySet[Movement], movement: Movement) -> int:
    """Return the balance after one of the customer's movements, from the movements alone."""
    signed = Case(When(credit__customer=customer, then=F("amount_cents")), default=-F("amount_cents"))
    total = everything.filter(id__lte=movement.pk).aggregate(total=Sum(signed))["total"]
    return int(total or 0)
