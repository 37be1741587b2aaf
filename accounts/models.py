"""People who sign in, by e-mail address, and what belongs to their sign-in; guests and what they hold."""

import uuid
from collections.abc import Mapping
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.base_user import BaseUserManager
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from events.stateful import Stateful

from .emails import CaselessEmailField, normalise
from .validators import normalise_password, validate_name, validate_time_zone


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
    language = models.CharField(_("language"), max_length=10, blank=True)
    time_zone = models.CharField(_("time zone"), max_length=64, blank=True, validators=[validate_time_zone])
    terms_version = models.CharField(_("accepted version of the terms"), max_length=20, blank=True)
    # Told by the row of the recovery, so that every page can warn without asking for it.
    recovery_due_at = models.DateTimeField(_("recovery due"), null=True, blank=True, editable=False)
    closed_at = models.DateTimeField(_("closed"), null=True, blank=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = ["first_name", "last_name"]
    objects: ClassVar[UserManager] = UserManager()  # type: ignore[assignment]

    class Meta(AbstractUser.Meta):
        constraints = [
            # Together with `unique` no two accounts differ by case alone, whoever writes the row.
            models.CheckConstraint(condition=Q(email=Lower("email")), name="user_email_lower_case"),
            models.CheckConstraint(condition=Q(closed_at=None) | Q(is_active=False), name="user_closed_is_inactive"),
        ]

    def __str__(self) -> str:
        return str(self.email)

    @property
    def has_accepted_terms(self) -> bool:
        """Whether the person has accepted the terms that are in force now."""
        return bool(self.terms_version == settings.TERMS_VERSION)

    def set_password(self, raw_password: str | None) -> None:
        """Hash a password in its normalised form, on every path that sets one."""
        super().set_password(None if raw_password is None else normalise_password(raw_password))

    def check_password(self, raw_password: str | None) -> bool:
        """Compare in the same form; none, and one that is too long, is wrong without being hashed."""
        if raw_password is None:
            return False
        password = normalise_password(raw_password)
        return len(password) <= settings.PASSWORD_MAX_LENGTH and super().check_password(password)


class Acceptance(models.Model):
    """One version of terms and refund policy that a person has accepted (ACC-11)."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, verbose_name=_("account"), related_name="acceptances")
    version = models.CharField(_("version"), max_length=20)
    at = models.DateTimeField(_("accepted"), default=timezone.now)

    class Meta:
        verbose_name = _("acceptance of terms")
        verbose_name_plural = _("acceptances of terms")
        constraints = (models.UniqueConstraint(fields=("user", "version"), name="acceptance_once"),)


class RecoveryCode(models.Model):
    """A code that sets a new password, once (ACC-3). Only its digest is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, verbose_name=_("account"), related_name="recovery_codes")
    digest = models.CharField(_("digest"), max_length=64, unique=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    used_at = models.DateTimeField(_("used"), null=True, blank=True)

    class Meta:
        verbose_name = _("recovery code")
        verbose_name_plural = _("recovery codes")


class Recovery(Stateful):
    """The owner's procedure for a person who has lost everything: opened with a proof, due only days later (ACC-3).

    Meanwhile the account shows it, and whoever can sign in cancels it.
    """

    class State(models.TextChoices):
        OPEN = "open", _("open")
        CANCELLED = "cancelled", _("cancelled")
        COMPLETED = "completed", _("completed")

    TRANSITIONS: ClassVar[Mapping[str, frozenset[str]]] = {
        State.OPEN: frozenset({State.CANCELLED, State.COMPLETED}),
        State.CANCELLED: frozenset(),
        State.COMPLETED: frozenset(),
    }

    user = models.ForeignKey(User, on_delete=models.CASCADE, verbose_name=_("account"), related_name="recoveries")
    proof = models.CharField(_("proof"), max_length=500)
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.OPEN)
    opened_at = models.DateTimeField(_("opened"), default=timezone.now)
    due_at = models.DateTimeField(_("due"))

    class Meta:
        verbose_name = _("recovery of an account")
        verbose_name_plural = _("recoveries of accounts")
        permissions = (("recover_account", "Can recover a lost account"),)
        constraints = (
            models.UniqueConstraint(fields=("user",), condition=Q(state="open"), name="recovery_one_open_per_user"),
            models.CheckConstraint(condition=Q(due_at__gt=models.F("opened_at")), name="recovery_due_later"),
        )

    def __str__(self) -> str:
        return f"{self.user} ({self.get_state_display()})"

    def story(self) -> models.Model:
        return self.user


class ApiToken(models.Model):
    """A key with which a program acts for a person, within its scopes. Only its digest is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, verbose_name=_("account"), related_name="api_tokens")
    name = models.CharField(_("name"), max_length=80)
    scopes = models.JSONField(_("scopes"), default=list)
    digest = models.CharField(_("digest"), max_length=64, unique=True)
    ending = models.CharField(_("ending"), max_length=4)
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    used_at = models.DateTimeField(_("last used"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        indexes = (models.Index(fields=("user", "-id"), name="token_of_user"),)

    def __str__(self) -> str:
        return self.name


class Holder(models.Model):
    """Who holds drafts and journal cards: a guest's session, by its token, or the person who has claimed it (ACC-6).

    What is held points here and never moves: a claim sets `user` where there is none. One person may have several.
    """

    token = models.UUIDField(_("token"), default=uuid.uuid4, unique=True, editable=False)
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, null=True, blank=True, verbose_name=_("account"), related_name="holders"
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)

    class Meta:
        verbose_name = _("holder of drafts and cards")
        verbose_name_plural = _("holders of drafts and cards")
        constraints = (
            models.CheckConstraint(
                condition=Q(user__isnull=False) | Q(expires_at__isnull=False), name="holder_of_guest_expires"
            ),
        )
        indexes = (models.Index(fields=("expires_at",), condition=Q(user=None), name="holder_of_guest_by_end"),)
