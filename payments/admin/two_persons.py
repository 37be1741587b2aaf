"""What the pages share of everything that a second person must agree to above a sum."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.functional import Promise as Words
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from events.admin import ReadOnlyAdmin
from events.columns import dollars, moment
from orders.errors import Refused

from ..models import TwoPersons

USD = dollars("usd_cents", _("USD"))
PROPOSED, DECIDED = moment("proposed_at", _("proposed")), moment("decided_at", _("decided"))
State = TwoPersons.State


class TwoPersonsAdmin(ReadOnlyAdmin):
    """Lists proposals; on the page of one that waits, agree or withdraw. `steps` are its two actions, `outcomes` what
    is said after them, `decide_page` where the buttons lead, `permission` who may press them."""

    permission: ClassVar[str]
    decide_page: ClassVar[str]
    steps: ClassVar[Mapping[str, Callable[..., TwoPersons]]]
    outcomes: ClassVar[Mapping[str, str | Words]]
    ordering = ("-id",)
    list_filter: ClassVar[Any] = ("state",)
    readonly_fields: ClassVar[Any] = (USD, PROPOSED, DECIDED)  # the stubs know only names

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        extra = {
            "may_decide": request.user.has_perm(self.permission),
            "decide_url": reverse(self.decide_page, args=[row.pk]) if row else "",
            **(self.more(row) if row else {}),
        }
        return super().change_view(request, object_id, form_url, {**extra, **(extra_context or {})})

    def more(self, row: Any) -> dict[str, Any]:
        """Return what else the page of a row shows."""
        return {}

    def decide(self, request: HttpRequest, row_id: int) -> HttpResponse:
        """Agree as the second person, or take the proposal back."""
        self.check_person(request)
        row = get_object_or_404(self.model, pk=row_id)
        if step := self.steps.get(request.POST.get("step", "")):
            try:
                return self.done(request, step(row_id, actor=actor(request)))
            except Refused as error:
                messages.error(request, str(error))
        return self.back(row)

    def check_person(self, request: HttpRequest) -> None:
        if not request.user.has_perm(self.permission):
            raise PermissionDenied

    def done(self, request: HttpRequest, row: TwoPersons) -> HttpResponse:
        messages.success(request, str(self.outcomes[row.state]))
        return self.back(row)

    def back(self, row: TwoPersons) -> HttpResponse:
        return HttpResponseRedirect(reverse(f"admin:payments_{self.opts.model_name}_change", args=[row.pk]))


def actor(request: HttpRequest) -> User:
    return cast(User, request.user)
