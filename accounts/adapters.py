"""What allauth asks of us: no mail, no secret in plain text, nobody locked out by a stranger."""

from typing import Any, cast

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from django.http import HttpRequest, HttpResponse

from . import browsers, sealed
from .emails import normalise
from .models import User


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth is not typed
    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """This application sends no e-mail."""

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Return the person, or None for a wrong password and a closed account alike."""
        user = cast(User | None, super().authenticate(request, **credentials))
        return user if user and user.is_active else None

    def post_login(self, request: HttpRequest, user: User, **facts: Any) -> HttpResponse:
        response = cast(HttpResponse, super().post_login(request, user, **facts))
        browsers.remember(response, user.email)
        return response

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        key = cast(str, super()._get_login_attempts_cache_key(request, **credentials))
        return f"{key}:{browsers.known_as(request, normalise(credentials.get('email', '')))}"


class MFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    def encrypt(self, text: str) -> str:
        return sealed.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return sealed.decrypt(encrypted_text)
