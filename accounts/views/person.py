"""What a person sees and changes about themselves."""

from typing import cast

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import check_for_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST
from django.views.i18n import set_language as django_set_language

from .. import browsers
from ..actions import lost, people
from ..forms import EmailForm, ProfileForm
from ..gates import allowed, proved_again, too_many
from ..models import User
from ..queries import history, unused_codes
from ..words import WORDS
from .entrance import count_refusal, next_url, refusals_used_up

HISTORY = 30  # lines on the page; the download has all


@login_required
@never_cache
def overview(request: HttpRequest) -> HttpResponse:
    """Show what the account is, what opens it, and what happened to it."""
    user = cast(User, request.user)
    factors = list(Authenticator.objects.filter(user=user).exclude(type=Authenticator.Type.RECOVERY_CODES))
    context = {
        "totp": any(factor.type == Authenticator.Type.TOTP for factor in factors),
        "passkeys": sum(factor.type == Authenticator.Type.WEBAUTHN for factor in factors),
        "codes_left": unused_codes(user),
        "sessions": UserSession.objects.filter(user=user).count(),
        "tokens": user.api_tokens.filter(revoked_at=None).count(),
        "events": [{"at": row.at, "words": WORDS[row.kind]} for row in history(user).filter(kind__in=WORDS)[:HISTORY]],
    }
    return render(request, "account/overview.html", context)


@login_required
@never_cache
def profile(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    form = ProfileForm(request.POST or None, instance=User.objects.get(pk=user.pk))
    if form.is_valid():
        people.change_profile(user, **form.cleaned_data)
        messages.success(request, _("Saved."))
        return with_language(redirect("account"), user.language)
    return render(request, "account/profile.html", {"form": form})


@proved_again
@never_cache
def email(request: HttpRequest) -> HttpResponse:
    """Change the address; a taken one is refused as at registration, and counts there (ACC-4)."""
    user = cast(User, request.user)
    if request.method == "POST" and refusals_used_up(request):
        return too_many(request)
    form = EmailForm(request.POST or None)
    if form.is_valid():
        if not allowed(request, "address", key=str(user.pk)):
            return too_many(request)
        try:
            people.change_email(user, form.cleaned_data["email"])
            messages.success(request, _("You sign in with the new address from now on."))
            response = redirect("account")
            browsers.remember(response, user.email)
            return response
        except people.EmailTaken:
            count_refusal(request)
            form.add_error("email", _("The address cannot be changed to this one."))
    return render(request, "account/email.html", {"form": form})


@login_required
@never_cache
def terms_accepted(request: HttpRequest) -> HttpResponse:
    """Ask for the terms in force now, and keep the answer with its version (ACC-11)."""
    user = cast(User, request.user)
    if request.method == "POST":
        people.accept_terms(user)
        return redirect(next_url(request, "account"))
    context = {"version": settings.TERMS_VERSION, "next": next_url(request, "")}
    return render(request, "account/terms.html", context)


@login_required
@require_POST
def cancel_recovery(request: HttpRequest) -> HttpResponse:
    """Cancel the owner's procedure from inside: whoever can sign in has not lost the account."""
    user = cast(User, request.user)
    if lost.cancel_recovery(user, actor=user):
        messages.success(
            request, _("The recovery is cancelled. Change the password if you do not know who asked for it.")
        )
    return redirect("account")


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Switch the language; a signed-in person's choice is kept for every browser."""
    code = request.POST.get("language", "")
    if request.user.is_authenticated and code in dict(settings.LANGUAGES) and check_for_language(code):
        people.change_profile(request.user, language=code)
    return django_set_language(request)


def with_language(response: HttpResponse, code: str) -> HttpResponse:
    """Let the browser remember a language after signing out, too."""
    if code:
        response.set_cookie(settings.LANGUAGE_COOKIE_NAME, code, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE)
    return response
