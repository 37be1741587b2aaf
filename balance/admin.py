from typing import Any, ClassVar

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from events.admin import ReadOnlyAdmin
from events.columns import dollars, moment

from .models import Account, Movement

# Columns that both the list and the page of one row show. The stubs know only the names of `fields`.
AT, AMOUNT = moment("at", _("time")), dollars("amount_cents", _("amount"))
BALANCE, LOWEST = dollars("balance_cents", _("balance")), dollars("floor_cents", _("lowest balance"))


@admin.register(Account)
class AccountAdmin(ReadOnlyAdmin):
    list_display = (
        "__str__",
        "customer",
        "house",
        BALANCE,
        LOWEST,
    )
    fields: ClassVar[Any] = ("customer", "house", BALANCE, LOWEST)
    list_select_related = ("customer",)
    list_filter = (("customer", admin.EmptyFieldListFilter),)
    search_fields = ("customer__email",)


@admin.register(Movement)
class MovementAdmin(ReadOnlyAdmin):
    ordering = ("-id",)
    list_display = (
        AT,
        "reference",
        "kind",
        "debit",
        "credit",
        AMOUNT,
        "actor",
    )
    list_filter = ("kind", "at")
    list_select_related = ("debit__customer", "credit__customer", "actor")
    search_fields = ("reference", "reason", "debit__customer__email", "credit__customer__email")
    fields: ClassVar[Any] = (AT, "kind", "debit", "credit", AMOUNT, "reason", "reference", "actor")
    change_form_template = "balance/admin_movement.html"
