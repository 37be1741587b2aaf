"""Corrections of balances: goodwill, and counter-entries on the page of what they undo."""

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts.models import User
from balance.models import Movement
from balance.queries import balance_cents
from orders.admin_search import FindsNumbers
from orders.errors import Refused
from orders.models import Order

from ..actions import adjusting
from ..corrections import effect_of, hand_of, paid_by, undone_by
from ..forms import CounterForm, GoodwillForm
from ..models import Adjustment
from ..statement import lines_of
from .two_persons import DECIDED, PROPOSED, USD, State, TwoPersonsAdmin, actor


@admin.register(Adjustment)
class AdjustmentAdmin(FindsNumbers, TwoPersonsAdmin):
    permission = "payments.adjust_balance"
    decide_page = "admin:adjustment_decide"
    steps = {"approve": adjusting.approve, "withdraw": adjusting.withdraw}
    outcomes = {
        State.PROPOSED: _("Proposed: a second person must agree now."),
        State.DONE: _("Done and recorded."),
        State.WITHDRAWN: _("Withdrawn: nothing was moved."),
    }
    list_display = (
        "customer", "direction", USD, "state", "reason", "counter_of", "proposed_by", PROPOSED, "second", DECIDED,
    )  # fmt: skip
    list_filter = ("state", "direction")
    list_select_related = ("customer", "counter_of", "proposed_by", "second")
    search_fields = ("order__symbols", "customer__email", "reason")
    fields: ClassVar[Any] = (
        "customer", "order", "direction", USD, "reason", "counter_of", "movement", "state", "proposed_by", PROPOSED,
        "second", DECIDED,
    )  # fmt: skip
    change_form_template = "payments/admin_adjustment.html"

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view
        own = [
            path("customer/<int:customer_id>/", view(self.for_customer), name="adjustment_customer"),
            path("order/<int:order_id>/", view(self.for_order), name="adjustment_order"),
            path("counter/<int:movement_id>/", view(self.counter), name="adjustment_counter"),
            path("<int:adjustment_id>/decide/", view(require_POST(self.decide_one)), name="adjustment_decide"),
        ]
        return own + super().get_urls()

    def more(self, row: Adjustment) -> dict[str, Any]:
        return {"before": balance_cents(row.customer)}

    def decide_one(self, request: HttpRequest, adjustment_id: int) -> HttpResponse:
        return self.decide(request, adjustment_id)

    def for_customer(self, request: HttpRequest, customer_id: int) -> HttpResponse:
        """Give goodwill to a customer."""
        self.check_person(request)
        return self.goodwill(request, get_object_or_404(User, pk=customer_id), None)

    def for_order(self, request: HttpRequest, order_id: int) -> HttpResponse:
        """Give goodwill for an order: it stands in its story."""
        self.check_person(request)
        order = get_object_or_404(Order.objects.select_related("customer"), pk=order_id)
        return self.goodwill(request, order.customer, order)

    def goodwill(self, request: HttpRequest, customer: User, order: Order | None) -> HttpResponse:
        form = GoodwillForm(request.POST or None, initial={"form_key": uuid.uuid4()})
        if request.method == "POST" and form.is_valid():
            try:
                given = adjusting.give_goodwill(
                    customer.pk,
                    form.cents(),
                    reason=form.cleaned_data["reason"],
                    form_key=form.cleaned_data["form_key"],
                    order_id=order.pk if order else None,
                    actor=actor(request),
                )
                return self.done(request, given)
            except Refused as error:
                form.add_error(None, str(error))
        facts = {"customer": customer, "order": order, "before": balance_cents(customer)}
        return self.page(request, "payments/admin_goodwill.html", title=_("Goodwill credit"), form=form, **facts)

    def counter(self, request: HttpRequest, movement_id: int) -> HttpResponse:
        """Show what undoing an entry does, and do it or propose it."""
        self.check_person(request)
        rows = Movement.objects.select_related("debit__customer", "credit__customer", "actor")
        movement = get_object_or_404(rows, pk=movement_id)
        if existing := undone_by(movement):
            messages.info(request, _("This entry has a counter-entry already: here it is."))
            return self.back(existing)
        form = CounterForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                reason = form.cleaned_data["reason"]
                return self.done(request, adjusting.counter(movement_id, reason=reason, actor=actor(request)))
            except Refused as error:
                form.add_error(None, str(error))
        hand = hand_of(movement)
        facts = {"effect": effect_of(movement), "line": lines_of([movement])[movement.pk]}
        more = {"hand": hand, "paid": paid_by(hand) if hand else None}
        two_persons = movement.amount_cents > settings.SECOND_PERSON_ABOVE_CENTS
        title = _("Undo by a counter-entry")
        return self.page(
            request, "payments/admin_counter.html", title=title, form=form, two_persons=two_persons, **facts, **more
        )

    def page(self, request: HttpRequest, template: str, **context: Any) -> HttpResponse:
        shared = {**self.admin_site.each_context(request), "opts": self.opts}
        return render(request, template, shared | {"limit": settings.SECOND_PERSON_ABOVE_CENTS} | context)
