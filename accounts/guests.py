"""Whose work a page shows: the signed-in person's, or that of the guest in this session (ACC-6)."""

import uuid
from typing import cast

from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from .actions import guests
from .models import Holder, User

KEY = "holder"  # in the session; it moves along when the session gets a new id at sign-in


def whose(request: HttpRequest) -> Q:
    """Return what selects the rows whose `holder` is the reader's."""
    if request.user.is_authenticated:
        return Q(holder__user=request.user)
    token = _token(request)
    return Q(holder__token=token, holder__user=None, holder__expires_at__gt=timezone.now()) if token else Q(pk__in=())


def holder(request: HttpRequest) -> Holder:
    """Return the reader's holder; a guest's first work makes one and binds it to the session."""
    if request.user.is_authenticated:
        return guests.holder_of(request.user)
    if found := here(request):
        return found
    made = guests.begin_guest()
    request.session[KEY] = str(made.token)
    return made


def here(request: HttpRequest) -> Holder | None:
    """Return the guest's holder of this session while it is valid and nobody has claimed it."""
    token = _token(request)
    return Holder.objects.filter(token=token, user=None, expires_at__gt=timezone.now()).first() if token else None


def claim_here(request: HttpRequest) -> bool:
    """Give the guest's work of this session to the signed-in person; False when there is none (any more)."""
    token = _token(request)
    request.session.pop(KEY, None)
    return bool(token) and guests.claim(cast(uuid.UUID, token), cast(User, request.user))


def _token(request: HttpRequest) -> uuid.UUID | None:
    text = request.session.get(KEY)
    return uuid.UUID(text) if text else None
