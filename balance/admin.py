from django.contrib import admin

from events.admin import ReadOnlyAdmin

from .models import Account, Movement


@admin.register(Account)
class AccountAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "customer", "house", "balance_cents", "floor_cents")
    list_select_related = ("customer",)
    search_fields = ("customer__email",)


@admin.register(Movement)
class MovementAdmin(ReadOnlyAdmin):
    ordering = ("-id",)
    list_display = ("at", "reference", "kind", "debit", "credit", "amount_cents", "actor")
    list_filter = ("kind",)
    list_select_related = ("debit__customer", "credit__customer", "actor")
    search_fields = ("reference",)
