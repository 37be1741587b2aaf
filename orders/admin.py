from typing import Any, ClassVar, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from events.admin import ReadOnlyAdmin, RecordsChanges
from events.columns import dollars, moment

from . import actions
from .admin_search import FindsNumbers
from .errors import Refused
from .models import Environment, Hold, Order
from .queries import waiting_for_stock


@admin.register(Environment)
class EnvironmentAdmin(RecordsChanges):
    list_display = ("name", "code", "position", "free_text", "offered")
    list_filter = ("offered", "free_text")
    search_fields = ("name", "code")
    list_editable = ("position", "offered")


# Columns that both the list and the page of one order show.
TOTAL, CREATED = dollars("total_cents", _("total")), moment("created_at", _("created"))


class HoldInline(admin.TabularInline[Hold, Order]):
    model = Hold
    extra = 0
    can_delete = False
    fields = readonly_fields = (  # type: ignore[assignment]  # the stubs know only names
        "lots", "state", moment("until", _("until")), moment("created_at", _("created")),
        moment("released_at", _("released")),
    )  # fmt: skip

    def has_add_permission(self, request: HttpRequest, obj: Order | None = None) -> bool:
        return False


class WaitingFilter(admin.SimpleListFilter):
    title = _("waiting for stock")
    parameter_name = "waiting"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, Any]]:
        return [("yes", _("Paid, waiting for stock"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Order]) -> QuerySet[Order]:
        return queryset.filter(pk__in=waiting_for_stock()) if self.value() == "yes" else queryset


class HelpFilter(admin.SimpleListFilter):
    """Orders whose payment the network took back after it was final."""

    title = _("help")
    parameter_name = "help"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, Any]]:
        return [("needed", _("Payment taken back, needs help"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Order]) -> QuerySet[Order]:
        return queryset.filter(needs_help_at__isnull=False) if self.value() == "needed" else queryset


class ReasonForm(ActionForm):
    """The line of actions above the list, with the reason that a decision asks for."""

    reason = forms.CharField(label=_("Reason, for a decision about help"), max_length=300, required=False)


@admin.register(Order)
class OrderAdmin(FindsNumbers, ReadOnlyAdmin):
    list_display = (
        "number",
        "customer",
        "offer_name",
        "lots",
        "term_days",
        TOTAL,
        "state",
        "payment",
        CREATED,
    )
    list_filter = (WaitingFilter, HelpFilter, "state", "payment", "term_days")
    list_select_related = ("customer",)
    search_fields = ("symbols", "email", "last_name")
    fields: ClassVar[Any] = (  # the stubs know only names
        "number", "customer", "state", "payment", "offer", "offer_name", "lots", "cards_per_lot", "term_days",
        dollars("unit_price_cents", _("price per lot")), TOTAL, "environment", "environment_wish", "first_name",
        "last_name", "email", CREATED, moment("settled_at", _("settled")),
        moment("promised_until", _("promised until")), moment("needs_help_at", _("needs help since")), "client",
    )  # fmt: skip
    inlines = (HoldInline,)
    action_form = ReasonForm
    actions = ("take_stock", "help_given")
    change_form_template = "orders/admin_order.html"

    @admin.display(description=_("order number"), ordering="symbols")
    def number(self, order: Order) -> str:
        return order.number

    @admin.action(description=_("Take stock for paid orders that wait for it"), permissions=["view"])
    def take_stock(self, request: HttpRequest, queryset: QuerySet[Order]) -> None:
        check_operator(request)
        for order in queryset:
            if actions.take_stock(order.pk, actor=cast(User, request.user)):
                messages.success(request, _("%(order)s holds its lots.") % {"order": order})
            else:
                messages.warning(
                    request, _("%(order)s: it does not wait for stock, or no lots are left.") % {"order": order}
                )

    @admin.action(description=_("Help given: decided about this order"), permissions=["view"])
    def help_given(self, request: HttpRequest, queryset: QuerySet[Order]) -> None:
        check_operator(request)
        reason, actor = request.POST.get("reason", "")[:300], cast(User, request.user)
        for order in queryset:
            try:
                if actions.decide_help(order.pk, reason=reason, actor=actor):
                    messages.success(request, _("%(order)s: decided and recorded.") % {"order": order})
                else:
                    messages.warning(request, _("%(order)s needs no help, or not any more.") % {"order": order})
            except Refused as error:
                messages.error(request, str(error))
                return


def check_operator(request: HttpRequest) -> None:
    """Refuse whoever may not change orders: the list itself is read-only for everybody."""
    if not request.user.has_perm("orders.change_order"):
        raise PermissionDenied
