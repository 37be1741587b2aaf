"""allauth's sign-up, with our answer to an address that is taken."""

from allauth.account.views import SignupView
from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _

from .actions import EmailTaken
from .forms import SignUpForm


class SignUpView(SignupView):  # type: ignore[misc]  # allauth is not typed
    refusal = _("This account cannot be created with these data. If you already have an account, sign in.")

    def form_valid(self, form: SignUpForm) -> HttpResponse:
        try:
            return super().form_valid(form)  # type: ignore[no-any-return]
        except EmailTaken:
            form.add_error(None, self.refusal)
            return self.form_invalid(form)  # type: ignore[no-any-return]
