"""Reads of the ledger."""

from dataclasses import dataclass

from django.db.models import Q

from accounts.models import User

from .models import Account, Movement


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a statement: the movement, its signed amount and the balance after it, in cents."""

    movement: Movement
    amount_cents: int
    balance_cents: int


def available_cents(customer: User) -> int:
    """Return what the customer can spend now."""
    account = Account.objects.filter(customer=customer).first()
    return max(account.balance_cents or 0, 0) if account else 0


def statement(customer: User) -> list[Row]:
    """Return every movement of the customer, newest first, each with the running balance."""
    rows: list[Row] = []
    balance = 0
    movements = Movement.objects.filter(Q(debit__customer=customer) | Q(credit__customer=customer))
    for movement in movements.select_related("credit").order_by("id"):
        amount = movement.amount_cents if movement.credit.customer_id == customer.pk else -movement.amount_cents
        balance += amount
        rows.append(Row(movement, amount, balance))
    return rows[::-1]
