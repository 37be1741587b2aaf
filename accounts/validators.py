"""Rules for names and passwords. Of a password only length and origin count, never what it is made of."""

import re
import unicodedata
import zoneinfo

from django.conf import settings
from django.contrib.auth import password_validation
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

# Control characters break tables and exports; direction overrides make a name read as another one.
validate_name = RegexValidator(
    r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]",
    gettext_lazy("A name cannot contain control characters."),
    inverse_match=True,
)


def validate_time_zone(name: str) -> None:
    """Refuse a time zone that this machine does not know."""
    if name not in zoneinfo.available_timezones():
        raise ValidationError(_("There is no such time zone here."), code="time_zone_unknown")


def normalise_password(password: str) -> str:
    """Return the password as it is hashed: Unicode NFC, so that two keyboards make the same letters. Spaces stay."""
    return unicodedata.normalize("NFC", password)


class LengthValidator:
    """Refuse passwords shorter or longer than the settings say, counted in code points after normalising."""

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        length = len(normalise_password(password))
        if length < settings.PASSWORD_MIN_LENGTH:
            raise ValidationError(
                _("The password has %(length)d characters; it needs at least %(limit)d."),
                code="password_too_short",
                params={"length": length, "limit": settings.PASSWORD_MIN_LENGTH},
            )
        if length > settings.PASSWORD_MAX_LENGTH:
            raise too_long(length)

    def get_help_text(self) -> str:
        return _("%(shortest)d to %(longest)d characters of any kind, spaces included.") % {
            "shortest": settings.PASSWORD_MIN_LENGTH,
            "longest": settings.PASSWORD_MAX_LENGTH,
        }


class CommonPasswordValidator(password_validation.CommonPasswordValidator):
    """Refuse the 20,000 most common passwords, and two of them in a row: few of them alone are long enough for us."""

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        super().validate(password)
        text = password.lower().strip()
        if (
            len(text) > settings.PASSWORD_MAX_LENGTH
        ):  # refused elsewhere; a megabyte would be cut in a million ways here
            return
        pairs = ((text[:at], text[at:]) for at in range(4, len(text) - 3))
        if any(first in self.passwords and second in self.passwords for first, second in pairs):
            raise ValidationError(self.get_error_message(), code="password_too_common")

    def get_help_text(self) -> str:
        return _("Not one that many people use.")


class OwnDataValidator:
    """Refuse a password that is little more than the person's own name and address, or the shop's, decorated."""

    needed = 8  # characters that are neither own data nor digits and signs around it

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        rest = normalise_password(password).casefold()
        words = _own_words(user)
        if not any(word in rest for word in words):
            return
        for word in words:
            rest = rest.replace(word, "")
        if len(re.sub(r"[\W\d_]", "", rest)) < self.needed:
            raise ValidationError(self.get_help_text(), code="password_own_data")

    def get_help_text(self) -> str:
        return _("Not made of your name, your email address or the name of this site.")


def too_long(length: int) -> ValidationError:
    """Return the refusal of a password of `length` characters: the same at sign-up and at sign-in."""
    return ValidationError(
        _("The password has %(length)d characters; it may have at most %(limit)d."),
        code="password_too_long",
        params={"length": length, "limit": settings.PASSWORD_MAX_LENGTH},
    )


def _own_words(user: AbstractBaseUser | None) -> list[str]:
    texts = [str(getattr(user, field, "") or "") for field in ("first_name", "last_name", "email")]
    texts += [settings.BRAND, "gridlot"]
    words = {word for text in texts for word in re.split(r"[\W_]+", text.casefold()) if len(word) >= 3}
    return sorted(words, key=len, reverse=True)
