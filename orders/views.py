"""The customer's way to an order, and the orders they have."""

import uuid
from dataclasses import replace
from typing import cast
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts import guests
from accounts.models import User
from catalog.models import Offer, Price
from catalog.pausing import stops
from catalog.queries import readable

from . import actions, choice, drafts
from .choice import Choice
from .clients import client_mark
from .errors import NotNow, PriceChanged, Refused
from .forms import CheckForm
from .models import Environment, Order
from .queries import own_order

PER_PAGE = 20


@never_cache
def checkout(request: HttpRequest) -> HttpResponse:
    """Lead from a choice to a saved order: account, then check (ORD-1). The choice travels in the address."""
    picked = choice.read(request.POST if request.method == "POST" else request.GET)
    price = price_of(picked) if picked else None
    if picked is None or price is None:
        messages.error(request, _("Choose a card, a term and 1 to 10 lots first."))
        return redirect("catalog:list")
    picked = named(picked)
    if not request.user.is_authenticated:
        here = f"{reverse('orders:checkout')}?{picked.query()}"
        context = page(picked, price, "account") | {"next": here, "next_query": urlencode({"next": here})}
        return render(request, "orders/checkout.html", context)
    if request.method == "POST":
        return save(request, picked, price)
    key = key_in(request)
    if key is None:  # in the address, so that the page that "back" leads to still knows whether it was saved (ORD-7)
        return redirect(f"{reverse('orders:checkout')}?{picked.query()}&{urlencode({'form_key': uuid.uuid4()})}")
    if saved := Order.objects.filter(customer=request.user, form_key=key).first():
        messages.info(request, _("This order is saved already: here it is. To order once more, choose a card again."))
        return redirect("orders:detail", saved.number)
    form = CheckForm.fresh(request.user, price.unit_price_cents * picked.lots, key)
    return render(request, "orders/checkout.html", page(picked, price, "check") | {"form": form})


def key_in(request: HttpRequest) -> uuid.UUID | None:
    """Return the key of this showing of the check step, from the address."""
    try:
        return uuid.UUID(request.GET.get("form_key", ""))
    except ValueError:
        return None


def save(request: HttpRequest, picked: Choice, price: Price) -> HttpResponse:
    """Save the order; a refusal comes back on the same page with everything that was entered."""
    form, status = CheckForm(request.POST), 409
    if form.is_valid():
        try:
            order = actions.place_order(
                customer=cast(User, request.user),
                choice=picked,
                contact=form.contact(),
                form_key=form.cleaned_data["form_key"],
                expected_total_cents=form.cleaned_data["expected_total_cents"],
                client=client_mark(request),
            )
            drafts.discard_same(guests.whose(request), picked)
            return redirect("orders:detail", order.number)
        except Refused as refusal:
            form, status = refused(form, refusal, picked), 503 if isinstance(refusal, NotNow) else 409
            price = price_of(picked) or price
    return render(request, "orders/checkout.html", page(picked, price, "check") | {"form": form}, status=status)


def refused(form: CheckForm, refusal: Refused, picked: Choice) -> CheckForm:
    form.add_error(None, str(refusal))
    if isinstance(refusal, PriceChanged) and (price := price_of(picked)):
        data = cast(QueryDict, form.data).copy()
        data["expected_total_cents"] = str(price.unit_price_cents * picked.lots)
        form.data = data
    return form


def price_of(picked: Choice) -> Price | None:
    """Return the price of a choice; that of a paused offer too, so that nothing typed is lost when it is paused."""
    prices = Price.objects.select_related("offer").filter(offer__in=readable())
    return prices.filter(offer__slug=picked.offer_slug, term_days=picked.term_days).first()


def named(picked: Choice) -> Choice:
    """Return the choice with the environment's name; an unknown code is the first of the list."""
    offered = Environment.objects.filter(offered=True)
    environment = offered.filter(code=picked.environment_code).first() or offered.first()
    if environment is None:
        return replace(picked, environment_code="", environment_name="")
    wish = picked.environment_wish if environment.free_text else ""
    return replace(picked, environment_code=environment.code, environment_name=environment.name, environment_wish=wish)


def page(picked: Choice, price: Price, step: str) -> dict[str, object]:
    offer: Offer = price.offer
    return {
        "step": step,
        "offer": offer,
        "choice": picked,
        "cards": picked.lots * offer.cards_per_lot,
        "unit_price_cents": price.unit_price_cents,
        "total_cents": price.unit_price_cents * picked.lots,
        "hold_minutes": settings.HOLD_MINUTES,
        "pause": stops(offer),
        "back_url": f"{offer.get_absolute_url()}?{picked.query()}",
    }


@login_required
def rentals(request: HttpRequest) -> HttpResponse:
    """List the customer's orders, newest first (ORD-8)."""
    orders = Order.objects.filter(customer=cast(User, request.user)).order_by("-id")
    page_obj = Paginator(orders, PER_PAGE).get_page(request.GET.get("page"))
    kept = drafts.of(guests.whose(request))
    return render(request, "orders/list.html", {"orders": list(page_obj), "page_obj": page_obj, "drafts": kept})


@login_required
@never_cache
def detail(request: HttpRequest, number: str) -> HttpResponse:
    """Show one order: what is true now, what happens next, and everything that happened."""
    order = own_order(cast(User, request.user), number)
    if number != order.number:
        return redirect("orders:detail", order.number)
    return render(request, "orders/detail.html", {"order": order, "hold": order.holds.filter(state="held").first()})


@login_required
@never_cache
def status(request: HttpRequest, number: str) -> HttpResponse:
    """Return the part of the order's page that changes by itself."""
    order = own_order(cast(User, request.user), number)
    return render(request, "orders/_status.html", {"order": order, "hold": order.holds.filter(state="held").first()})


@login_required
@require_POST
def cancel(request: HttpRequest, number: str) -> HttpResponse:
    """Cancel an unpaid order (ORD-9)."""
    customer = cast(User, request.user)
    order = own_order(customer, number)
    try:
        actions.cancel_order(order.pk, actor=customer)
        messages.success(request, _("The order is cancelled and its lots are free again."))
    except Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("orders:detail", order.number)


@login_required
@never_cache
def to_balance(request: HttpRequest, number: str) -> HttpResponse:
    """Ask once more on GET; on POST move the sum of a paid order that waits for stock to the balance (ORD-6)."""
    customer = cast(User, request.user)
    order = own_order(customer, number)
    if request.method != "POST":
        return render(request, "orders/to_balance.html", {"order": order})
    try:
        actions.move_to_balance(order.pk, actor=customer)
        messages.success(request, _("The sum is in your balance. The order is given back."))
    except Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("orders:detail", order.number)
