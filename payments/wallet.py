"""The demo wallet: pays and mines on the simulated chain. It exists in a simulated installation only."""

import uuid
from typing import cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import User
from money.units import plain
from orders import numbers

from .forms import PayForm
from .models import PaymentIntent, Payout
from .networks.simulated_chain import Sent
from .pages import page_of
from .payout_page import PayoutPage
from .registry import families, is_simulated, method, methods, simulated_chain


@login_required
def wallet(request: HttpRequest) -> HttpResponse:
    """Show the wallet of one network, filled in for an intent of this customer; pay or mine on POST."""
    if not is_simulated():
        raise Http404("real networks have no demo wallet")
    intent, payout = asked_intent(request), asked_payout(request)
    network = intent.network if intent else asked_network(request)
    chain = simulated_chain(network)
    form = PayForm(network, initial=filled(intent) if intent else to_send(payout))
    if request.method == "POST" and request.POST.get("action") == "mine":
        chain.mine()
        messages.success(request, _("A block was mined."))
        return redirect(request.get_full_path())
    if request.method == "POST":
        form = PayForm(network, request.POST)
        if form.is_valid():
            txid = pay(form)
            messages.success(request, _("Sent. The network will put it into its next block."))
            if payout:
                return redirect(f"{reverse('admin:payments_payout_change', args=[payout.pk])}?txid={txid}")
            return redirect(reverse("payments:intent", args=[intent.pk]) if intent else request.get_full_path())
    context = {
        "form": form,
        "network": network,
        "networks": list(families().values()),
        "head": chain.head().height,
        "back_url": reverse("payments:intent", args=[intent.pk]) if intent else "",
        "payout_url": reverse("admin:payments_payout_change", args=[payout.pk]) if payout else "",
        "transfers": [row(sent, network) for sent in chain.recent(10)],
    }
    return render(request, "payments/wallet.html", context)


def asked_network(request: HttpRequest) -> str:
    """Return the network that the address names, or the first one."""
    asked = request.GET.get("network", "")
    return asked if asked in families() else next(iter(families()))


def pay(form: PayForm) -> str:
    """Send what the form says; return the transaction's id."""
    data = form.cleaned_data
    chosen = method(data["method"])
    return simulated_chain(chosen.family.network).pay(
        data["address"], data["units"], method=chosen.code, contract=chosen.asset.contract
    )


def asked_intent(request: HttpRequest) -> PaymentIntent | None:
    try:
        key = uuid.UUID(request.GET.get("intent", ""))
    except ValueError:
        return None
    return (
        PaymentIntent.objects.select_related("order", "topup", "address")
        .filter(pk=key, customer=cast(User, request.user))
        .first()
    )


def asked_payout(request: HttpRequest) -> Payout | None:
    """Return the approved payout that an operator wants to send."""
    if not request.user.has_perm("payments.decide_payout"):
        return None
    symbols = numbers.read(request.GET.get("payout", ""), settings.PAYOUT_NUMBER_PREFIX)
    return Payout.objects.filter(symbols=symbols or "", state=Payout.State.APPROVED).first()


def to_send(payout: Payout | None) -> dict[str, str] | None:
    if payout is None:
        return None
    page = PayoutPage(payout)
    return {"method": payout.method, "address": page.address, "amount": page.amount_text}


def filled(intent: PaymentIntent) -> dict[str, str]:
    page = page_of(intent)
    return {"method": intent.method, "address": page.address_text, "amount": page.missing_text}


def row(sent: Sent, network: str) -> dict[str, object]:
    """Return one line of the wallet's list."""
    chosen = {m.code: m for m in methods()}.get(sent.payment.method or "")
    included = sent.block is not None
    return {
        "amount_text": plain(sent.payment.amount, chosen.asset.decimals) if chosen else str(sent.payment.amount),
        "symbol": chosen.asset.symbol if chosen else sent.payment.contract or "",
        "network_name": families()[network].name,
        "address": chosen.family.display(sent.payment.address) if chosen else sent.payment.address,
        "at": sent.sent_at,
        "meaning": "good" if included else "waiting",
        "word": _("in a block") if included else _("waiting for a block"),
    }
