"""Rules for a password: only its length. What it is made of is the person's own affair."""

import unicodedata

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _


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
            raise ValidationError(
                _("The password has %(length)d characters; it may have at most %(limit)d."),
                code="password_too_long",
                params={"length": length, "limit": settings.PASSWORD_MAX_LENGTH},
            )

    def get_help_text(self) -> str:
        return _("%(shortest)d to %(longest)d characters of any kind, spaces included.") % {
            "shortest": settings.PASSWORD_MIN_LENGTH,
            "longest": settings.PASSWORD_MAX_LENGTH,
        }
