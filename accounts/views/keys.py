"""What opens an account: recovery codes, second factors, API tokens, sessions."""

from typing import Any, cast

from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import AddWebAuthnView, RemoveWebAuthnView
from allauth.usersessions.models import UserSession
from allauth.usersessions.views import ListUserSessionsView
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from .. import second_factor
from ..actions import codes, people, tokens
from ..forms import TokenForm
from ..gates import proved_again
from ..models import User
from ..queries import unused_codes
from ..sessions import device, renew
from .entrance import show_codes


@proved_again
@never_cache
def recovery_codes(request: HttpRequest) -> HttpResponse:
    """Make a new set of recovery codes and show it once; the old ones no longer work."""
    user = cast(User, request.user)
    if request.method == "POST":
        return show_codes(request, codes.new_set(user, actor=user), reverse("account"))
    return render(request, "account/recovery_codes_new.html", {"left": unused_codes(user), "made": codes.CODES})


class AddsFactor:
    """A factor that is new ends the other sessions, counts as shown in this one, and gives it a new id."""

    request: HttpRequest

    def form_valid(self, form: Any) -> HttpResponse:
        response = cast(HttpResponse, super().form_valid(form))  # type: ignore[misc]
        renew(self.request)
        second_factor.note_shown(self.request)
        people.factor_added(cast(User, self.request.user), keep=self.request.session.session_key)
        return response


class RemovesFactor:
    request: HttpRequest

    def form_valid(self, form: Any) -> HttpResponse:
        response = cast(HttpResponse, super().form_valid(form))  # type: ignore[misc]
        people.factor_removed(cast(User, self.request.user), keep=self.request.session.session_key)
        return response


class AddTOTPView(AddsFactor, ActivateTOTPView):
    pass


class AddPasskeyView(AddsFactor, AddWebAuthnView):
    pass


class RemoveTOTPView(RemovesFactor, DeactivateTOTPView):
    pass


class RemovePasskeyView(RemovesFactor, RemoveWebAuthnView):
    pass


@login_required
@never_cache
def factor_needed(request: HttpRequest) -> HttpResponse:
    """Say to a member of staff why the page does not open yet."""
    return render(request, "account/factor_needed.html")


@login_required
@never_cache
def api_tokens(request: HttpRequest) -> HttpResponse:
    """List the person's tokens; make one."""
    user = cast(User, request.user)
    own = list(user.api_tokens.order_by("-id"))
    return render(request, "account/tokens.html", {"tokens": own})


@proved_again
@never_cache
def new_token(request: HttpRequest) -> HttpResponse:
    """Make a token and show it in the answer, once."""
    form = TokenForm(request.POST or None)
    if form.is_valid():
        token, secret = tokens.create_token(cast(User, request.user), **form.cleaned_data)
        return render(request, "account/token_shown.html", {"token": token, "secret": secret})
    return render(request, "account/token_new.html", {"form": form})


@login_required
@require_POST
def revoke_token(request: HttpRequest, token_id: int) -> HttpResponse:
    user = cast(User, request.user)
    get_object_or_404(user.api_tokens, pk=token_id)
    if tokens.revoke_token(user, token_id):
        messages.success(request, _("The token is revoked: it opens nothing any more."))
    return redirect("account_tokens")


class SessionsView(ListUserSessionsView):
    """The sessions of a person, with a button for each and one for all others (ACC-5)."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = cast(dict[str, Any], super().get_context_data(**kwargs))
        for session in context["sessions"]:
            session.device = device(session.user_agent)
        return context

    def form_valid(self, form: Any) -> HttpResponse:
        user = cast(User, self.request.user)
        ended = people.end_sessions(user, keep=self.request.session.session_key)
        text = ngettext("%(count)d other session is ended.", "%(count)d other sessions are ended.", ended)
        messages.success(self.request, text % {"count": ended})
        return redirect("usersessions_list")


@login_required
@require_POST
def end_session(request: HttpRequest, session_id: int) -> HttpResponse:
    """End one session of the reader's; their own is signed out."""
    session = get_object_or_404(UserSession, user=cast(User, request.user), pk=session_id)
    if session.session_key == request.session.session_key:
        logout(request)
        return redirect("home")
    session.end()
    messages.success(request, _("The session is ended: that browser has to sign in again."))
    return redirect("usersessions_list")
