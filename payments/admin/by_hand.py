"""Settle an order by hand, and agree to it as the second person."""

from collections.abc import Callable
from typing import Any, ClassVar, cast

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import path, reverse
from django.utils.functional import Promise as Words
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts.models import User
from events.admin import ReadOnlyAdmin
from events.columns import dollars, moment
from orders.admin_search import FindsNumbers
from orders.errors import Refused
from orders.models import Order

from ..actions import by_hand
from ..forms import ByHandForm
from ..models import HandSettlement
from ..previews import by_hand_of

USD = dollars("usd_cents", _("USD"))
PROPOSED, DECIDED = moment("proposed_at", _("proposed")), moment("decided_at", _("decided"))
State = HandSettlement.State
STEPS: dict[str, Callable[..., HandSettlement]] = {"approve": by_hand.approve, "withdraw": by_hand.withdraw}
OUTCOMES: dict[str, str | Words] = {
    State.PROPOSED: _("Proposed: a second person must agree now."),
    State.DONE: _("Settled and recorded."),
    State.WITHDRAWN: _("Withdrawn: nothing was moved."),
}


@admin.register(HandSettlement)
class HandSettlementAdmin(FindsNumbers, ReadOnlyAdmin):
    ordering = ("-id",)
    list_display = (
        "order",
        USD,
        "state",
        "reason",
        "proposed_by",
        PROPOSED,
        "second",
        DECIDED,
    )
    list_filter = ("state",)
    list_select_related = ("order", "proposed_by", "second")
    search_fields = ("order__symbols", "reason", "evidence")
    exclude = ("usd_cents", "proposed_at", "decided_at")
    readonly_fields: ClassVar[Any] = (USD, PROPOSED, DECIDED)  # the stubs know only names
    change_form_template = "payments/admin_hand.html"

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view
        own = [
            path("order/<int:order_id>/", view(self.settle), name="order_settle"),
            path("<int:settlement_id>/decide/", view(require_POST(self.decide)), name="hand_decide"),
        ]
        return own + super().get_urls()

    def settle(self, request: HttpRequest, order_id: int) -> HttpResponse:
        """Show what settling an order would do, and do it or propose it."""
        check(request)
        order = get_object_or_404(Order.objects.select_related("customer", "offer"), pk=order_id)
        existing = HandSettlement.objects.filter(order=order).exclude(state=State.WITHDRAWN).first()
        if existing:
            messages.info(request, _("This order has a settlement by hand already: here it is."))
            return back(existing)
        form = ByHandForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                return self.done(request, by_hand.settle_by_hand(order_id, actor=actor(request), **form.cleaned_data))
            except Refused as error:
                form.add_error(None, str(error))
        return render(request, "payments/admin_settle.html", self.page(request, order, form))

    def page(self, request: HttpRequest, order: Order, form: ByHandForm) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "order": order,
            "form": form,
            "preview": by_hand_of(order),
            "two_persons": order.total_cents > settings.SECOND_PERSON_ABOVE_CENTS,
            "limit": settings.SECOND_PERSON_ABOVE_CENTS,
            "title": _("Settle by hand"),
            "opts": self.opts,
        }

    def decide(self, request: HttpRequest, settlement_id: int) -> HttpResponse:
        """Agree as the second person, or take the proposal back."""
        check(request)
        settlement = get_object_or_404(HandSettlement, pk=settlement_id)
        step = STEPS.get(request.POST.get("step", ""))
        if step is None:
            return back(settlement)
        try:
            return self.done(request, step(settlement_id, actor=actor(request)))
        except Refused as error:
            messages.error(request, str(error))
        return back(settlement)

    def done(self, request: HttpRequest, settlement: HandSettlement) -> HttpResponse:
        messages.success(request, str(OUTCOMES[settlement.state]))
        return back(settlement)


def check(request: HttpRequest) -> None:
    if not request.user.has_perm("payments.settle_order"):
        raise PermissionDenied


def actor(request: HttpRequest) -> User:
    return cast(User, request.user)


def back(settlement: HandSettlement) -> HttpResponse:
    return HttpResponseRedirect(reverse("admin:payments_handsettlement_change", args=[settlement.pk]))
