"""Payouts and refunds: agree, send from one's own wallet, record the transaction; and make the refund of a transfer."""

import uuid
from collections.abc import Callable
from typing import Any, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.functional import Promise as Words
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts.models import User
from balance.queries import available_cents
from events.admin import ReadOnlyAdmin
from events.columns import dollars, moment
from money.units import plain
from orders.admin_search import FindsNumbers
from orders.errors import Refused

from ..actions import payouts
from ..actions.refunds import Wanted, make_refund
from ..models import ChainTransfer, Installation, Payout
from ..payout_forms import PayoutDecisionForm, RefundForm
from ..payout_page import PayoutPage, price_text
from ..payout_todo import stuck
from ..payouts import GOODWILL, approval_figures, fee_of, is_backed, needs_two, refundable_of
from ..registry import is_simulated
from ..registry import method as method_by_code
from ..review_facts import link_to
from ..seals import payout_holds
from ..shown import coins, transferred

USD = dollars("usd_cents", _("USD"))
REQUESTED, SENT = moment("requested_at", _("asked for")), moment("sent_at", _("sent"))
State = Payout.State
OUTCOMES: dict[str, str | Words] = {
    State.REQUESTED: _("Noted: a second operator must agree too."),
    State.APPROVED: _("It waits to be sent."),
    State.SENT: _("Recorded. The network is looked at now."),
    State.FINAL: _("Done."),
    State.REFUSED: _("Refused: its sum is where it was before."),
}
SENDING = _("It is yours to send: exactly this amount, then record the transaction.")


