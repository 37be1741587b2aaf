"""An order's whole story, from all apps: what happened, and what comes next."""

from dataclasses import dataclass

from django import template
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from config.wording import MESSAGES, WORDS
from events.actions import subject_of
from events.models import Event
from orders.models import Order
from orders.words import Word
from payments.models import Payout, TopUp

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
    over = provisioning in ("ended",) or order.state in (
        Order.State.CANCELLED,
        Order.State.EXPIRED,
        Order.State.RETURNED,
    )
    return Story(next_step(order, payment.code, provisioning), not over)


def next_step(order: Order, payment: str, provisioning: str) -> NextStep | None:
    if order.state == Order.State.SETTLED:
        return after_payment(order, provisioning)
    if order.state == Order.State.RETURNED:
        url, link = reverse("balance:statement"), _("See the balance")
        return NextStep("good", _("Given back: the sum is in your balance."), _("Nothing is reserved."), url, link)
    if not order.is_payable:
        text, link = _("Nothing is reserved any more."), _("Order again")
        return NextStep("attention", _("This order is closed."), text, order.offer.get_absolute_url(), link)
    if payment == "band":
        text = _("It came a little late. Open the instructions to see until when it may still count.")
        return NextStep("waiting", _("Your payment has arrived and is not decided yet."), text)
    if payment in ("seen", "confirming", "second"):
        return NextStep(
            "waiting", _("Your payment is on its way."), _("We follow it block by block. You need not do anything.")
        )
    if payment in ("waiting", "declared", "partly_paid"):
        intent = order.intents.latest("created_at")
        url = reverse("payments:intent", args=[intent.pk])
        return NextStep(
            "waiting", _("Your payment instructions are ready."), "", url, _("Open the payment instructions")
        )
    if payment == "part":
        text = _("Pay the rest from your balance, if it covers it, or ask for instructions for the rest.")
        return NextStep("attention", _("Money for this order is in your balance."), text)
    if payment == "help":
        text = _("Your money is kept. You need not do anything meanwhile.")
        return NextStep("attention", _("A person is looking at your payment."), text)
    url, text = (
        reverse("payments:choose", args=[order.number]),
        _("Choose an asset and a network, or pay from your balance."),
    )
    return NextStep("waiting", _("The order is saved and waits for payment."), text, url, _("Choose a payment method"))


def after_payment(order: Order, provisioning: str) -> NextStep | None:
    if order.needs_help_at:
        text = _("The order stays paid. A person is looking at it and will tell you; you need not do anything.")
        return NextStep("attention", _("The network took your payment back after it was final."), text)
    if provisioning == "active":
        url = reverse("provisioning:access", args=[order.number])
        return NextStep("good", _("Your machine is handed over."), "", url, _("Open the access information"))
    if provisioning == "waiting_for_stock":
        text = _(
            "No lots are free for this order now. You can wait: they are reserved for it as soon as there are some. "
            "Or move what you paid to your balance."
        )
        url, link = reverse("orders:to_balance", args=[order.number]), _("Move the sum to my balance")
        return NextStep("attention", _("Paid, waiting for stock."), text, url, link)
    if provisioning in ("queued", "preparing", "ready"):
        return NextStep(
            "good", _("Paid. An operator prepares your machine."), _("This page changes by itself at hand-over.")
        )
    if provisioning == "not_started":
        return NextStep("good", _("Paid. Provisioning starts now."))
    return None


@register.inclusion_tag("components/timeline.html")
def payout_timeline(payout: Payout) -> dict[str, object]:
    """Show everything that happened to a payout or refund, newest first. A refund's is told by what it refunds."""
    rows = Event.objects.filter(thread=subject_of(payout.story()), subject=subject_of(payout), kind__in=WORDS)
    return {"events": [{"at": row.at, "words": plain_words(row)} for row in rows.order_by("-id")]}


@register.inclusion_tag("components/timeline.html")
def timeline_of(row: Order | TopUp) -> dict[str, object]:
    """Show everything that happened to an order or a top-up, newest first (ORD-8, BAL-1)."""
    rows = Event.objects.filter(thread=subject_of(row), kind__in=WORDS).order_by("-id")[:200]
    return {"events": [{"at": row.at, "words": words_of(row)} for row in rows]}


@register.filter
def event_words(event: Event) -> "str | Promise":
    """Say what happened as the customer reads it; a kind that customers are not shown is named as it is."""
    return words_of(event) if event.kind in WORDS else event.kind


def words_of(event: Event) -> "str | Promise":
    if event.kind == "rental.active" and event.data.get("before") == "suspended":
        return _("Rental resumed.")
    if event.kind == "message.sent":
        return MESSAGES.get(event.data["about"], WORDS[event.kind])
    return _("Refund: %(what)s") % {"what": plain_words(event)} if is_refund_on(event) else plain_words(event)


def plain_words(event: Event) -> "str | Promise":
    if event.kind == "payout.approved" and event.data.get("before") == Payout.State.SENT:
        return _("The recorded transaction was taken back: it is to be sent again.")
    return WORDS[event.kind]


def is_refund_on(event: Event) -> bool:
    """Tell of an event of a refund that stands on the timeline of an order or a top-up."""
    return event.kind.startswith("payout.") and event.thread != event.subject
