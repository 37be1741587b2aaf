"""The ways into an account: registration, password with code, recovery code, and proving to be there once more."""

import secrets
from typing import Any, cast

from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from allauth.account.views import LoginView, ReauthenticateView, SignupView
from allauth.mfa.base.forms import AuthenticateForm
from allauth.mfa.base.views import ReauthenticateView as CodeReauthenticateView
from allauth.mfa.stages import AuthenticateStage
from allauth.mfa.webauthn.views import ReauthenticateWebAuthnView
from django.contrib import messages
from django.contrib.auth import authenticate
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from .. import browsers, guests
from ..actions import codes
from ..actions.people import EmailTaken
from ..emails import normalise
from ..forms import RecoverForm, SignInWithCodeForm, SignUpForm
from ..gates import allowed, has_room, too_many
from ..models import User
from ..sessions import renew

REFUSAL = gettext_lazy("This account cannot be created with these data. If you already have an account, sign in.")


class SignUpView(SignupView):
    """allauth's sign-up, with our answer to an address that is taken, and with recovery codes at its end."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if refusals_used_up(request):
            return too_many(request)
        return cast(HttpResponse, super().post(request, *args, **kwargs))

    def form_valid(self, form: SignUpForm) -> HttpResponse:
        try:
            response = cast(HttpResponse, super().form_valid(form))
        except EmailTaken:
            count_refusal(self.request)
            form.add_error(None, REFUSAL)
            return cast(HttpResponse, self.form_invalid(form))
        guests.claim_here(self.request)
        return self.with_codes(response)

    def with_codes(self, response: HttpResponse) -> HttpResponse:
        """Show the codes in the answer itself: nowhere are they kept to be shown later."""
        shown = show_codes(self.request, codes.new_set(self.user, actor=self.user), response["Location"], new=True)
        shown.cookies = response.cookies
        return shown


def refusals_used_up(request: HttpRequest) -> bool:
    """Tell whether registration has said so often that data can't be used that it says nothing any more (ACC-4)."""
    return not has_room(request, "signup_refused", key="all")


def count_refusal(request: HttpRequest) -> None:
    allowed(request, "signup_refused", key="all")


def show_codes(request: HttpRequest, made: list[str], onward: str, *, new: bool = False) -> HttpResponse:
    context = {"codes": made, "text": "\n".join(made), "onward": onward, "new": new}
    return render(request, "account/recovery_codes.html", context)


class SignInView(LoginView):
    """allauth's sign-in. A browser that is known for the email is counted apart from others at its network address."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        known = browsers.known_as(request, normalise(request.POST.get("login", "")))
        counted = allowed(request, "sign_in_known", key=known) if known else allowed(request, "sign_in")
        return cast(HttpResponse, super().post(request, *args, **kwargs)) if counted else too_many(request)


class SignInWithCodeView(LoginView):
    """Password and code at once. Guesses are counted per client alone, so that no stranger can fill the count.

    That is safe since one answer says nothing about the password: without the code it is always the same refusal. Codes
    are counted per account, but only for who knows the password.
    """

    template_name = "account/login_with_code.html"

    def get_form_class(self) -> type[SignInWithCodeForm]:
        return SignInWithCodeForm

    def form_valid(self, form: SignInWithCodeForm) -> HttpResponse:
        if not allowed(self.request, "login_with_code"):
            return too_many(self.request)
        credentials = {"email": form.cleaned_data["login"], "password": form.cleaned_data["password"]}
        user = authenticate(self.request, **credentials)
        if not shows_code(user, form.cleaned_data["code"]):
            form.add_error(None, _("Email, password and code do not fit together."))
            return cast(HttpResponse, self.form_invalid(form))
        login = Login(user=user, redirect_url=self.get_success_url())
        login.state["stages"] = {AuthenticateStage.key: {"handled": True}}
        return cast(HttpResponse, perform_password_login(self.request, credentials, login))


def shows_code(user: User | None, code: str) -> bool:
    """Tell whether the code is one of the person's, and note it in the session. Nobody is asked the same for nobody."""
    nobody = User(pk=-secrets.randbelow(2**31))  # another one each time: a count that is full would be quicker
    form = AuthenticateForm(data={"code": code}, user=user or nobody)
    if not form.is_valid() or user is None:
        return False
    form.save()
    return True


@sensitive_post_parameters()
@never_cache
def recover(request: HttpRequest) -> HttpResponse:
    """Set a new password for a recovery code; wrong address and wrong code read alike (ACC-3)."""
    if request.method == "POST" and not allowed(request, "recover"):
        return too_many(request)
    form = RecoverForm(request.POST or None)
    if form.is_valid():
        data = form.cleaned_data
        try:
            codes.use_code(email=data["email"], code=data["code"], password=data["password1"])
            messages.success(request, _("The new password is set and every session is ended. Sign in with it now."))
            return redirect("account_login")
        except codes.WrongCode:
            form.add_error(None, _("This email and this recovery code do not fit together."))
        except ValidationError as error:
            form.add_error("password1", error)
    return render(request, "account/recover.html", {"form": form})


class RenewsSession:
    """Give the session a new id when somebody has proved to be there: the old one must not have the new right."""

    request: HttpRequest

    def form_valid(self, form: Any) -> HttpResponse:
        renew(self.request)
        return cast(HttpResponse, super().form_valid(form))  # type: ignore[misc]


class PasswordAgainView(RenewsSession, ReauthenticateView):
    pass


class CodeAgainView(RenewsSession, CodeReauthenticateView):
    pass


class PasskeyAgainView(RenewsSession, ReauthenticateWebAuthnView):
    pass


def next_url(request: HttpRequest, otherwise: str) -> str:
    """Return where the page's `next` leads, if that is here: a path, since `redirect` takes another word for a name."""
    url = request.POST.get("next") or request.GET.get("next") or ""
    return url if url.startswith("/") and get_adapter().is_safe_url(url) else otherwise
