"""The customer's pages of payouts: ask for one, look at the figures, see one (BAL-7)."""

import uuid
from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts.gates import proved_again
from accounts.models import User
from balance.queries import available_cents
from money.units import plain
from money.usd import localised
from money.usd import plain as plain_usd
from orders import numbers
from orders.errors import Refused

from . import errors, queries
from .actions import payouts
from .models import Payout
from .payout_forms import PayoutForm
from .payout_page import PayoutPage, price_text
from .payouts import Figures, fee_of, figures_of
from .registry import is_simulated
from .registry import method as method_by_code


@proved_again
@never_cache
def ask(request: HttpRequest) -> HttpResponse:
    """Ask what goes where, show the figures, and only then ask for the payout."""
    customer = cast(User, request.user)
    available = available_cents(customer)
    if request.method != "POST":
        return asking(request, PayoutForm(available, initial={"form_key": uuid.uuid4()}))
    form, step = PayoutForm(available, request.POST), request.POST.get("step", "")
    if not form.is_valid() or step == "change":
        return asking(request, form, 200 if step == "change" else 409)
    try:
        if step == "ask":
            return redirect(asked(customer, form.cleaned_data))
    except errors.RateMoved as error:
        messages.warning(request, str(error))
    except Refused as error:
        return refused(request, form, error)
    figures = checked_figures(available, form.cleaned_data)
    if isinstance(figures, Refused):
        return refused(request, form, figures)
    return render(request, "payments/payout_check.html", figures_page(form, figures))


def asked(customer: User, data: dict[str, Any]) -> Payout:
    return payouts.request_payout(
        customer,
        data["method"],
        data["usd_cents"],
        data["address"],
        shown_amount=data["shown"],
        form_key=data["form_key"],
    )


def checked_figures(available: int, data: dict[str, Any]) -> Figures | Refused:
    """Return what would arrive, or why nothing can be asked for."""
    if data["usd_cents"] > available:
        return errors.NotThatMuch(localised(available), localised(data["usd_cents"]))
    return figures_of(method_by_code(data["method"]), data["usd_cents"], timezone.now())


def refused(request: HttpRequest, form: PayoutForm, error: Refused) -> HttpResponse:
    form.add_error(None, str(error))
    return asking(request, form, 503 if isinstance(error, errors.NotNow) else 409)


def asking(request: HttpRequest, form: PayoutForm, status: int = 200) -> HttpResponse:
    """Show the form; while changing what was checked, without its errors."""
    offered = list(queries.offered_methods(max(form.available_cents, 1), timezone.now()))
    context = {
        "form": form,
        "form_key": form["form_key"].value() or uuid.uuid4(),
        "available_cents": form.available_cents,
        "methods": [method_card(one) for one in offered],
        "none": all(one.reason for one in offered),
        "ask_sure": form.doubtful,
        "two_above_cents": settings.SECOND_PERSON_ABOVE_CENTS,
        "simulated": is_simulated(),
        "nav_area": "balance",
    }
    return render(request, "payments/payout_ask.html", context, status=status)


def method_card(offered: queries.Offered) -> dict[str, object]:
    method = offered.method
    return {
        "method": method.code,
        "symbol": method.asset.symbol,
        "network": method.family.network,
        "network_name": method.family.name,
        "reason": str(offered.reason or ""),
        "fee_text": plain(fee_of(method), method.asset.decimals),
        "minimum_cents": method.asset.minimum_cents,
    }


def figures_page(form: PayoutForm, figures: Figures) -> dict[str, object]:
    """Return what the page before the request shows: debited, rate, what arrives, what arrives at least."""
    asset, data = figures.method.asset, form.cleaned_data
    return {
        "figures": figures,
        "asset": asset,
        "network": figures.method.family.network,
        "network_name": figures.method.family.name,
        "address": figures.method.family.display(data["receiver"]),
        "rewritten": data["receiver"] != data["address"].strip() and asset.symbol == "LTC",
        "amount_text": plain(figures.amount, asset.decimals),
        "least_text": plain(figures.least, asset.decimals),
        "fee_text": plain(figures.fee, asset.decimals),
        "rate_text": price_text(figures.market.price_e8),
        "slip_percent": settings.PAYOUT_SLIP_BASIS_POINTS / 100,
        "hidden": {
            "method": figures.method.code,
            "amount": plain_usd(figures.usd_cents),
            "address": data["address"],
            "sure": "on" if data["sure"] else "",
            "form_key": data["form_key"],
            "shown": str(figures.amount),
        },
        "nav_area": "balance",
    }


def own_payout(customer: User, number: str) -> Payout:
    """Return the customer's payout with this number, typed in any way; 404 for a wrong one and for anybody else's."""
    symbols = numbers.read(number, settings.PAYOUT_NUMBER_PREFIX)
    found = Payout.objects.select_related("transfer__intent__order", "transfer__intent__topup")
    payout = found.filter(customer=customer, symbols=symbols or "").first()
    if payout is None:
        raise Http404("no such payout")
    return payout


@login_required
@never_cache
def detail(request: HttpRequest, number: str) -> HttpResponse:
    """Show one payout or refund: what, where, how far it is, and everything that happened."""
    payout = own_payout(cast(User, request.user), number)
    if number != payout.number:
        return redirect(payout)
    return render(request, "payments/payout.html", context_of(payout))


@login_required
@never_cache
def status(request: HttpRequest, number: str) -> HttpResponse:
    """Return the part of the page that changes by itself."""
    return render(request, "payments/_payout_status.html", context_of(own_payout(cast(User, request.user), number)))


def context_of(payout: Payout) -> dict[str, object]:
    return {"payout": payout, "page": PayoutPage(payout), "nav_area": "balance"}


@login_required
@require_POST
def cancel(request: HttpRequest, number: str) -> HttpResponse:
    """Take a request back that nobody has approved yet."""
    customer = cast(User, request.user)
    payout = own_payout(customer, number)
    try:
        if payout.is_refund:
            raise errors.PayoutMoved(payout.get_state_display())
        payouts.cancel(payout.pk, actor=customer)
        messages.success(request, _("Cancelled. Its sum is in your balance again."))
    except Refused as error:
        messages.error(request, str(error))
    return redirect(payout)
