"""What allauth asks of us: no mail, no secret in plain text, nobody locked out by a stranger."""

from typing import Any, cast
from urllib.parse import urlencode

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.core.internal import ratelimit
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from . import browsers, guests, sealed, second_factor
from .actions import people
from .emails import normalise
from .models import User


class AccountAdapter(DefaultAccountAdapter):
    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """This application sends no e-mail."""

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Return the person, or None for a wrong password and a closed account alike."""
        user = cast(User | None, super().authenticate(request, **credentials))
        return user if user and user.is_active else None

    def post_login(self, request: HttpRequest, user: User, **facts: Any) -> HttpResponse:
        """Mark the browser as known. After signing in, offer a guest's work: it is never merged unasked (ACC-6)."""
        response = cast(HttpResponse, super().post_login(request, user, **facts))
        browsers.remember(response, user.email)
        if user.is_staff:
            people.note_staff_sign_in(user, second_factor=second_factor.shown(request))
        if not facts.get("signup") and guests.here(request):
            response["Location"] = f"{reverse('account_bring_along')}?{urlencode({'next': response['Location']})}"
        return response

    def set_password(self, user: User, password: str) -> None:
        people.change_password(user, password)

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        """Return how a person proves to be there: by a second factor if there is one, else by the password."""
        methods = cast(list[dict[str, Any]], super().get_reauthentication_methods(user))
        return [method for method in methods if method["id"].startswith("mfa_")] or methods

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the failures of a known browser under its own name alone: not with its account's, nor its address's."""
        known = browsers.known_as(request, normalise(credentials.get("email", "")))
        if not known:
            super().pre_authenticate(request, **credentials)
            return
        self._login_failed_rl_usage = ratelimit.consume(  # a success gives this one back
            request, app="allauth.account", action="login_failed_known", key=known
        )
        if not self._login_failed_rl_usage:
            raise self.validation_error("too_many_login_attempts")


class MFAAdapter(DefaultMFAAdapter):
    def encrypt(self, text: str) -> str:
        return sealed.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return sealed.decrypt(encrypted_text)

    def get_totp_issuer(self) -> str:
        return str(settings.BRAND)

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Return who asks for a passkey: the host decides where it works, the name is what people read."""
        return {"id": context.request.get_host().partition(":")[0], "name": settings.BRAND}

    def generate_authenticator_name(self, user: User, type: str) -> str:
        number = Authenticator.objects.filter(user=user, type=type).count() + 1
        return _("Passkey %(number)d") % {"number": number}
