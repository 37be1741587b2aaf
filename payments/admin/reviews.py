"""Review items: what needs a person, with its facts in words, and the decision with what it would do."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import path, reverse
from django.utils import timezone
from django.utils.functional import Promise as Words
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.timesince import timesince
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts.models import User
from events.admin import ReadOnlyAdmin
from events.columns import moment
from orders.errors import Refused
from orders.models import Order

from ..actions.deciding import decide, reopen
from ..forms import DecisionForm, ReopenForm
from ..models import ReviewItem
from ..previews import Credit, credit_of
from ..review_facts import facts_of, intent_of, links_of, transfer_of

Outcome = ReviewItem.Outcome


class DecidedFilter(admin.SimpleListFilter):
    title = _("decision")
    parameter_name = "decided"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, Any]]:
        return [("no", _("open")), ("yes", _("decided"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ReviewItem]) -> QuerySet[ReviewItem]:
        if self.value() not in ("no", "yes"):
            return queryset
        return queryset.filter(decided_at__isnull=self.value() == "no")


class ReasonFilter(admin.SimpleListFilter):
    """Only the reasons that there are: all of them would push the list off the screen."""

    title = _("reason")
    parameter_name = "reason"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, Any]]:
        there = set(ReviewItem.objects.order_by().values_list("reason", flat=True).distinct())
        return [(str(code), label) for code, label in ReviewItem.Reason.choices if code in there]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ReviewItem]) -> QuerySet[ReviewItem]:
        return queryset.filter(reason=self.value()) if self.value() else queryset


@dataclass(frozen=True, slots=True)
class Choice:
    """One decision that is possible: `credit` is what it would do to the ledger, if it does anything."""

    outcome: Outcome
    label: str | Words
    credit: Credit | None = None
    text: str | Words = ""


@admin.register(ReviewItem)
class ReviewItemAdmin(ReadOnlyAdmin):
    ordering = (F("decided_at").desc(nulls_first=True), "opened_at", "id")
    list_display = (
        "reason",
        "about",
        "age",
        "advice",
        "outcome",
        "decision",
        "actor",
        moment("decided_at", _("decided")),
    )
    list_filter = (DecidedFilter, ReasonFilter)
    list_select_related = ("transfer__intent__order", "transfer__intent__topup", "actor")
    search_fields = ("subject", "decision", "transfer__txid")
    fields = ("reason", "opened_at")
    change_form_template = "payments/admin_review.html"

    @admin.display(description=_("about"))
    def about(self, item: ReviewItem) -> SafeString:
        return format_html_join(" · ", '<a href="{}">{}</a>', ((link.url, link.text) for link in links_of(item)))

    @admin.display(description=_("suggestion"))
    def advice(self, item: ReviewItem) -> str:
        return item.advice

    @admin.display(description=_("age"), ordering="opened_at")
    def age(self, item: ReviewItem) -> str:
        return timesince(item.opened_at, item.decided_at or timezone.now(), depth=1)

    def get_urls(self) -> list[Any]:
        page = self.admin_site.admin_view(require_POST(self.decide))
        again = self.admin_site.admin_view(require_POST(self.reopen))
        own = [
            path("<int:item_id>/decide/", page, name="review_decide"),
            path("<int:item_id>/reopen/", again, name="review_reopen"),
        ]
        return own + super().get_urls()

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        item = self.get_object(request, object_id)
        extra = page_of(item) if item else {}
        return super().change_view(request, object_id, form_url, {**extra, **(extra_context or {})})

    def decide(self, request: HttpRequest, item_id: int) -> HttpResponse:
        """Decide once; whoever comes second is told what the other one decided."""
        check(request)
        item = get_object_or_404(ReviewItem, pk=item_id)
        form = DecisionForm(request.POST)
        if form.is_valid():
            self.attempt(request, item, **form.cleaned_data)
        else:
            messages.error(request, _("Choose a decision and say why: both are kept with your name."))
        return to_item(item_id)

    def reopen(self, request: HttpRequest, item_id: int) -> HttpResponse:
        """Open a decided item anew; its page is the new one's."""
        check(request)
        get_object_or_404(ReviewItem, pk=item_id)
        form = ReopenForm(request.POST)
        if not form.is_valid():
            messages.error(request, _("Say why: it is kept with your name."))
            return to_item(item_id)
        try:
            new = reopen(item_id, reason=form.cleaned_data["reason"], actor=cast(User, request.user))
            messages.success(request, _("Opened anew: decide here. The old decision stays in the history."))
            return to_item(new.pk)
        except Refused as error:
            messages.error(request, str(error))
        return to_item(item_id)

    def attempt(self, request: HttpRequest, item: ReviewItem, outcome: str, reason: str) -> None:
        try:
            decide(item.pk, Outcome(outcome), reason=reason, actor=cast(User, request.user))
            messages.success(request, _("Decided and recorded."))
        except Refused as error:
            messages.error(request, str(error))


def check(request: HttpRequest) -> None:
    if not request.user.has_perm("payments.change_reviewitem"):
        raise PermissionDenied


def to_item(item_id: int) -> HttpResponse:
    return HttpResponseRedirect(reverse("admin:payments_reviewitem_change", args=[item_id]))


def page_of(item: ReviewItem) -> dict[str, Any]:
    transfer = transfer_of(item) if item.transfer_id else None
    credit = credit_of(transfer, timezone.now()) if transfer and not item.decided_at else None
    credited = transfer.allocations.filter(live=True).select_related("movement").first() if transfer else None
    movement = credited.movement if credited else None
    return {
        "movement": movement,
        "may_reopen": bool(item.decided_at) and not (transfer and transfer.credited),
        "history": list(earlier(item)),
        "item": item,
        "title": item.get_reason_display().capitalize(),
        "subtitle": None,
        "facts": facts_of(item),
        "age": timesince(item.opened_at, item.decided_at or timezone.now()),
        "choices": [] if item.decided_at else choices_for(credit),
        "unpaid": None if item.decided_at else unpaid_order(item),
    }


def unpaid_order(item: ReviewItem) -> Order | None:
    """Return the order that an item speaks of, if it could be settled by hand instead."""
    intent = intent_of(item, transfer_of(item))
    return intent.order if intent and intent.order and intent.order.is_payable else None


def choices_for(credit: Credit | None) -> list[Choice]:
    """Return what may be decided: money only where there is a transfer, and only if it has a value."""
    noted = Choice(Outcome.NOTED, _("Noted"), text=_("Nothing moves in the ledger. The item is closed."))
    if credit is None:
        return [noted]
    kept = _("Nothing is credited to %(customer)s, now or later. The money stays at the address.")
    found = [
        Choice(Outcome.CREDITED, _("Credit it"), credit),
        Choice(Outcome.KEPT, _("Do not credit it"), text=kept % {"customer": credit.customer}),
    ]
    return [*found, noted]


def earlier(item: ReviewItem) -> Iterator[ReviewItem]:
    """Yield the items that this one was opened anew from, newest first."""
    rows = ReviewItem.objects.select_related("actor")
    while (key := item.facts.get("anew_from", "")).isdecimal() and (found := rows.filter(pk=key).first()):
        yield found
        item = found
