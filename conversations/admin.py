from django.contrib import admin

from events.admin import ReadOnlyAdmin, RecordsChanges
from events.columns import moment
from orders.admin_search import FindsNumbers

from .models import CannedText, Message


@admin.register(Message)
class MessageAdmin(FindsNumbers, ReadOnlyAdmin):
    list_display = (moment("at", Message._meta.get_field("at").verbose_name), "order", "side", "kind", "author")
    list_filter = ("side", "kind")
    list_select_related = ("order", "author")
    search_fields = ("order__symbols",)
    exclude = ("form_key",)
    show_full_result_count = False


@admin.register(CannedText)
class CannedTextAdmin(RecordsChanges):
    list_display = ("title", "language", "position")
    list_editable = ("position",)
    list_filter = ("language",)
    search_fields = ("title", "body")
