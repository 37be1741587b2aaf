"""People who sign in: by e-mail address, never by a user name."""

from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.base_user import BaseUserManager
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from .emails import CaselessEmailField, normalise
from .validators import normalise_password, validate_name


class UserManager(BaseUserManager["User"]):
    use_in_migrations = True

    @classmethod
    def normalize_email(cls, email: str | None) -> str:
        """Return the one spelling of an address; Django's own keeps the case of the part before the @."""
        return normalise(email or "")

    def create_user(self, email: str, password: str | None = None, **facts: Any) -> "User":
        """Create a person; without a password nobody can sign in. Raises IntegrityError when the e-mail is taken."""
        user = self.model(email=normalise(email), **facts)
        user.set_password(password)
        user.save(using=self._db, force_insert=True)
        return user

    def create_superuser(self, email: str, password: str | None = None, **facts: Any) -> "User":
        return self.create_user(email, password, **facts, is_staff=True, is_superuser=True)

    def get_by_natural_key(self, username: str | None) -> "User":
        """Return the person with this address in any case: the field knows one spelling only."""
        return self.get(email=username)


class User(AbstractUser):
    username = None  # type: ignore[assignment]  # people are known by their e-mail
    first_name = models.CharField(_("first name"), max_length=150, validators=[validate_name])
    last_name = models.CharField(_("last name"), max_length=150, validators=[validate_name])
    email = CaselessEmailField(_("email address"), unique=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = ["first_name", "last_name"]
    objects: ClassVar[UserManager] = UserManager()  # type: ignore[assignment]

    class Meta(AbstractUser.Meta):
        constraints = [
            # Together with `unique` no two accounts differ by case alone, whoever writes the row.
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="user_email_lower_case"),
        ]

    def __str__(self) -> str:
        return str(self.email)

    def set_password(self, raw_password: str | None) -> None:
        """Hash a password in its normalised form, on every path that sets one."""
        super().set_password(None if raw_password is None else normalise_password(raw_password))

    def check_password(self, raw_password: str | None) -> bool:
        """Compare in the same form; none, and one that is too long, is wrong without being hashed."""
        if raw_password is None:
            return False
        password = normalise_password(raw_password)
        return len(password) <= settings.PASSWORD_MAX_LENGTH and super().check_password(password)
