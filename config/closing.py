"""Closing an account (ACC-7): what stands in its way is asked of all apps, then one action closes it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache

from accounts.actions.lost import cancel_recovery
from accounts.actions.people import close_account
from accounts.gates import proved_again
from accounts.models import User
from balance.models import Account
from orders.models import Hold, Order
from payments.models import ChainTransfer, PaymentIntent, Payout
from provisioning.models import Rental


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the account stays open for now, and where to go on."""

    title: Promise
    text: Promise
    page: str = ""
    link: Promise | str = ""

    @property
    def url(self) -> str:
        return reverse(self.page) if self.page else ""


RENTALS = gettext_lazy("Go to my rentals")


def money(user: User) -> bool:
    return Account.objects.filter(customer=user).exclude(balance_cents=0).exists()


def money_on_its_way(user: User) -> bool:
    """Tell of a transfer that is seen and not credited yet; dust never will be."""
    waiting = ChainTransfer.objects.filter(intent__customer=user, credited=False, dust=False)
    return waiting.exclude(status__in=ChainTransfer.GONE).exclude(verdict=ChainTransfer.Verdict.KEEP).exists()


def payouts_under_way(user: User) -> bool:
    return Payout.objects.filter(customer=user).on_their_way().exists()


def promises_alive(user: User) -> bool:
    """Tell of payment instructions that may still be paid: a top-up's have no order that would stand in the way."""
    return PaymentIntent.objects.filter(customer=user, ended_at=None).exists()


def orders_open(user: User) -> bool:
    """Tell of an order that is unpaid, or paid and still holding its lots or waiting for them."""
    unpaid = Q(state=Order.State.OPEN)
    unserved = Q(state=Order.State.SETTLED, rental=None)
    held = Q(holds__state=Hold.State.HELD)
    return Order.objects.filter(unpaid | unserved | held, customer=user).exists()


def rentals_running(user: User) -> bool:
    return Rental.objects.filter(order__customer=user).exclude(state=Rental.State.ENDED).exists()


def on_the_staff(user: User) -> bool:
    return user.is_staff


# What must be over first, in the words of the page.
IN_THE_WAY: tuple[tuple[Callable[[User], bool], Reason], ...] = (
    (
        money,
        Reason(
            gettext_lazy("There is money in the balance, or a debt."),
            gettext_lazy("Use it for an order, or ask for a payout there first. It would be lost to you."),
            "balance:statement",
            gettext_lazy("Go to the balance"),
        ),
    ),
    (
        money_on_its_way,
        Reason(
            gettext_lazy("A payment is on its way."),
            gettext_lazy("It becomes yours when the network has confirmed it. Come back then."),
            "orders:list",
            RENTALS,
        ),
    ),
    (
        payouts_under_way,
        Reason(
            gettext_lazy("A payout or refund is under way."),
            gettext_lazy("If it can't be sent, its sum comes back to this account. Wait until it is final."),
            "balance:statement",
            gettext_lazy("Go to the balance"),
        ),
    ),
    (
        promises_alive,
        Reason(
            gettext_lazy("Payment instructions are still alive."),
            gettext_lazy(
                "Cancel them, or wait until their time is over: money sent to them would reach a closed account."
            ),
            "balance:statement",
            gettext_lazy("Go to the balance"),
        ),
    ),
    (
        rentals_running,
        Reason(
            gettext_lazy("A rental has not ended."),
            gettext_lazy("Export what you need and let it end first."),
            "orders:list",
            RENTALS,
        ),
    ),
    (
        orders_open,
        Reason(
            gettext_lazy("An order is open, or its machine is not wiped yet."),
            gettext_lazy("Cancel an unpaid order; it costs nothing. A wiped machine frees its order by itself."),
            "orders:list",
            RENTALS,
        ),
    ),
    (
        on_the_staff,
        Reason(
            gettext_lazy("This account works for the site."),
            gettext_lazy("Another owner takes the role away first."),
        ),
    ),
)


@proved_again
@never_cache
def close(request: HttpRequest) -> HttpResponse:
    """Say what closing does; close when nothing stands in the way any more."""
    user = cast(User, request.user)
    reasons = close_now(user) if request.method == "POST" else in_the_way(user)
    if request.method == "POST" and not reasons:
        logout(request)
        messages.success(request, _("The account is closed. Thank you for having been here."))
        return redirect("home")
    context = {"reasons": reasons, "retention_days": settings.CONTACT_RETENTION_DAYS}
    return render(request, "account/close.html", context)


def in_the_way(user: User) -> list[Reason]:
    return [reason for is_there, reason in IN_THE_WAY if is_there(user)]


def close_now(user: User) -> list[Reason]:
    """Close the account, or return why not. The row is locked first: an order being saved at this moment is seen."""
    with transaction.atomic():
        locked = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        reasons = in_the_way(locked)
        if not reasons:
            cancel_recovery(locked, actor=user)
            close_account(locked)
    return reasons
