"""The log of look-ups, for owners to read."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from events.admin import ReadOnlyAdmin
from events.columns import moment

from .models import Lookup


@admin.register(Lookup)
class LookupAdmin(ReadOnlyAdmin):
    list_display = (moment("at", _("time")), "actor", "text", "kind", "outcome", "subject", "customer")
    list_filter = ("outcome",)
    list_select_related = ("actor", "customer")
    search_fields = ("subject", "actor__email", "customer__email")
    ordering = ("-at",)
    show_full_result_count = False
