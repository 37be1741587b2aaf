"""The operator's board: one rental, its next steps as buttons, hand-over as a form."""

from datetime import datetime
from typing import Any, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import path, reverse
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from events.admin import ReadOnlyAdmin
from money.usd import localised
from orders.admin_search import FindsNumbers
from orders.errors import Refused

from . import actions
from .access import Access
from .forms import AccessForm, CancelForm, PlanForm
from .models import Rental

State = Rental.State


class PaymentGone(admin.SimpleListFilter):
    """Rentals whose payment the network took back after it was final: an operator decides what follows."""

    title = _("payment")
    parameter_name = "payment"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("gone", _("taken back, needs help"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Rental]) -> QuerySet[Rental]:
        return queryset.filter(order__needs_help_at__isnull=False) if self.value() == "gone" else queryset


@admin.register(Rental)
class RentalAdmin(FindsNumbers, ReadOnlyAdmin):
    list_display = ("order", "state", "payment_gone", "offer", "lots", "host", "created_at", "started_at", "ends_at")
    list_filter = ("state", PaymentGone)
    list_select_related = ("order",)
    search_fields = ("order__symbols", "order__email", "host")
    exclude = ("access", "token")
    change_form_template = "provisioning/admin_rental.html"

    @admin.display(description=_("payment gone since"))
    def payment_gone(self, rental: Rental) -> datetime | None:
        return rental.order.needs_help_at

    @admin.display(description=_("offer"))
    def offer(self, rental: Rental) -> str:
        return rental.order.offer_name

    @admin.display(description=_("lots"))
    def lots(self, rental: Rental) -> int:
        return rental.order.lots

    def get_urls(self) -> list[Any]:
        own = [
            path("<int:rental_id>/move/", self.admin_site.admin_view(self.move), name="rental_move"),
            path("<int:rental_id>/plan/", self.admin_site.admin_view(self.plan), name="rental_plan"),
            path("<int:rental_id>/hand-over/", self.admin_site.admin_view(self.hand_over), name="rental_hand_over"),
            path("<int:rental_id>/cancel/", self.admin_site.admin_view(self.cancel), name="rental_cancel"),
        ]
        return own + super().get_urls()

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        rental = self.get_object(request, object_id)
        cancellable = rental is not None and rental.may_move_to(State.CANCELLED)
        own = {"rental": rental, "steps": steps(rental) if rental else [], "cancellable": cancellable}
        extra = {**own, **(extra_context or {})}
        return super().change_view(request, object_id, form_url, extra)

    def move(self, request: HttpRequest, rental_id: int) -> HttpResponse:
        """Take one step of the rental's life; POST only."""
        self.check_operator(request)
        if request.method == "POST":
            self.attempt(request, rental_id, request.POST.get("step", ""))
        return self.back(rental_id)

    def attempt(self, request: HttpRequest, rental_id: int, step: str) -> None:
        actor = cast(User, request.user)
        try:
            if step == State.ENDED:
                actions.end(rental_id, actor=actor)
            elif step == "wiped":
                actions.confirm_wipe(rental_id, actor=actor)
            else:
                actions.move(rental_id, step, actor=actor)
            messages.success(request, _("Done and recorded."))
        except Refused as error:
            messages.error(request, str(error))

    def plan(self, request: HttpRequest, rental_id: int) -> HttpResponse:
        """Assign the host and the planned period."""
        rental = self.asked(request, rental_id)
        form = PlanForm(request.POST or None, instance=rental)
        if request.method == "POST" and form.is_valid():
            try:
                actions.plan(rental_id, actor=cast(User, request.user), **form.cleaned_data)
                messages.success(request, _("Done and recorded."))
                return self.back(rental_id)
            except Refused as error:
                form.add_error(None, str(error))
        return self.form_page(request, rental, form, _("Assign host and plan"))

    def hand_over(self, request: HttpRequest, rental_id: int) -> HttpResponse:
        """Enter the access that was checked and start the period."""
        rental = self.asked(request, rental_id)
        form = AccessForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            access = {name: str(value or "") for name, value in form.cleaned_data.items() if name != "checked"}
            try:
                actions.hand_over(rental_id, Access(**access), actor=cast(User, request.user))
                messages.success(request, _("Handed over: the period runs from now."))
                return self.back(rental_id)
            except Refused as error:
                form.add_error(None, str(error))
        return self.form_page(request, rental, form, _("Hand over"))

    def cancel(self, request: HttpRequest, rental_id: int) -> HttpResponse:
        """Cancel the paid order: say what it does, ask why, do it (ORD-9)."""
        rental = self.asked(request, rental_id)
        form = CancelForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                actions.cancel_paid(rental_id, actor=cast(User, request.user), **form.cleaned_data)
                messages.success(request, _("Cancelled: its sum is in the customer's balance, its lots are in stock."))
                return self.back(rental_id)
            except Refused as error:
                form.add_error(None, str(error))
        facts = {"sum": localised(rental.order.total_cents), "customer": rental.order.customer}
        note = (
            _(
                '%(sum)s goes from the house account "paid for orders" to the balance of %(customer)s. The lots return '
                "to stock. This can't be undone."
            )
            % facts
        )
        return self.form_page(request, rental, form, _("Cancel the paid order"), note)

    def asked(self, request: HttpRequest, rental_id: int) -> Rental:
        self.check_operator(request)
        return get_object_or_404(Rental.objects.select_related("order__customer"), pk=rental_id)

    def check_operator(self, request: HttpRequest) -> None:
        if not request.user.has_perm("provisioning.change_rental"):
            raise PermissionDenied

    def form_page(self, request: HttpRequest, rental: Rental, form: Any, title: Any, note: str = "") -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "rental": rental,
            "form": form,
            "title": title,
            "note": note,
            "opts": self.opts,
        }
        return render(request, "provisioning/admin_form.html", context)

    def back(self, rental_id: int) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:provisioning_rental_change", args=[rental_id]))


def steps(rental: Rental) -> list[tuple[str, Any]]:
    """Return the plain steps that are possible now: (value, label)."""
    labels = {
        State.QUEUED: _("Back to the queue"),
        State.PREPARING: _("Back to preparing") if rental.state == State.READY else _("Start preparing"),
        State.READY: _("Machine is ready"),
        State.FAILED: _("Mark as failed"),
        State.SUSPENDED: _("Suspend"),
        State.ENDED: _("End the rental"),
    }
    possible = [(str(s), label) for s, label in labels.items() if rental.may_move_to(s)]
    if rental.state == State.SUSPENDED:
        possible.insert(0, (str(State.ACTIVE), _("Resume")))
    if rental.state == State.ENDED and rental.wiped_at is None:
        possible.append(("wiped", _("Confirm the wipe: lots return to stock")))
    return possible
