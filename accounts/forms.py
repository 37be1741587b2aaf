"""Sign-up and sign-in. Both throttled by allauth's views; neither says whether an address has an account."""

import unicodedata
from typing import Any, cast

from allauth.account.fields import PasswordField
from allauth.account.forms import LoginForm
from django import forms
from django.conf import settings
from django.contrib.auth.password_validation import password_validators_help_texts, validate_password
from django.core.validators import MaxLengthValidator
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from . import actions
from .emails import normalise
from .models import User
from .validators import normalise_password, too_long, validate_name


class NameField(forms.CharField):
    def __init__(self, *, label: Any, autocomplete: str) -> None:
        widget = forms.TextInput(attrs={"autocomplete": autocomplete})
        super().__init__(label=label, max_length=150, widget=widget, validators=[validate_name])

    def to_python(self, value: Any) -> str:
        return unicodedata.normalize("NFC", super().to_python(value) or "")


class SignUpForm(forms.Form):
    """Who you are and how you sign in. It asks nothing else: no user name, no identity document."""

    first_name = NameField(label=_("First name"), autocomplete="given-name")
    last_name = NameField(label=_("Last name"), autocomplete="family-name")
    email = forms.EmailField(label=_("Email"), max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"}))
    # Without a greatest length in the page: a browser cuts a pasted password silently.
    password1 = PasswordField(label=_("Password"), autocomplete="new-password")
    by_passkey = False  # allauth's view asks

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        password = self.fields["password1"]
        password.help_text = " ".join(str(text) for text in password_validators_help_texts())
        password.widget.attrs["placeholder"] = ""

    def clean_email(self) -> str:
        email = normalise(self.cleaned_data["email"])
        MaxLengthValidator(254)(email)  # a letter such as \u0130 is two in lower case
        return email

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if password := data.get("password1"):
            person = User(**{field: data.get(field, "") for field in ("first_name", "last_name", "email")})
            try:
                validate_password(password, person)
            except forms.ValidationError as error:
                self.add_error("password1", error)
        return data

    def try_save(self, request: HttpRequest) -> tuple[User, None]:
        """Create the account, or raise EmailTaken. allauth's view wants the pair of user and response."""
        data = self.cleaned_data
        account = actions.create_account(
            email=data["email"],
            password=data["password1"],
            first_name=data["first_name"],
            last_name=data["last_name"],
        )
        return account, None


class SignInForm(LoginForm):  # type: ignore[misc]  # allauth is not typed
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].widget.attrs |= {"autocomplete": "username", "placeholder": ""}
        self.fields["password"].widget.attrs |= {"placeholder": ""}

    def clean_login(self) -> str:
        return normalise(self.cleaned_data["login"])

    def clean_password(self) -> str:
        """Refuse what is too long before anything is hashed: else a request of 2 MB costs a second of our time."""
        password = normalise_password(cast(str, self.cleaned_data["password"]))
        if len(password) > settings.PASSWORD_MAX_LENGTH:
            raise too_long(len(password))
        return password
