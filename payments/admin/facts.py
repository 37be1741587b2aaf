"""Facts to read, and the few switches that are the operators'."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import path
from django.utils.translation import gettext_lazy as _

from events.admin import ReadOnlyAdmin
from events.columns import column, dollars, moment
from orders.admin_search import FindsNumbers

from ..actions import watching
from ..models import (
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
    TopUp,
)
from ..quotes import E8
from ..shown import coins, transferred
from . import reports

TIMES = {
    "created_at": _("created"),
    "expires_at": _("valid until"),
    "closed_at": _("closed"),
    "declared_at": _("declared"),
    "ended_at": _("ended"),
}
NUMBERS = ("ORDER_NUMBER_PREFIX", "TOPUP_NUMBER_PREFIX")


def price(price_e8: int) -> str:
    """Write the price of a whole coin in dollars, with every digit that it has."""
    whole, part = divmod(price_e8, E8)
    return f"${whole}.{str(part).zfill(8).rstrip('0').ljust(2, '0')}"


# Columns that both a list and the page of one row show. The stubs know only the names of `readonly_fields`.
AMOUNT, USD = dollars("amount_cents", _("amount")), dollars("usd_cents", _("USD"))
CREATED, SETTLED = moment("created_at", _("created")), moment("settled_at", _("settled"))
FIRST_SEEN, AT = moment("first_seen_at", _("first seen")), moment("at", _("time"))
MARKET_RATE = column("market_rate_e8", _("market rate"), price)


@admin.register(Installation)
class InstallationAdmin(ReadOnlyAdmin):
    list_display = ("kind", "identity", moment("born_at", _("born")))


@admin.register(NetworkCursor)
class NetworkCursorAdmin(ReadOnlyAdmin):
    list_display = (
        "network",
        "state",
        "height",
        "head",
        moment("watched_until", _("watched until")),
        moment("last_pass_at", _("last complete pass")),
        "error",
        moment("error_at", _("time of the error")),
    )
    actions = ("resume",)

    @admin.action(description=_("Resume: the node was checked and is on the right chain"), permissions=["view"])
    def resume(self, request: HttpRequest, queryset: QuerySet[NetworkCursor]) -> None:
        if not request.user.is_superuser:
            messages.error(request, _("Only the owner resumes a stopped network."))
            return
        for cursor in queryset:
            watching.resume(cursor.network, actor=request.user)


@admin.register(TopUp)
class TopUpAdmin(FindsNumbers, ReadOnlyAdmin):
    number_prefixes = ("TOPUP_NUMBER_PREFIX",)
    list_display = (
        "number",
        "customer",
        AMOUNT,
        "state",
        CREATED,
        SETTLED,
    )
    list_filter = ("state",)
    list_select_related = ("customer",)
    search_fields = ("symbols", "customer__email")
    exclude = ("form_key", "symbols", "amount_cents", "created_at", "settled_at")
    readonly_fields: ClassVar[Any] = ("number", AMOUNT, CREATED, SETTLED)

    @admin.display(description=_("number"), ordering="symbols")
    def number(self, topup: TopUp) -> str:
        return topup.number


@admin.register(PaymentIntent)
class PaymentIntentAdmin(FindsNumbers, ReadOnlyAdmin):
    number_prefixes = NUMBERS
    list_display = (
        CREATED,
        "purpose",
        "due",
        USD,
        "quote",
        "funding",
        "settlement",
        "late",
    )
    list_filter = ("method", "quote", "funding", "settlement", "late", "created_at")
    list_select_related = ("order", "topup")
    search_fields = ("order__symbols", "topup__symbols", "address__address", "customer__email")
    exclude = ("form_key", "amount", "usd_cents", "rate_e8", *TIMES)
    readonly_fields: ClassVar[Any] = (
        "due",
        USD,
        column("rate_e8", _("rate"), price),
        *(moment(name, label) for name, label in TIMES.items()),
    )

    @admin.display(description=_("order or top-up"))
    def purpose(self, intent: PaymentIntent) -> str:
        return intent.purpose.number

    @admin.display(description=_("amount"))
    def due(self, intent: PaymentIntent) -> str:
        return coins(intent.amount, intent.method)


@admin.register(ChainTransfer)
class ChainTransferAdmin(FindsNumbers, ReadOnlyAdmin):
    number_prefixes = NUMBERS
    list_display = (
        FIRST_SEEN,
        "purpose",
        "sum",
        "status",
        "confirmations",
        "credited",
        "network",
        "txid",
        "position",
    )
    list_filter = ("network", "status", "credited")
    list_select_related = ("intent__order", "intent__topup")
    search_fields = ("txid", "intent__address__address", "intent__order__symbols", "intent__topup__symbols")
    exclude = ("amount", "first_seen_at", "block_time")
    change_form_template = "payments/admin_transfer.html"
    readonly_fields: ClassVar[Any] = ("sum", FIRST_SEEN, moment("block_time", _("block time")))

    @admin.display(description=_("order or top-up"))
    def purpose(self, transfer: ChainTransfer) -> str:
        return transfer.intent.purpose.number

    @admin.display(description=_("amount"))
    def sum(self, transfer: ChainTransfer) -> str:
        return transferred(transfer)


@admin.register(Allocation)
class AllocationAdmin(FindsNumbers, ReadOnlyAdmin):
    list_display = (
        AT,
        "transfer",
        "sum",
        "episode",
        "customer",
        USD,
        MARKET_RATE,
        "live",
    )
    list_select_related = ("transfer", "customer")
    list_filter = ("live", "transfer__network", "transfer__method")
    search_fields = ("transfer__txid", "intent__order__symbols", "intent__topup__symbols", "customer__email")
    number_prefixes = NUMBERS
    exclude = ("locked_amount", "market_amount", "market_rate_e8", "usd_cents", "at")
    readonly_fields: ClassVar[Any] = ("promised", "at_market", USD, MARKET_RATE, AT)

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view
        own = [
            path("report/", view(reports.report), name="payments_report"),
            path("report/report.csv", view(reports.report_csv), name="payments_report_csv"),
            path("report/transfers.csv", view(reports.transfers_csv), name="payments_transfers_csv"),
        ]
        return own + super().get_urls()

    @admin.display(description=_("at the promised rate"))
    def promised(self, allocation: Allocation) -> str:
        return coins(allocation.locked_amount, allocation.transfer.method)

    @admin.display(description=_("at the market's rate"))
    def at_market(self, allocation: Allocation) -> str:
        return coins(allocation.market_amount, allocation.transfer.method)

    @admin.display(description=_("amount"))
    def sum(self, allocation: Allocation) -> str:
        return transferred(allocation.transfer)


@admin.register(ReservedAddress)
class ReservedAddressAdmin(ReadOnlyAdmin):
    list_display = ("network", "index", "address", moment("issued_at", _("issued")))
    list_filter = ("network", "fingerprint")
    search_fields = ("address",)


@admin.register(RateSample)
class RateSampleAdmin(ReadOnlyAdmin):
    list_display = (moment("received_at", _("received")), "source", "symbol", column("price_e8", _("price"), price))
    list_filter = ("source", "symbol")
    show_full_result_count = False


@admin.register(RateSourceHealth)
class RateSourceHealthAdmin(ReadOnlyAdmin):
    list_display = (
        "source",
        moment("last_success_at", _("last answer")),
        "error",
        moment("error_at", _("time of the error")),
        "unpriced",
    )


@admin.register(Inquiry)
class InquiryAdmin(ReadOnlyAdmin):
    list_display = (moment("asked_at", _("asked")), "customer", "text", moment("answered_at", _("answered")))
    list_filter = (("answered_at", admin.EmptyFieldListFilter), "asked_at")
    list_select_related = ("customer",)
    search_fields = ("text", "customer__email")
    ordering = ("-asked_at",)


@admin.register(Reconciliation)
class ReconciliationAdmin(ReadOnlyAdmin):
    list_display = (AT, "network", "agrees", "checked", "missing", "error")
    list_filter = ("network", "agrees")
