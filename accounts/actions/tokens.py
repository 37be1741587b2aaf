"""API tokens: made, noted as used, revoked."""

from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from events.actions import record

from ..keys import digest, new_token
from ..models import ApiToken, User

USE_NOTED_EVERY = timedelta(minutes=5)  # a write at every request would make readers wait for each other on SQLite


def create_token(user: User, *, name: str, scopes: Sequence[str]) -> tuple[ApiToken, str]:
    """Make a token and return it with its secret, which can't be read again."""
    secret = new_token()
    with transaction.atomic():
        token = ApiToken.objects.create(
            user=user, name=name, scopes=sorted(scopes), digest=digest(secret), ending=secret[-4:]
        )
        record("token.created", subject=token, thread=user, actor=user, scopes=token.scopes)
    return token, secret


def revoke_token(user: User, token_id: int) -> bool:
    """Revoke one of the person's tokens; False when there is none, or it is revoked already."""
    with transaction.atomic():
        tokens = ApiToken.objects.filter(user=user, pk=token_id, revoked_at=None)
        if not tokens.update(revoked_at=timezone.now()):
            return False
        record("token.revoked", subject=ApiToken(pk=token_id), thread=user, actor=user)
    return True


def revoke_all(user: User) -> None:
    ApiToken.objects.filter(user=user, revoked_at=None).update(revoked_at=timezone.now())


def note_use(token: ApiToken) -> None:
    """Keep when a token was used, exact to five minutes."""
    now = timezone.now()
    old = Q(used_at=None) | Q(used_at__lt=now - USE_NOTED_EVERY)
    ApiToken.objects.filter(old, pk=token.pk).update(used_at=now)
