"""API tokens at the door: who a token speaks for, what it may do, how often.

Named in REST_FRAMEWORK, so it may import nothing of the framework's views: they read that setting when imported.
"""

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from .actions.tokens import note_use
from .keys import digest
from .models import ApiToken, User


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer gridlot_…`. A cookie never counts here, so no other site can send a request along."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        word, _space, secret = get_authorization_header(request).decode("latin-1").partition(" ")
        if word.lower() != "bearer":
            return None
        tokens = ApiToken.objects.select_related("user").filter(revoked_at=None, user__is_active=True)
        token = tokens.filter(digest=digest(secret.strip())).first()
        if token is None:
            raise AuthenticationFailed(_("This token opens nothing: it is wrong or revoked."))
        note_use(token)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class HasScope(BasePermission):
    """Lets in a token that has the view's `scope`. A view that names none lets nobody in."""

    message = _("This token may not do that.")

    def has_permission(self, request: Request, view: Any) -> bool:
        return isinstance(request.auth, ApiToken) and getattr(view, "scope", None) in request.auth.scopes


class TokenThrottle(SimpleRateThrottle):
    """Counts the requests of each token."""

    scope = "token"

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        return f"api:{request.auth.pk}" if isinstance(request.auth, ApiToken) else None
