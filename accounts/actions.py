"""Every write to accounts."""

import secrets

from allauth.usersessions.models import UserSession
from django.db import IntegrityError, transaction

from .models import User


class EmailTaken(Exception):
    """Nobody may learn from it whether the address has an account: the caller answers as for any refused data."""


def create_account(*, email: str, password: str, first_name: str, last_name: str, staff: bool = False) -> User:
    """Create a person who signs in with `email`. Raises EmailTaken, after the same work, when there is one already."""
    user = User(
        email=User.objects.normalize_email(email), first_name=first_name, last_name=last_name,
        is_staff=staff, is_superuser=staff,
    )  # fmt: skip
    user.set_password(password)  # before the transaction: a hash is slow and SQLite has one writer
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError as error:
        raise EmailTaken from error
    return user


def ensure_owner(email: str) -> str | None:
    """Make the owner's account where there is none and return its new password; None when the address has one."""
    if User.objects.filter(email=email).exists():
        return None
    password = new_password()
    try:
        create_account(email=email, password=password, first_name="Site", last_name="Owner", staff=True)
    except EmailTaken:  # another process was quicker
        return None
    return password


def reset_password(email: str) -> str:
    """Give the person a new password, end every session of theirs, return the password. Raises User.DoesNotExist."""
    password = new_password()
    with transaction.atomic():
        user = User.objects.select_for_update(no_key=True).get(email=email)
        user.set_password(password)
        user.save(update_fields=["password"])
        for session in UserSession.objects.filter(user=user):
            session.end()
    return password


def new_password() -> str:
    """Return a password of 24 characters that nobody can guess."""
    return secrets.token_urlsafe(18)
