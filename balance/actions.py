"""Every write to the ledger. All of them run in the caller's transaction; the account row is locked first."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from django.db.models import F, QuerySet

from accounts.models import User
from events.statements import change_row, insert_new, kept_row, kept_update

from .models import Account, House, Movement

Owner = User | Account
"""Whose money moves: the customer, or their account, if the caller has locked it in this transaction already."""


class Overdrawn(Exception):
    """The balance does not cover the amount."""

    def __init__(self, available_cents: int, needed_cents: int) -> None:
        super().__init__(f"{available_cents} cents are available, {needed_cents} are needed")
        self.available_cents, self.needed_cents = available_cents, needed_cents


class ReferenceConflict(Exception):
    """A movement with this reference exists, but says something else: a fault that must not pass silently."""


def ensure_house_accounts() -> None:
    """Make the accounts of the house that are missing."""
    for house in House.values:
        Account.objects.get_or_create(house=house)
    account_of_house.cache_clear()


@cache
def account_of_house(house: House) -> Account:
    """Return an account of the house. It is made when the tables are, and never changes: each process reads it once."""
    return Account.objects.get(house=house)


def account_of(customer: User) -> Account:
    """Return the customer's account, locked; make it on first use."""
    account = known_account(customer)
    if account is None:
        account = Account(customer=customer, balance_cents=0)
        if not insert_new(account, unique="customer"):  # a row that was just inserted is locked
            return account_of(customer)
    return account


@kept_row
def known_account(customer: User) -> QuerySet[Account]:
    return Account.objects.select_for_update(of=("self",), no_key=True).filter(customer=customer)


def locked_of(owner: Owner) -> Account:
    return owner if isinstance(owner, Account) else account_of(owner)


def credit(
    owner: Owner,
    amount_cents: int,
    *,
    house: House,
    kind: Movement.Kind,
    reference: str,
    actor: User | None,
    reason: str = "",
) -> Movement:
    """Credit a customer, or their locked account, from an account of the house; the same reference again returns the
    first movement."""
    account = locked_of(owner)
    movement, new = post(
        debit=account_of_house(house),
        credit=account,
        amount_cents=amount_cents,
        kind=kind,
        reference=reference,
        actor=actor,
        reason=reason,
    )
    if new:
        balance = (account.balance_cents or 0) + amount_cents
        floor = max(account.floor_cents, min(0, balance))  # a debt that was paid back does not come again
        change_row(account, {"balance_cents": balance, "floor_cents": floor})
        account.balance_cents, account.floor_cents = balance, floor
    return movement


def debit(
    owner: Owner,
    amount_cents: int,
    *,
    house: House,
    kind: Movement.Kind,
    reference: str,
    actor: User | None,
    reason: str = "",
) -> Movement:
    """Debit a customer, or their locked account; Overdrawn if less is available. The same reference again returns the
    first movement."""
    account = locked_of(owner)
    available = max(account.balance_cents or 0, 0)
    if available < amount_cents and not Movement.objects.filter(reference=reference).exists():
        raise Overdrawn(available, amount_cents)
    movement, new = post(
        debit=account,
        credit=account_of_house(house),
        amount_cents=amount_cents,
        kind=kind,
        reference=reference,
        actor=actor,
        reason=reason,
    )
    if new:
        take(account.pk, amount_cents)
        account.balance_cents = (account.balance_cents or 0) - amount_cents
    return movement


@kept_update
def take(account: int, cents: int) -> tuple[QuerySet[Account], Mapping[str, Any]]:
    return Account.objects.filter(pk=account), {"balance_cents": F("balance_cents") - cents}


def reverse(movement: Movement, *, reference: str, actor: User | None, reason: str) -> Movement:
    """Mirror a credit. The balance may fall below zero; then the floor falls with it and shows the debt."""
    customer = movement.credit.customer
    if customer is None:
        raise ValueError(f"{movement} is not a credit of a customer")
    account = account_of(customer)
    mirror, new = post(
        debit=account,
        credit=movement.debit,
        amount_cents=movement.amount_cents,
        kind=Movement.Kind.REVERSAL,
        reference=reference,
        actor=actor,
        reason=reason,
    )
    if new:
        balance = (account.balance_cents or 0) - movement.amount_cents
        change_row(account, {"balance_cents": balance, "floor_cents": min(account.floor_cents, balance, 0)})
    return mirror


def post(
    *,
    debit: Account,
    credit: Account,
    amount_cents: int,
    kind: Movement.Kind,
    reference: str,
    actor: User | None,
    reason: str,
) -> tuple[Movement, bool]:
    """Insert the movement, or return the one with this reference: (movement, it is new). The unique key decides."""
    movement = Movement(
        debit=debit,
        credit=credit,
        amount_cents=amount_cents,
        kind=kind,
        reference=reference,
        actor=actor,
        reason=reason,
    )
    if insert_new(movement, unique="reference"):
        return movement, True
    first = Movement.objects.get(reference=reference)
    said = (first.debit_id, first.credit_id, first.amount_cents, first.kind)
    if said != (debit.pk, credit.pk, amount_cents, kind):
        raise ReferenceConflict(reference)
    return first, False
