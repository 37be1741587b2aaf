"""People and recoveries in the admin: staff look, owners act. Nobody chooses another person's password."""

from collections.abc import Callable
from typing import Any, ClassVar, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from events.admin import ReadOnlyAdmin
from events.columns import moment
from events.downloads import Downloads

from .actions import lost, people, roles
from .models import Recovery, User

# Columns that both the list and the page of one person show.
JOINED = moment("date_joined", _("date joined"))
LAST_LOGIN, CLOSED = moment("last_login", _("last login")), moment("closed_at", _("closed"))
Act = Callable[[User], None]


class ProofForm(ActionForm):
    """The line of actions above the list, with the proof that opening a recovery asks for."""

    proof = forms.CharField(label=_("Proof, for a recovery"), max_length=500, required=False)


@admin.register(User)
class UserAdmin(Downloads, DjangoUserAdmin[User]):
    ordering = ["email"]
    list_display = ["email", "first_name", "last_name", "role", "is_active", JOINED]
    list_filter = ["is_staff", "is_active", "groups"]
    search_fields = ["email", "first_name", "last_name"]
    fieldsets: ClassVar[Any] = [  # the stubs know only names
        (None, {"fields": ["email", "first_name", "last_name", "language", "time_zone"]}),
        (_("Role"), {"fields": ["is_active", "role"]}),
        (_("Important dates"), {"fields": [LAST_LOGIN, JOINED, "terms_version", CLOSED]}),
    ]
    action_form = ProofForm
    change_form_template = "accounts/admin_user.html"
    actions = ["make_support", "make_operator", "make_owner", "take_role", "end_sessions", "open_recovery"]

    @admin.display(description=_("role"))
    def role(self, user: User) -> str:
        return ", ".join(group.name for group in user.groups.all()) or (str(_("owner")) if user.is_superuser else "")

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("groups")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """People register themselves: nobody else knows their password, not even at first."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Names and address are the person's own; roles and sessions change by the actions of the list."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Accounts are closed, not deleted: orders and the ledger name them."""
        return False

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        raise PermissionDenied  # a lost password goes through a recovery

    @admin.action(description=_("Make support"), permissions=["view"])
    def make_support(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        self._set_role(request, queryset, "support")

    @admin.action(description=_("Make operator"), permissions=["view"])
    def make_operator(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        self._set_role(request, queryset, "operator")

    @admin.action(description=_("Make owner"), permissions=["view"])
    def make_owner(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        self._set_role(request, queryset, roles.OWNER)

    @admin.action(description=_("Take the role away"), permissions=["view"])
    def take_role(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        self._set_role(request, queryset, None)

    @admin.action(description=_("End every session"), permissions=["view"])
    def end_sessions(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        self._each(request, queryset, lambda user: people.sign_out_everywhere(user, actor=_actor(request)))

    @admin.action(description=_("Open a recovery of the lost account"), permissions=["view"])
    def open_recovery(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        proof = request.POST.get("proof", "").strip()
        if not proof:
            messages.error(request, _("Say beside the action what shows that the account is theirs."))
        elif queryset.count() != 1:
            messages.error(request, _("A proof is about one account: choose one."))
        else:
            self._each(request, queryset, lambda user: self._open(user, proof, request))

    def _open(self, user: User, proof: str, request: HttpRequest) -> None:
        lost.open_recovery(user, proof=proof, actor=_actor(request))

    def _set_role(self, request: HttpRequest, queryset: QuerySet[User], role: str | None) -> None:
        """Only an owner hands out rights, and never changes their own: somebody must be left who can."""
        self._each(request, queryset.exclude(pk=_actor(request).pk), lambda user: self._give(user, role, request))

    def _give(self, user: User, role: str | None, request: HttpRequest) -> None:
        roles.set_role(user, role, actor=_actor(request))

    def _each(self, request: HttpRequest, queryset: QuerySet[User], act: Act) -> None:
        if not _is_owner(request):
            raise PermissionDenied
        for user in queryset.filter(closed_at=None):
            try:
                act(user)
                messages.success(request, _("%(user)s: done and recorded.") % {"user": user})
            except lost.CannotRecover as error:
                messages.error(request, f"{user}: {error}")


@admin.register(Recovery)
class RecoveryAdmin(ReadOnlyAdmin):
    """Recoveries of lost accounts. They are opened with a proof in the list of people; here they go on."""

    list_display = ["user", "state", "proof", "opened_at", "due_at"]
    list_filter = ["state"]
    search_fields = ["user__email", "proof"]
    list_select_related = ["user"]
    actions = ["complete", "cancel"]

    @admin.action(description=_("Complete: end sessions and keys, show one recovery code"), permissions=["view"])
    def complete(self, request: HttpRequest, queryset: QuerySet[Recovery]) -> None:
        self._check(request)
        for recovery in queryset.select_related("user"):
            try:
                code = lost.complete_recovery(recovery.user, actor=_actor(request))
                text = _("%(user)s: hand over this code, shown only now: %(code)s")
                messages.success(request, text % {"user": recovery.user, "code": code})
            except lost.CannotRecover as error:
                messages.error(request, f"{recovery.user}: {error}")

    @admin.action(description=_("Cancel"), permissions=["view"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Recovery]) -> None:
        self._check(request)
        for recovery in queryset.select_related("user"):
            if lost.cancel_recovery(recovery.user, actor=_actor(request)):
                messages.success(request, _("%(user)s: cancelled.") % {"user": recovery.user})

    def _check(self, request: HttpRequest) -> None:
        if not request.user.has_perm("accounts.recover_account"):
            raise PermissionDenied


def _is_owner(request: HttpRequest) -> bool:
    return bool(request.user.is_superuser)


def _actor(request: HttpRequest) -> User:
    return cast(User, request.user)
