from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from events.admin import ReadOnlyAdmin
from events.columns import dollars, moment

from .models import Account, Movement


@admin.register(Account)
class AccountAdmin(ReadOnlyAdmin):
    list_display = (
        "__str__",
        "customer",
        "house",
        dollars("balance_cents", _("balance")),
        dollars("floor_cents", _("lowest balance")),
    )
    list_select_related = ("customer",)
    list_filter = (("customer", admin.EmptyFieldListFilter),)
    search_fields = ("customer__email",)


@admin.register(Movement)
class MovementAdmin(ReadOnlyAdmin):
    ordering = ("-id",)
    list_display = (
        moment("at", _("time")),
        "reference",
        "kind",
        "debit",
        "credit",
        dollars("amount_cents", _("amount")),
        "actor",
    )
    list_filter = ("kind", "at")
    list_select_related = ("debit__customer", "credit__customer", "actor")
    search_fields = ("reference", "reason", "debit__customer__email", "credit__customer__email")
    change_form_template = "balance/admin_movement.html"
