"""Sign-up, sign-in and what a person changes. None says whether an address has an account."""

import unicodedata
import zoneinfo
from typing import Any, cast

from allauth.account import forms as allauth_forms
from allauth.account.fields import PasswordField
from allauth.mfa.webauthn import forms as passkey_forms
from django import forms
from django.conf import settings
from django.contrib.auth.password_validation import password_validators_help_texts, validate_password
from django.core.validators import MaxLengthValidator
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from .actions import people
from .emails import normalise
from .models import User
from .scopes import SCOPES
from .validators import normalise_password, too_long, validate_name


class NameField(forms.CharField):
    def __init__(self, *, label: Any, autocomplete: str) -> None:
        widget = forms.TextInput(attrs={"autocomplete": autocomplete})
        super().__init__(label=label, max_length=150, widget=widget, validators=[validate_name])

    def to_python(self, value: Any) -> str:
        return unicodedata.normalize("NFC", super().to_python(value) or "")


class NewPasswordField(PasswordField):
    """Asked once: it can be shown, and a manager types it. No greatest length in the page: browsers cut a paste."""

    def __init__(self, *, label: Any) -> None:
        super().__init__(label=label, autocomplete="new-password")
        self.widget.attrs["placeholder"] = ""

    @staticmethod
    def explained(form: forms.Form, name: str) -> None:
        """Write the rules beside the field, in the reader's language."""
        form.fields[name].help_text = " ".join(str(text) for text in password_validators_help_texts())


class SignUpForm(forms.Form):
    """Who you are and how you sign in. It asks nothing else: no user name, no identity document."""

    first_name = NameField(label=_("First name"), autocomplete="given-name")
    last_name = NameField(label=_("Last name"), autocomplete="family-name")
    email = forms.EmailField(label=_("Email"), max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"}))
    password1 = NewPasswordField(label=_("Password"))
    by_passkey = False  # allauth's view asks

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        NewPasswordField.explained(self, "password1")

    def clean_email(self) -> str:
        return storable(self.cleaned_data["email"])

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
        account = people.create_account(
            email=data["email"],
            password=data["password1"],
            first_name=data["first_name"],
            last_name=data["last_name"],
            accepts_terms=True,
        )
        return account, None


class SignInForm(allauth_forms.LoginForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].widget.attrs |= {"autocomplete": "username", "placeholder": ""}
        self.fields["password"].widget.attrs |= {"placeholder": ""}

    def clean_login(self) -> str:
        return normalise(self.cleaned_data["login"])

    def clean_password(self) -> str:
        return checked_length(cast(str, self.cleaned_data["password"]))


class SignInWithCodeForm(SignInForm):
    """Sign-in with password and code at once: the way round a throttle that strangers have filled."""

    code = forms.CharField(
        label=_("Code from your authenticator"),
        max_length=20,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )

    def clean(self) -> dict[str, Any]:
        """Leave out the check of the parent, which counts guesses per account: the view looks."""
        return cast(dict[str, Any], self.cleaned_data)


class ChangePasswordForm(allauth_forms.ChangePasswordForm):
    password1 = NewPasswordField(label=_("New password"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["password2"]
        self.fields["oldpassword"].label = _("Current password")
        self.fields["oldpassword"].help_text = ""
        self.fields["oldpassword"].widget.attrs["placeholder"] = ""
        NewPasswordField.explained(self, "password1")

    def clean_password1(self) -> str:
        password: str = self.cleaned_data["password1"]
        validate_password(password, self.user)
        return password


class RecoverForm(forms.Form):
    """A new password for a recovery code."""

    email = forms.EmailField(
        label=_("Email"), max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "username"})
    )
    code = forms.CharField(
        label=_("Recovery code"),
        max_length=60,
        widget=forms.TextInput(attrs={"autocomplete": "off", "class": "mono", "spellcheck": "false"}),
        help_text=_("24 letters and digits, with or without dashes."),
    )
    password1 = NewPasswordField(label=_("New password"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        NewPasswordField.explained(self, "password1")

    def clean_email(self) -> str:
        return normalise(self.cleaned_data["email"])

    def clean_password1(self) -> str:
        password: str = self.cleaned_data["password1"]
        validate_password(password)
        return password


class ProfileForm(forms.ModelForm[User]):
    """Names, language, time zone."""

    first_name = NameField(label=_("First name"), autocomplete="given-name")
    last_name = NameField(label=_("Last name"), autocomplete="family-name")
    language = forms.ChoiceField(label=_("Language"), required=False)
    time_zone = forms.ChoiceField(
        label=_("Time zone"), required=False, help_text=_("Times are shown in it, with UTC beside them.")
    )

    class Meta:
        model = User
        fields = ("first_name", "last_name", "language", "time_zone")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        language = cast(forms.ChoiceField, self.fields["language"])
        language.choices = [("", _("As this browser asks")), *settings.LANGUAGES]
        zone = cast(forms.ChoiceField, self.fields["time_zone"])
        zone.choices = [("", _("As this browser says")), *((name, name.replace("_", " ")) for name in zones())]


class EmailForm(forms.Form):
    email = forms.EmailField(
        label=_("New email"), max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )

    def clean_email(self) -> str:
        return storable(self.cleaned_data["email"])


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=80, help_text=_("What uses it: you will know it by this name later.")
    )
    scopes = forms.MultipleChoiceField(
        label=_("It may"), choices=list(SCOPES.items()), widget=forms.CheckboxSelectMultiple
    )


class AddPasskeyForm(passkey_forms.AddWebAuthnForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = _("Name")
        self.fields["name"].help_text = _("Where it is kept: a phone, a key, a password manager.")
        self.fields["passwordless"].label = _("Sign in with it alone, without the password")
        self.fields["passwordless"].help_text = _("The device then asks for its PIN, a finger or a face.")
        self.fields["passwordless"].initial = True


class RenamePasskeyForm(passkey_forms.EditWebAuthnForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = _("Name")
        self.fields["name"].help_text = _("Where it is kept: a phone, a key, a password manager.")


def checked_length(password: str) -> str:
    """Refuse what is too long before anything is hashed: else a request of 2 MB costs a second of our time."""
    password = normalise_password(password)
    if len(password) > settings.PASSWORD_MAX_LENGTH:
        raise too_long(len(password))
    return password


def storable(email: str) -> str:
    """Return an address in the spelling that is kept. Refuse one that is too long in it."""
    email = normalise(email)
    MaxLengthValidator(254)(email)  # a letter such as \u0130 is two in lower case
    return email


def zones() -> list[str]:
    """Return the names of places with a time zone, and UTC."""
    return [
        "UTC",
        *sorted(name for name in zoneinfo.available_timezones() if "/" in name and not name.startswith("Etc/")),
    ]
