"""The customer's payment pages: choose a method, see the instructions, say "I paid"."""

import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST
from django_htmx.http import trigger_client_event

from accounts.models import User
from events.statements import kept_query
from money.units import plain
from orders.errors import Refused
from orders.queries import own_order

from . import queries
from .actions import intents
from .errors import NotNow, NotPayable, TooSmall
from .forms import ChooseForm
from .models import PaymentIntent, Purpose, TopUp
from .pages import history_mark, pages_of, panel_of
from .polled import Looked, Polled, intent_polled
from .validators import asked_with, unchanged, validator_of, with_validator


@login_required
@never_cache
def choose(request: HttpRequest, number: str) -> HttpResponse:
    """Offer the methods for what is left of an order, and make the instructions."""
    return offer_methods(request, number, own_order, intents.open_own_intent)


@login_required
@never_cache
def choose_topup(request: HttpRequest, number: str) -> HttpResponse:
    """Offer the methods for what is left of a top-up, and make the instructions."""
    return offer_methods(request, number, queries.own_topup, open_own_topup)


def offer_methods(
    request: HttpRequest, number: str, own: Callable[[User, str], Purpose], make: Callable[..., PaymentIntent]
) -> HttpResponse:
    """`own` reads what the number names; `make` makes the instructions for it, reads it by itself and locks it."""
    customer = cast(User, request.user)
    form, refusal, status = ChooseForm(request.POST if request.method == "POST" else None), "", 200
    if form.is_bound:
        try:
            if form.is_valid():
                return redirect("payments:intent", make(number, actor=customer, **form.cleaned_data).pk)
            refusal, status = _("Choose one of the methods shown."), 409
        except Refused as error:
            refusal, status = str(error), 503 if isinstance(error, NotNow) else 409
    purpose = own(customer, number)
    if not purpose.is_payable:
        messages.info(request, str(NotPayable()))
        return redirect(purpose)
    context = choices(purpose) | {"form": form, "form_key": uuid.uuid4(), "refusal": refusal}
    return render(request, "payments/choose.html", context, status=status)


def open_own_topup(
    number: str, *, method: str, form_key: uuid.UUID, exchange: bool, pay_if_late: bool, actor: User
) -> PaymentIntent:
    """Make instructions for a top-up, which has nothing that late money could still pay."""
    topup = queries.own_topup(actor, number)
    return intents.open_topup_intent(topup.pk, method, form_key=form_key, actor=actor, exchange=exchange)


def choices(purpose: Purpose) -> dict[str, object]:
    """Return what the choice page shows: every method with its amount or why not, and what is left to pay."""
    left = queries.remainder(purpose)
    offered = list(queries.offered_methods(max(left.rest, 1), timezone.now()))
    networks = Counter(one.method.asset.symbol for one in offered)
    none = all(one.reason for one in offered)
    return {
        "purpose": purpose,
        "nav_area": "balance" if isinstance(purpose, TopUp) else "orders",
        "left": left,
        "methods": [choice_card(one, networks[one.method.asset.symbol]) for one in offered],
        "too_small": none and any(isinstance(one.reason, TooSmall) for one in offered),
        "exchange_minutes": settings.INTENT_MINUTES["exchange"],
    }


def choice_card(offered: queries.Offered, networks: int) -> dict[str, object]:
    """Return one method; `networks`: on how many its symbol is offered, since those are told apart at every step."""
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
        "minutes": settings.INTENT_MINUTES[offered.method.volatility],
        "elsewhere": networks > 1,
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
    found.purpose.customer = customer  # no query for whom we know
    return found


@login_required
@never_cache
def intent(request: HttpRequest, intent_id: uuid.UUID) -> HttpResponse:
    """Show the instructions, how far the payment is, and all earlier instructions for the same."""
    customer = cast(User, request.user)
    polled = or_404(intent_polled(customer, intent_id, timezone.now()))
    context = context_of(customer, intent_id, polled) | {"asked_with": asked_with(validator_of(request, polled))}
    return render(request, "payments/intent.html", context)


@login_required
@never_cache
def status(request: HttpRequest, intent_id: uuid.UUID) -> HttpResponseBase:
    """Return the part of the instructions that changes by itself, and of the others what the open page lacks; only that
    nothing has changed, while the page shows what is true."""
    customer, now = cast(User, request.user), timezone.now()
    polled = or_404(intent_polled(customer, intent_id, now))
    validator = validator_of(request, polled)
    if same := unchanged(request, validator):
        return ticked(same, polled.looked, now)
    context = context_of(customer, intent_id, polled) | {"asked_with": asked_with(validator)}
    changed = {name: request.GET.get(name) != context[name] for name in ("sending", "listed")}
    return with_validator(render(request, "payments/_status.html", context | {"changed": changed}), validator)


def or_404(polled: Polled | None) -> Polled:
    """Return what was read; 404 for instructions that the customer does not have."""
    if polled is None:
        raise Http404("no such payment instructions")
    return polled


def ticked(answer: HttpResponseBase, looked: Looked, now: datetime) -> HttpResponseBase:
    """Tell the open page what grows older while nothing changes, for static/js/clock.js: our time, how many seconds ago
    the network was read, and up to which block."""
    return trigger_client_event(answer, "ticked", {"now": int(now.timestamp()), **asdict(looked)})


@kept_query
def shown_intents(keys: list[Any]) -> QuerySet[PaymentIntent]:
    rows = PaymentIntent.objects.select_related("order", "topup", "address")
    return rows.filter(pk__in=keys).order_by("-created_at")


def context_of(customer: User, intent_id: uuid.UUID, polled: Polled) -> dict[str, object]:
    intents = shown_intents(list(polled.intents))
    for one in intents:
        one.order, one.topup = intents[0].order, intents[0].topup  # the same thing, not a copy for each
    purpose = intents[0].purpose
    purpose.customer = customer  # no query for whom we know
    history = pages_of(purpose, intents)
    page = next(page for page in history if page.intent.pk == intent_id)
    return {
        "intent": page.intent,
        "order": page.intent.order,
        "nav_area": "balance" if page.for_topup else "orders",
        "page": page,
        "history": history,
        "sending": page.sending,
        "listed": history_mark(history),
        "looked": polled.looked,
        **panel_of(purpose, history),
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
def choose_late(request: HttpRequest, intent_id: uuid.UUID) -> HttpResponse:
    """Note whether money that is too late shall still pay the order."""
    customer = cast(User, request.user)
    wanted = request.POST.get("pay_if_late") == "yes"
    found = intents.choose_late(own_intent(customer, intent_id).pk, pay_if_late=wanted, actor=customer)
    return redirect("payments:intent", found.pk)


@login_required
@require_POST
def pay_from_balance(request: HttpRequest, number: str) -> HttpResponse:
    """Pay the whole order from the balance (BAL-3)."""
    try:
        intents.pay_own_from_balance(number, actor=cast(User, request.user))
        messages.success(request, _("The order is paid from your balance."))
    except Refused as error:
        messages.error(request, str(error))
    return redirect("orders:detail", number)
