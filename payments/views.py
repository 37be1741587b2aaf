"""The customer's payment pages: choose a method, see the instructions, say "I paid"."""

import uuid
from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts.models import User
from balance.queries import available_cents
from money.units import plain
from orders.errors import Refused
from orders.queries import own_order

from . import queries
from .actions import intents
from .errors import NotNow, NotPayable
from .forms import ChooseForm
from .models import PaymentIntent
from .pages import history_mark, page_of, pages_of


@login_required
@never_cache
def choose(request: HttpRequest, number: str) -> HttpResponse:
    """Offer the methods with the amount each would ask for, and make the instructions."""
    customer = cast(User, request.user)
    order = own_order(customer, number)
    if not order.is_payable:
        messages.info(request, str(NotPayable()))
        return redirect("orders:detail", order.number)
    refusal, status = "", 200
    if request.method == "POST":
        form = ChooseForm(request.POST)
        if form.is_valid():
            try:
                data = form.cleaned_data
                intent = intents.open_intent(order.pk, data["method"], form_key=data["form_key"], actor=customer)
                return redirect("payments:intent", intent.pk)
            except Refused as error:
                refusal, status = str(error), 503 if isinstance(error, NotNow) else 409
        else:
            refusal, status = _("Choose one of the methods shown."), 409
    context = {
        "order": order,
        "methods": [
            choice_card(offered) for offered in queries.offered_methods(queries.rest_cents(order), timezone.now())
        ],
        "form_key": uuid.uuid4(),
        "refusal": refusal,
        "available_cents": available_cents(customer),
    }
    return render(request, "payments/choose.html", context, status=status)


def choice_card(offered: queries.Offered) -> dict[str, object]:
    asset = offered.method.asset
    return {
        "method": offered.method.code,
        "symbol": asset.symbol,
        "name": asset.name,
        "network": offered.method.family.network,
        "network_name": offered.method.family.name,
        "available": offered.reason is None,
        "reason": str(offered.reason or ""),
        "amount_text": plain(offered.amount, asset.decimals) if offered.amount else "",
    }


def own_intent(customer: User, intent_id: uuid.UUID) -> PaymentIntent:
    """Return the customer's intent; 404 for anybody else's."""
    found = (
        PaymentIntent.objects.select_related("order", "topup", "address")
        .filter(customer=customer, pk=intent_id)
        .first()
    )
    if found is None:
        raise Http404("no such payment instructions")
    return found


@login_required
@never_cache
def intent(request: HttpRequest, intent_id: uuid.UUID) -> HttpResponse:
    """Show the instructions, how far the payment is, and all earlier instructions of the order."""
    return render(request, "payments/intent.html", context_of(own_intent(cast(User, request.user), intent_id)))


@login_required
@never_cache
def status(request: HttpRequest, intent_id: uuid.UUID) -> HttpResponse:
    """Return the part of the instructions that changes by itself, and of the others what the open page lacks."""
    context = context_of(own_intent(cast(User, request.user), intent_id))
    changed = {name: request.GET.get(name) != context[name] for name in ("sending", "listed")}
    return render(request, "payments/_status.html", context | {"changed": changed})


def context_of(found: PaymentIntent) -> dict[str, object]:
    history = pages_of(found.purpose)
    page = next((p for p in history if p.intent.pk == found.pk), None) or page_of(found)
    return {
        "intent": found,
        "order": found.order,
        "page": page,
        "history": history,
        "sending": page.sending,
        "listed": history_mark(history),
    }


@login_required
@require_POST
def declare(request: HttpRequest, intent_id: uuid.UUID) -> HttpResponse:
    """Note "I paid" on this one intent; it settles nothing (PAY-4)."""
    customer = cast(User, request.user)
    found = intents.declare(own_intent(customer, intent_id).pk, actor=customer)
    return redirect("payments:intent", found.pk)


@login_required
@require_POST
def cancel(request: HttpRequest, intent_id: uuid.UUID) -> HttpResponse:
    """End a promise early."""
    customer = cast(User, request.user)
    found = own_intent(customer, intent_id)
    try:
        intents.cancel(found.pk, actor=customer)
        messages.success(request, _("These instructions are cancelled. Do not send to their address."))
    except Refused as error:
        messages.error(request, str(error))
    return redirect(found.purpose)


@login_required
@require_POST
def pay_from_balance(request: HttpRequest, number: str) -> HttpResponse:
    """Pay the whole order from the balance (BAL-3)."""
    customer = cast(User, request.user)
    order = own_order(customer, number)
    try:
        intents.pay_from_balance(order.pk, actor=customer)
        messages.success(request, _("The order is paid from your balance."))
    except Refused as error:
        messages.error(request, str(error))
    return redirect("orders:detail", order.number)
