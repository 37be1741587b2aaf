from typing import Any, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from events.admin import ReadOnlyAdmin

from . import actions
from .admin_search import FindsNumbers
from .models import Environment, Hold, Order


@admin.register(Environment)
class EnvironmentAdmin(admin.ModelAdmin[Environment]):
    list_display = ("name", "code", "position", "free_text", "offered")
    list_editable = ("position", "offered")


class HoldInline(admin.TabularInline[Hold, Order]):
    model = Hold
    extra = 0
    can_delete = False
    fields = readonly_fields = ("lots", "state", "until", "created_at", "released_at")

    def has_add_permission(self, request: HttpRequest, obj: Order | None = None) -> bool:
        return False


class WaitingFilter(admin.SimpleListFilter):
    """Paid orders that hold no lots and never had theirs wiped: somebody must find stock for them (ORD-6)."""

    title = _("waiting for stock")
    parameter_name = "waiting"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, Any]]:
        return [("yes", _("Paid, waiting for stock"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Order]) -> QuerySet[Order]:
        if self.value() != "yes":
            return queryset
        wiped = Hold.objects.filter(order=OuterRef("pk"), released_at__gt=OuterRef("settled_at"))
        held = Hold.objects.filter(order=OuterRef("pk"), state=Hold.State.HELD)
        return queryset.filter(~Exists(held), ~Exists(wiped), state=Order.State.SETTLED)


@admin.register(Order)
class OrderAdmin(FindsNumbers, ReadOnlyAdmin):
    list_display = (
        "number",
        "customer",
        "offer_name",
        "lots",
        "term_days",
        "total_cents",
        "state",
        "payment",
        "created_at",
    )
    list_filter = (WaitingFilter, "state", "payment", "term_days")
    list_select_related = ("customer",)
    search_fields = ("symbols", "email", "last_name")
    inlines = (HoldInline,)
    actions = ("take_stock",)

    @admin.display(description=_("order number"), ordering="symbols")
    def number(self, order: Order) -> str:
        return order.number

    @admin.action(description=_("Take stock for paid orders that wait for it"), permissions=["view"])
    def take_stock(self, request: HttpRequest, queryset: QuerySet[Order]) -> None:
        if not request.user.has_perm("orders.change_order"):  # the list itself is read-only for everybody
            raise PermissionDenied
        for order in queryset:
            if actions.take_stock(order.pk, actor=cast(User, request.user)):
                messages.success(request, _("%(order)s holds its lots.") % {"order": order})
            else:
                messages.warning(
                    request, _("%(order)s: it does not wait for stock, or no lots are left.") % {"order": order}
                )
