"""Settle an order by hand, and agree to it as the second person."""

from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from balance.models import Movement
from orders.actions import move_to_balance
from orders.admin_search import FindsNumbers
from orders.errors import Refused
from orders.models import Order

from ..actions import by_hand
from ..actions.two_persons import needs_second
from ..corrections import given_alone, paid_by
from ..forms import ByHandForm
from ..models import HandSettlement
from ..previews import by_hand_of
from .two_persons import DECIDED, PROPOSED, USD, State, TwoPersonsAdmin, actor


@admin.register(HandSettlement)
class HandSettlementAdmin(FindsNumbers, TwoPersonsAdmin):
    permission = "payments.settle_order"
    decide_page = "admin:hand_decide"
    steps = {"approve": by_hand.approve, "withdraw": by_hand.withdraw}
    outcomes = {
        State.PROPOSED: _("Proposed: a second person must agree now."),
        State.DONE: _("Settled and recorded."),
        State.WITHDRAWN: _("Withdrawn: nothing was moved."),
    }
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
    list_select_related = ("order", "proposed_by", "second")
    search_fields = ("order__symbols", "reason", "evidence")
    exclude = ("usd_cents", "proposed_at", "decided_at")
    change_form_template = "payments/admin_hand.html"

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view
        own = [
            path("order/<int:order_id>/", view(self.settle), name="order_settle"),
            path("<int:settlement_id>/decide/", view(require_POST(self.decide_hand)), name="hand_decide"),
            path("<int:settlement_id>/give-back/", view(require_POST(self.give_back)), name="hand_give_back"),
        ]
        return own + super().get_urls()

    def more(self, row: HandSettlement) -> dict[str, Any]:
        """Add what its counter-entry would be, and what becomes of its order."""
        if row.state != State.DONE:
            return {}
        return {"movement": Movement.objects.filter(reference=f"hand:{row.pk}").first(), "paid": paid_by(row)}

    def settle(self, request: HttpRequest, order_id: int) -> HttpResponse:
        """Show what settling an order would do, and do it or propose it."""
        self.check_person(request)
        order = get_object_or_404(Order.objects.select_related("customer", "offer"), pk=order_id)
        existing = HandSettlement.objects.filter(order=order).exclude(state=State.WITHDRAWN).first()
        if existing:
            messages.info(request, _("This order has a settlement by hand already: here it is."))
            return self.back(existing)
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
            "two_persons": needs_second(order.total_cents + given_alone(order.customer_id, actor(request))),
            "limit": settings.SECOND_PERSON_ABOVE_CENTS,
            "title": _("Settle by hand"),
            "opts": self.opts,
        }

    def decide_hand(self, request: HttpRequest, settlement_id: int) -> HttpResponse:
        return self.decide(request, settlement_id)

    def give_back(self, request: HttpRequest, settlement_id: int) -> HttpResponse:
        """Give an order that waits for stock back: its sum can then be taken from the balance."""
        self.check_person(request)
        settlement = get_object_or_404(HandSettlement, pk=settlement_id)
        try:
            move_to_balance(settlement.order_id, actor=actor(request))
            messages.success(request, _("The order is given back and its sum is in the customer's balance."))
        except Refused as error:
            messages.error(request, str(error))
        return self.back(settlement)
