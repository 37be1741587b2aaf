"""The demo wallet: pays and mines on the simulated chain. It exists in a simulated installation only."""

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from .forms import PayForm
from .models import PaymentIntent
from .pages import page_of
from .registry import is_simulated, method, simulated_chain


@login_required
def wallet(request: HttpRequest) -> HttpResponse:
    """Show the wallet, filled in for an intent of this customer; pay or mine on POST."""
    if not is_simulated():
        raise Http404("real networks have no demo wallet")
    intent = asked_intent(request)
    form = PayForm(initial=filled(intent) if intent else None)
    if request.method == "POST" and "mine" in request.POST:
        simulated_chain(request.POST.get("network", "ethereum")).mine()
        messages.success(request, _("A block was mined."))
        return redirect(request.get_full_path())
    if request.method == "POST":
        form = PayForm(request.POST)
        if form.is_valid():
            pay(form)
            messages.success(request, _("Sent. The network will put it into its next block."))
            return redirect(reverse("payments:intent", args=[intent.pk]) if intent else request.get_full_path())
    recent = simulated_chain("ethereum").recent(10)
    return render(request, "payments/wallet.html", {"form": form, "intent": intent, "recent": recent})


def pay(form: PayForm) -> None:
    data = form.cleaned_data
    chosen = method(data["method"])
    simulated_chain(chosen.family.network).pay(
        data["address"], data["units"], method=chosen.code, contract=chosen.asset.contract
    )


def asked_intent(request: HttpRequest) -> PaymentIntent | None:
    try:
        key = uuid.UUID(request.GET.get("intent", ""))
    except ValueError:
        return None
    return PaymentIntent.objects.select_related("order", "address").filter(pk=key, customer=request.user).first()


def filled(intent: PaymentIntent) -> dict[str, str]:
    page = page_of(intent)
    return {"method": intent.method, "address": page.address_text, "amount": page.amount_text}
