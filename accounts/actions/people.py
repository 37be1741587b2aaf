"""People: made, changed, closed."""

import secrets
from datetime import datetime
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.utils import timezone

from events.actions import record

from ..models import Acceptance, ApiToken, User
from ..validators import normalise_password


class EmailTaken(Exception):
    """Nobody may learn from it whether the address has an account: the caller answers as for any refused data."""


def create_account(
    *,
    email: str,
    password: str,
    first_name: str,
    last_name: str,
    staff: bool = False,
    accepts_terms: bool = False,
) -> User:
    """Create a person who signs in with `email`. Raises EmailTaken, after the same work, when there is one already."""
    user = User(
        email=User.objects.normalize_email(email), first_name=first_name, last_name=last_name,
        is_staff=staff, is_superuser=staff,
    )  # fmt: skip
    user.set_password(password)  # before the transaction: a hash is slow and SQLite has one writer
    try:
        with transaction.atomic():
            user.save(force_insert=True)
            if accepts_terms:
                accept_terms(user)
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
    hashed = make_password(normalise_password(password))
    with transaction.atomic():
        user = User.objects.select_for_update(no_key=True).get(email=email)
        write_password(user, hashed)
        end_sessions(user)
        record("password.reset", subject=user, actor=None)
    return password


def change_password(user: User, password: str) -> None:
    """Set the password that the person has chosen and end every session: the caller keeps its own alive."""
    user.set_password(password)
    with transaction.atomic():
        write_password(user, user.password)
        record("password.changed", subject=user, actor=user)


def write_password(user: User, hashed: str) -> None:
    """Write a hash. With it every session dies that was made under the old one."""
    user.password = hashed
    user.save(update_fields=["password"])


def change_profile(user: User, **facts: Any) -> None:
    """Change names, language or time zone."""
    for name, value in facts.items():
        setattr(user, name, value)
    user.save(update_fields=list(facts))


def change_email(user: User, email: str) -> None:
    """Change the address under which the person signs in. Raises EmailTaken; then nothing has changed."""
    before, user.email = user.email, User.objects.normalize_email(email)
    try:
        with transaction.atomic():
            user.save(update_fields=["email"])
            record("email.changed", subject=user, actor=user)
    except IntegrityError as error:
        user.email = before
        raise EmailTaken from error


def accept_terms(user: User) -> None:
    """Keep that the person accepts the terms in force now; a second time changes nothing."""
    with transaction.atomic():
        Acceptance.objects.get_or_create(user=user, version=settings.TERMS_VERSION)
        user.terms_version = settings.TERMS_VERSION
        user.save(update_fields=["terms_version"])


def end_sessions(user: User, *, keep: str | None = None) -> int:
    """End the sessions of a person but the one with the key `keep`; return how many."""
    sessions = UserSession.objects.filter(user=user).exclude(session_key=keep or "")
    ended = 0
    for session in sessions:
        session.end()
        ended += 1
    return ended


def sign_out_everywhere(user: User, *, actor: User | None) -> None:
    """End every session of a person, as an owner decides."""
    with transaction.atomic():
        ended = end_sessions(user)
        record("sessions.ended", subject=user, actor=actor, count=ended)


def note_staff_sign_in(user: User, *, second_factor: bool) -> None:
    """Note that somebody of the staff signed in: whose keys open the shop is looked after more closely (OPS-2)."""
    with transaction.atomic():
        record("staff.signed_in", subject=user, actor=user, second_factor=second_factor)


def factor_added(user: User, *, keep: str | None) -> None:
    """Note a new second factor and end the sessions that have never shown one."""
    with transaction.atomic():
        end_sessions(user, keep=keep)
        record("factor.added", subject=user, actor=user)


def factor_removed(user: User, *, keep: str | None) -> None:
    """Note that a second factor is gone and end the other sessions: one of them may be why."""
    with transaction.atomic():
        end_sessions(user, keep=keep)
        record("factor.removed", subject=user, actor=user)


def close_account(user: User, *, now: datetime | None = None) -> None:
    """Close a locked account: no sign-in, no name, no address, no key. What the books need stays, under its number.

    Who may close it, and when, the caller has looked at. The address is free for a new account afterwards.
    """
    user.closed_at = now or timezone.now()
    user.is_active = user.is_staff = user.is_superuser = False
    user.email, user.first_name, user.last_name = f"closed-{user.pk}@account.invalid", "", ""
    user.language = user.time_zone = ""
    user.set_unusable_password()
    columns = "closed_at is_active is_staff is_superuser email first_name last_name language time_zone password"
    user.save(update_fields=columns.split())
    user.groups.clear()
    user.holders.all().delete()  # and with them journal cards and kept choices
    user.recoveries.update(proof="")
    forget_keys(user)
    record("account.closed", subject=user, actor=user)


def forget_keys(user: User) -> None:
    """Delete whatever opens the account: sessions, second factors, recovery codes, tokens."""
    end_sessions(user)
    Authenticator.objects.filter(user=user).delete()
    user.recovery_codes.all().delete()
    ApiToken.objects.filter(user=user).delete()


def new_password() -> str:
    """Return a password of 24 characters that nobody can guess."""
    return secrets.token_urlsafe(18)
