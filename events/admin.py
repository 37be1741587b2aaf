"""Admin bases for rows that nobody edits by hand."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from .downloads import Downloads
from .models import Event


class ReadOnlyAdmin(Downloads):
    """Shows rows, changes none."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ("at", "kind", "thread", "subject", "actor")
    list_filter = ("kind",)
    search_fields = ("thread", "subject")
    list_select_related = ("actor",)
    show_full_result_count = False
