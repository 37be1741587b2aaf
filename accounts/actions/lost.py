"""The owner's procedure for a lost account (ACC-3): opened with a proof, cancelled from inside, completed when due."""

from datetime import timedelta

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from events.actions import record

from ..models import Recovery, User
from .codes import new_set
from .people import end_sessions, write_password
from .tokens import revoke_all


class CannotRecover(Exception):
    """A rule says no; the sentence says which. Nothing was changed."""


def open_recovery(user: User, *, proof: str, actor: User | None) -> Recovery:
    """Open the procedure; it is due after RECOVERY_HOURS. Raises CannotRecover."""
    if not user.is_active:
        raise CannotRecover(_("This account is closed."))
    now = timezone.now()
    try:
        with transaction.atomic():
            recovery = Recovery.objects.create(
                user=user, proof=proof, opened_at=now, due_at=now + timedelta(hours=settings.RECOVERY_HOURS)
            )
            _tell(user, recovery)
            record("recovery.opened", subject=recovery, thread=user, actor=actor)
    except IntegrityError as error:
        raise CannotRecover(_("A recovery of this account is open already.")) from error
    return recovery


def cancel_recovery(user: User, *, actor: User | None) -> bool:
    """Cancel the open recovery of an account; False when there is none."""
    with transaction.atomic():
        recovery = _lock(user)
        if recovery is None:
            return False
        recovery.move_to(Recovery.State.CANCELLED, actor=actor)
        _tell(user, None)
    return True


def complete_recovery(user: User, *, actor: User | None) -> str:
    """End sessions, second factors, tokens and the password; return one recovery code, to be handed over.

    The person sets a password with that code: whoever completes it never knows one. Raises CannotRecover before the
    time is over, or when nothing is open any more.
    """
    with transaction.atomic():
        recovery = _lock(user)
        if recovery is None:
            raise CannotRecover(_("No recovery of this account is open."))
        if recovery.due_at > timezone.now():
            raise CannotRecover(_("It is too early: the person in the account may still cancel it."))
        recovery.move_to(Recovery.State.COMPLETED, actor=actor)
        _tell(user, None)
        write_password(user, make_password(None))
        Authenticator.objects.filter(user=user).delete()
        end_sessions(user)
        revoke_all(user)
        return new_set(user, actor=actor, count=1)[0]


def _lock(user: User) -> Recovery | None:
    """Return the open recovery, locked, after the account's own row."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    open_ones = Recovery.objects.select_for_update(of=("self",), no_key=True).filter(state=Recovery.State.OPEN)
    return open_ones.filter(user=user).first()


def _tell(user: User, recovery: Recovery | None) -> None:
    user.recovery_due_at = recovery.due_at if recovery else None
    user.save(update_fields=["recovery_due_at"])
