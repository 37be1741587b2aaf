"""Recovery codes: made in sets, shown once, each sets a new password once (ACC-3)."""

from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.db import transaction
from django.utils import timezone

from events.actions import record

from ..keys import digest, new_code, read_code
from ..models import RecoveryCode, User
from ..validators import normalise_password
from .people import end_sessions, write_password
from .tokens import revoke_all

CODES = 8


class WrongCode(Exception):
    """The address and the code do not fit, whatever the reason."""


def new_set(user: User, *, actor: User | None, count: int = CODES) -> list[str]:
    """Replace a person's unused codes by fresh ones and return those: they can't be read again."""
    codes = [new_code() for _ in range(count)]
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user.pk)  # two tabs: the later set is the one that counts
        user.recovery_codes.filter(used_at=None).delete()
        RecoveryCode.objects.bulk_create(RecoveryCode(user=user, digest=digest(read_code(code))) for code in codes)
        record("recovery_codes.made", subject=user, actor=actor, count=count)
    return codes


def use_code(*, email: str, code: str, password: str) -> User:
    """Set a new password for a code, end every session and revoke every token of the account.

    Raises WrongCode, after the same work, when address and code do not fit; ValidationError for a password made of the
    person's own data, and then the code is still good. Second factors stay.
    """
    hashed = make_password(normalise_password(password))  # before anything is looked up
    with transaction.atomic():
        user = User.objects.select_for_update(no_key=True).filter(email=email, is_active=True).first()
        wanted = digest(read_code(code))
        found = RecoveryCode.objects.filter(user=user, digest=wanted, used_at=None).first()
        if user is None or found is None:
            raise WrongCode
        validate_password(password, user)
        found.used_at = timezone.now()
        found.save(update_fields=["used_at"])
        write_password(user, hashed)
        ended = end_sessions(user)
        revoke_all(user)
        record("recovery_code.used", subject=user, actor=user, sessions_ended=ended)
    return user