class StateFilter(admin.SimpleListFilter):
    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, Any]]:
        states = [(str(code), label) for code, label in State.choices]
        return [*states, ("stuck", _("sent, did not arrive"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Payout]) -> QuerySet[Payout]:
        if self.value() == "stuck":
            return queryset.filter(stuck(timezone.now()))
        return queryset.filter(state=self.value()) if self.value() else queryset


@admin.register(Payout)
class PayoutAdmin(FindsNumbers, ReadOnlyAdmin):
    number_prefixes = ("PAYOUT_NUMBER_PREFIX",)
    list_display = ("number", "kind", "customer", "arrives", USD, "state", REQUESTED, SENT)
    list_filter = (StateFilter, "kind", "method")
    list_select_related = ("customer",)
    search_fields = ("symbols", "customer__email", "address", "txid")
    fields = ("kind",)
    view_on_site = False  # the page is its customer's
    change_form_template = "payments/admin_payout.html"

    @admin.display(description=_("number"), ordering="symbols")
    def number(self, payout: Payout) -> str:
        return payout.number

    @admin.display(description=_("arrives"))
    def arrives(self, payout: Payout) -> str:
        return coins(payout.amount, payout.method)

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view
        own = [
            path("<int:payout_id>/decide/", view(require_POST(self.decide)), name="payout_decide"),
            path("transfer/<int:transfer_id>/", view(self.refund), name="transfer_refund"),
        ]
        return own + super().get_urls()

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        payout = self.get_object(request, object_id)
        extra = page_of(payout, actor(request)) if payout else {}
        return super().change_view(request, object_id, form_url, {**extra, **(extra_context or {})})

    def decide(self, request: HttpRequest, payout_id: int) -> HttpResponse:
        """Do one step; whoever comes second is told how it stands."""
        check(request)
        payout, form = get_object_or_404(Payout, pk=payout_id), PayoutDecisionForm(request.POST)
        if form.is_valid():
            attempt(request, payout, **form.cleaned_data)
        else:
            messages.error(request, _("Choose one of the steps shown."))
        return back(payout)

    def refund(self, request: HttpRequest, transfer_id: int) -> HttpResponse:
        """Show what of a transfer can be sent back, and make the refund."""
        check(request)
        rows = ChainTransfer.objects.select_related("intent__customer", "intent__order", "intent__topup")
        transfer = get_object_or_404(rows, pk=transfer_id)
        left = refundable_of(transfer)
        form = refund_form(request, transfer, left.left) if not left.why_not else None
        if form and request.method == "POST" and form.is_valid():
            try:
                made = refunded(transfer, form, actor(request))
                messages.success(request, _("Reserved: another person must agree now."))
                return back(made)
            except Refused as error:
                form.add_error(None, str(error))
        context = {**self.admin_site.each_context(request), "title": _("Send a transfer back"), "opts": self.opts}
        return render(request, "payments/admin_refund.html", {**context, **refund_page(transfer, form)})


# --- what each step does --------------------------------------------------------------------------------------------
def attempt(request: HttpRequest, payout: Payout, step: str, reason: str, txid: str) -> None:
    who = actor(request)
    steps: dict[str, Callable[[], Payout]] = {
        "approve": lambda: payouts.approve(payout.pk, actor=who),
        "refuse": lambda: payouts.refuse(payout.pk, reason=reason, actor=who),
        "sending": lambda: payouts.begin_sending(payout.pk, actor=who),
        "stop": lambda: payouts.stop_sending(payout.pk, actor=who),
        "sent": lambda: payouts.mark_sent(payout.pk, txid=txid, actor=who),
        "back": lambda: payouts.take_back(payout.pk, actor=who),
        "accept": lambda: payouts.accept(payout.pk, reason=reason, actor=who),
    }
    try:
        done = steps[step]()
        messages.success(request, str(SENDING if done.sending_by else OUTCOMES[done.state]))
    except Refused as error:
        messages.error(request, str(error))


def refunded(transfer: ChainTransfer, form: RefundForm, who: User) -> Payout:
    data = form.cleaned_data
    wanted = Wanted(data["amount"], data["address"], data["reason"], data["house_pays_fee"])
    return make_refund(transfer.pk, wanted, form_key=data["form_key"], actor=who)


# --- what the pages show --------------------------------------------------------------------------------------------
def page_of(payout: Payout, who: User) -> dict[str, Any]:
    """Return what the page of a payout shows. Where the seal is broken it offers nothing to send."""
    whole = payout_holds(payout, Installation.objects.get())
    page = PayoutPage(payout)
    return {
        "payout": payout,
        "page": page,
        "title": payout.number,
        "subtitle": None,
        "whole": whole,
        "backed": payout.state not in (State.REQUESTED, State.APPROVED) or is_backed(payout),
        "mine": payout.customer_id == who.pk,
        "needs_two": needs_two(payout, who),
        "own": who.pk in (payout.requested_by_id, payout.customer_id),
        "agreed": payout.checked_by_id == who.pk,
        "now": now_figures(payout) if payout.state == State.REQUESTED and not payout.is_refund else None,
        "qr": page.qr() if payout.state == State.APPROVED and whole else "",
        "may_send": payout.state == State.APPROVED and whole,
        "sending": payout.sending_by_id == who.pk,
        "refunds": link_to(payout.transfer.intent.purpose) if payout.transfer else None,
        "wallet_url": wallet_url(payout) if is_simulated() else "",
    }


def wallet_url(payout: Payout) -> str:
    return f"{reverse('payments:wallet')}?payout={payout.number}&network={payout.network}"


def now_figures(payout: Payout) -> dict[str, Any]:
    """Return what would be sent if it were approved now, with the age of the price, or why it can't be."""
    found = approval_figures(payout)
    if isinstance(found, Refused):
        return {"refusal": str(found)}
    age = timezone.now() - found.priced_at
    return {
        "amount_text": plain(found.amount, found.method.asset.decimals),
        "rate_text": price_text(found.market.price_e8),
        "age_seconds": max(int(age.total_seconds()), 0),
    }


def refund_form(request: HttpRequest, transfer: ChainTransfer, left: int) -> RefundForm:
    method = method_by_code(transfer.method)
    initial = {"amount": plain(left, method.asset.decimals), "form_key": uuid.uuid4()}
    return RefundForm(method, request.POST if request.method == "POST" else None, initial=initial)


def refund_page(transfer: ChainTransfer, form: RefundForm | None) -> dict[str, Any]:
    left = refundable_of(transfer)
    return {
        "transfer": transfer,
        "customer": transfer.intent.customer,
        "about": link_to(transfer.intent.purpose),
        "received": transferred(transfer),
        "left": left,
        "left_text": coins(left.left, transfer.method, transfer.contract),
        "fee_text": coins(fee_of(form.of), transfer.method) if form else "",
        "available_cents": available_cents(transfer.intent.customer),
        "made": [PayoutPage(payout) for payout in transfer.payouts.order_by("pk")],
        "goodwill": GOODWILL,
        "form": form,
    }


def check(request: HttpRequest) -> None:
    if not request.user.has_perm("payments.decide_payout"):
        raise PermissionDenied


def actor(request: HttpRequest) -> User:
    return cast(User, request.user)


def back(payout: Payout) -> HttpResponse:
    return HttpResponseRedirect(reverse("admin:payments_payout_change", args=[payout.pk]))
