"""An order's whole story, from all apps: what happened, and what comes next."""

from dataclasses import dataclass

from django import template
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from config.wording import WORDS
from events.models import Event
from orders.models import Order
from orders.words import Word

register = template.Library()


@dataclass(frozen=True, slots=True)
class NextStep:
    """What the customer can do now, or why they need not do anything."""

    meaning: str
    title: "str | Promise"
    text: "str | Promise" = ""
    url: str = ""
    link: "str | Promise" = ""


@dataclass(frozen=True, slots=True)
class Story:
    """The next step, and whether the page may change by itself."""

    next: NextStep | None
    polls: bool


@register.simple_tag
def order_story(order: Order, payment: Word, rental: dict[str, Word]) -> Story:
    """Return what comes next for an order with these words."""
    provisioning = rental["provisioning"].code
    over = provisioning in ("ended",) or order.state in (Order.State.CANCELLED, Order.State.EXPIRED)
    return Story(next_step(order, payment.code, provisioning), not over)


def next_step(order: Order, payment: str, provisioning: str) -> NextStep | None:
    if order.state == Order.State.SETTLED:
        return after_payment(order, provisioning)
    if not order.is_payable:
        text, link = _("Nothing is reserved any more."), _("Order again")
        return NextStep("attention", _("This order is closed."), text, order.offer.get_absolute_url(), link)
    if payment in ("seen", "confirming"):
        return NextStep(
            "waiting", _("Your payment is on its way."), _("We follow it block by block. You need not do anything.")
        )
    if payment in ("waiting", "declared", "partly_paid"):
        intent = order.intents.latest("created_at")
        url = reverse("payments:intent", args=[intent.pk])
        return NextStep(
            "waiting", _("Your payment instructions are ready."), "", url, _("Open the payment instructions")
        )
    if payment == "help":
        text = _("Your money is kept. You need not do anything meanwhile.")
        return NextStep("attention", _("A person is looking at your payment."), text)
    url, text = (
        reverse("payments:choose", args=[order.number]),
        _("Choose an asset and a network, or pay from your balance."),
    )
    return NextStep("waiting", _("The order is saved and waits for payment."), text, url, _("Choose a payment method"))


def after_payment(order: Order, provisioning: str) -> NextStep | None:
    if provisioning == "active":
        url = reverse("provisioning:access", args=[order.number])
        return NextStep("good", _("Your machine is handed over."), "", url, _("Open the access information"))
    if provisioning == "waiting_for_stock":
        return NextStep(
            "attention", _("Paid, waiting for stock."), _("It stands before an operator. Your money is kept.")
        )
    if provisioning in ("queued", "preparing", "ready"):
        return NextStep(
            "good", _("Paid. An operator prepares your machine."), _("This page changes by itself at hand-over.")
        )
    if provisioning == "not_started":
        return NextStep("good", _("Paid. Provisioning starts now."))
    return None


@register.inclusion_tag("components/timeline.html")
def order_timeline(order: Order) -> dict[str, object]:
    """Show everything that happened to an order, newest first (ORD-8)."""
    rows = Event.objects.filter(thread=f"order:{order.pk}", kind__in=WORDS).order_by("-id")[:200]
    return {"events": [{"at": row.at, "words": words_of(row)} for row in rows]}


def words_of(event: Event) -> "str | Promise":
    if event.kind == "rental.active" and event.data.get("before") == "suspended":
        return _("Rental resumed.")
    return WORDS[event.kind]
