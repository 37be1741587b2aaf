"""What operators see of payments: facts to read, and the few switches that are theirs."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from events.admin import ReadOnlyAdmin
from orders.admin_search import FindsNumbers

from .actions import watching
from .models import (
    Allocation,
    ChainTransfer,
    Inquiry,
    Installation,
    NetworkCursor,
    PaymentIntent,
    RateSample,
    RateSourceHealth,
    Reconciliation,
    ReservedAddress,
    ReviewItem,
)


@admin.register(Installation)
class InstallationAdmin(ReadOnlyAdmin):
    list_display = ("kind", "identity", "born_at")


@admin.register(NetworkCursor)
class NetworkCursorAdmin(ReadOnlyAdmin):
    list_display = ("network", "state", "height", "head", "watched_until", "last_pass_at", "error", "error_at")
    actions = ("resume",)

    @admin.action(description=_("Resume: the node was checked and is on the right chain"), permissions=["view"])
    def resume(self, request: HttpRequest, queryset: QuerySet[NetworkCursor]) -> None:
        if not request.user.is_superuser:
            messages.error(request, _("Only the owner resumes a stopped network."))
            return
        for cursor in queryset:
            watching.resume(cursor.network, actor=request.user)


@admin.register(PaymentIntent)
class PaymentIntentAdmin(FindsNumbers, ReadOnlyAdmin):
    list_display = ("created_at", "order", "method", "amount", "usd_cents", "quote", "funding", "settlement", "late")
    list_filter = ("method", "quote", "funding", "settlement", "late")
    list_select_related = ("order",)
    search_fields = ("order__symbols", "address__address")


@admin.register(ChainTransfer)
class ChainTransferAdmin(FindsNumbers, ReadOnlyAdmin):
    list_display = ("first_seen_at", "network", "txid", "position", "amount", "status", "confirmations", "credited")
    list_filter = ("network", "status", "credited")
    search_fields = ("txid", "intent__address__address", "intent__order__symbols")


@admin.register(Allocation)
class AllocationAdmin(ReadOnlyAdmin):
    list_display = ("at", "transfer", "episode", "customer", "usd_cents", "live")
    list_select_related = ("transfer", "customer")


@admin.register(ReservedAddress)
class ReservedAddressAdmin(ReadOnlyAdmin):
    list_display = ("network", "index", "address", "issued_at")
    list_filter = ("network", "fingerprint")
    search_fields = ("address",)


@admin.register(RateSample)
class RateSampleAdmin(ReadOnlyAdmin):
    list_display = ("received_at", "source", "symbol", "price_e8")
    list_filter = ("source", "symbol")
    show_full_result_count = False


@admin.register(RateSourceHealth)
class RateSourceHealthAdmin(ReadOnlyAdmin):
    list_display = ("source", "last_success_at", "error", "error_at", "unpriced")


@admin.register(ReviewItem)
class ReviewItemAdmin(ReadOnlyAdmin):
    list_display = ("opened_at", "reason", "subject", "suggestion", "decided_at", "decision", "actor")
    list_filter = ("reason",)


@admin.register(Inquiry)
class InquiryAdmin(ReadOnlyAdmin):
    list_display = ("asked_at", "customer", "text", "answered_at")
    list_select_related = ("customer",)
    search_fields = ("text",)


@admin.register(Reconciliation)
class ReconciliationAdmin(ReadOnlyAdmin):
    list_display = ("at", "network", "agrees", "checked", "missing", "error")
    list_filter = ("network", "agrees")
