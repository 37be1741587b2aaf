"""What an order's page shows of its payments."""

import uuid
from collections.abc import Iterable

from django import template
from django.conf import settings
from django.template import Context
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from balance.models import Movement
from balance.queries import Row
from orders.models import Order
from orders.words import Word, payment_word
from payments.corrections import refusal_of, undone_by
from payments.models import ChainTransfer, Payout, TopUp
from payments.pages import IntentPage, pages_of, panel_of
from payments.payout_page import PayoutPage
from payments.payouts import GOODWILL, NO_PAYMENT, refundable_of
from payments.queries import pending_cents
from payments.shown import transferred
from payments.statement import Line, lines_of
from payments.words import topup_word

register = template.Library()
SHOWN_FIRST = ("paid", "help", "confirming", "second", "band", "seen", "partly_paid", "declared", "waiting")
NEWEST_TOPUPS = NEWEST_PAYOUTS = 10


@register.simple_tag
def payment_pages(order: Order) -> list[IntentPage]:
    """Read an order's payment instructions once, for the tags below."""
    return pages_of(order)


@register.inclusion_tag("payments/_panel.html")
def payment_panel(order: Order, pages: list[IntentPage]) -> dict[str, object]:
    """Show the history of an order's payment instructions, each with its own state and "I paid" button (PAY-3)."""
    return panel_of(order, pages)


@register.simple_tag
def payment_fact(order: Order, pages: list[IntentPage]) -> Word:
    """Return the payment state of an order, from its instructions: the one that is furthest counts."""
    if not order.is_payable:
        return payment_word(order)
    for code in SHOWN_FIRST:
        for page in pages:
            if page.word.code == code:
                return page.word
    if any(page.word.code in ("credited", "late") for page in pages):
        text = _("What arrived is in your balance. It did not pay the order by itself.")
        return Word("part", _("not paid, money in the balance"), "attention", text)
    return payment_word(order)


@register.inclusion_tag("payments/_topups.html")
def topup_panel(customer: User) -> dict[str, object]:
    """Show the amounts that can be added to a balance, and the newest top-ups (BAL-1)."""
    rows = TopUp.objects.filter(customer=customer).prefetch_related("intents")[:NEWEST_TOPUPS]
    return {
        "amounts": settings.TOPUP_CENTS,
        "form_key": uuid.uuid4(),
        "topups": [(topup, topup_word(topup, topup.intents.all())) for topup in rows],
    }


@register.inclusion_tag("payments/_payouts.html")
def payout_panel(customer: User, available_cents: int) -> dict[str, object]:
    """Show the way to a payout of the balance, and the newest payouts and refunds (BAL-7)."""
    rows = Payout.objects.filter(customer=customer)[:NEWEST_PAYOUTS]
    return {"available_cents": available_cents, "payouts": [PayoutPage(row) for row in rows]}


@register.inclusion_tag("payments/_admin_counter_link.html")
def counter_link(movement: Movement) -> dict[str, object]:
    """Show the staff how an entry is undone, by what it was, or why it can't be."""
    return {"movement": movement, "counter": undone_by(movement), "refusal": refusal_of(movement)}


@register.simple_tag
def pending_money(customer: User) -> int:
    """Return the cents that are on their way and not credited yet."""
    return pending_cents(customer)


@register.simple_tag
def statement_lines(rows: Iterable[Row]) -> list[tuple[Row, Line]]:
    """Return each row of a statement with its line in words."""
    rows = list(rows)
    lines = lines_of(row.movement for row in rows)
    return [(row, lines[row.movement.pk]) for row in rows]


@register.inclusion_tag("payments/_admin_refunds.html", takes_context=True)
def order_refunds(context: Context, order: Order) -> dict[str, object]:
    """Show operators what of an order's money can be sent back, and where; or why nothing can (case 96)."""
    transfers = list(ChainTransfer.objects.filter(intent__order=order, dust=False).known().order_by("pk"))
    return {
        "rows": [(transfer, transferred(transfer), refundable_of(transfer)) for transfer in transfers],
        "no_payment": NO_PAYMENT,
        "goodwill": GOODWILL,
        "perms": context["perms"],
    }


@register.inclusion_tag("payments/_admin_refunds.html", takes_context=True)
def transfer_refunds(context: Context, transfer: ChainTransfer) -> dict[str, object]:
    """Show operators what of one transfer can be sent back."""
    rows = [(transfer, transferred(transfer), refundable_of(transfer))]
    return {"rows": rows, "goodwill": GOODWILL, "perms": context["perms"]}
