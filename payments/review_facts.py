"""A review item in words: what it is about, and its facts as an operator reads them."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise as Words
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from money.usd import localised
from orders.models import Order

from .models import ChainTransfer, PaymentIntent, Purpose, ReviewItem
from .previews import market_cents
from .registry import families
from .shown import coins, transferred

Reason = ReviewItem.Reason
# Facts that are shown as they are.
LABELS: dict[str, str | Words] = {
    "address": _("Address"),
    "block": _("Block"),
    "common_height": _("Last common block"),
    "derived": _("Address that our key derives"),
    "error": _("Error"),
    "found": _("What the payment doctor found"),
    "last_used_index": _("Last index in use elsewhere"),
    "networks": _("Networks"),
    "stored": _("Address in the database"),
    "note": _("The customer's note"),
    "text": _("What the customer pasted"),
    "txid": _("Transaction"),
}
# The asset of the amounts is written beside them; an earlier decision stands below the facts.
IMPLIED = {"asset", "method", "anew_from"}
SUMS: dict[str, str | Words] = {
    "amount": _("Amount"),
    "stored": _("Amount stored before"),
    "chain": _("On the chain"),
    "books": _("In the books"),
}
# Subjects that have a page in the admin, with what they are called.
SUBJECTS: dict[str, str | Words] = {
    "chaintransfer": _("transfer"),
    "paymentintent": _("payment instructions"),
    "networkcursor": _("network"),
    "reservedaddress": _("reserved address"),
    "inquiry": _("inquiry"),
}


@dataclass(frozen=True, slots=True)
class Link:
    text: str
    url: str = ""


Line = tuple[str | Words, str | Link]


def link_to(purpose: Purpose) -> Link:
    page = "orders_order" if isinstance(purpose, Order) else "payments_topup"
    return Link(purpose.number, reverse(f"admin:{page}_change", args=[purpose.pk]))


def links_of(item: ReviewItem) -> list[Link]:
    """Return what an item is about, without a query if its transfer is there: order or top-up, then the row itself."""
    found = [link_to(item.transfer.intent.purpose)] if item.transfer else []
    return [*found, subject_link(item)]


def subject_link(item: ReviewItem) -> Link:
    model, _colon, key = item.subject.partition(":")
    if model not in SUBJECTS:
        return Link(item.subject)
    shown = key if model == "networkcursor" else key[:8]
    return Link(f"{SUBJECTS[model]} {shown}", reverse(f"admin:payments_{model}_change", args=[key]))


def transfer_of(item: ReviewItem) -> ChainTransfer | None:
    """Return the transfer that an item is about, also if a decision about it would not be about the transfer."""
    rows = ChainTransfer.objects.select_related("intent__order", "intent__topup", "intent__customer")
    model, _colon, key = item.subject.partition(":")
    named = int(key) if model == "chaintransfer" and key.isdecimal() else 0
    return rows.filter(pk=item.transfer_id or named).first()


def intent_of(item: ReviewItem, transfer: ChainTransfer | None) -> PaymentIntent | None:
    if transfer:
        return transfer.intent
    model, _colon, key = item.subject.partition(":")
    rows = PaymentIntent.objects.select_related("order", "topup", "customer")
    if model == "inquiry":
        return rows.filter(inquiries__pk=key).first()
    return rows.filter(pk=key).first() if model == "paymentintent" else None


def facts_of(item: ReviewItem) -> list[Line]:
    """Return an item's facts, most telling first, with few queries."""
    transfer = transfer_of(item)
    intent = intent_of(item, transfer)
    return [
        *(transfer_facts(transfer) if transfer else []),
        *(intent_facts(intent) if intent else []),
        *told_facts(item, transfer),
        (_("About"), subject_link(item)),
    ]


def transfer_facts(transfer: ChainTransfer) -> list[Line]:
    cents = market_cents(transfer, timezone.now())
    worth = localised(cents) if cents is not None else str(_("unknown: there is no price"))
    status = f"{transfer.get_status_display()}, {transfer.confirmations}"
    return [
        (_("Arrived"), transferred(transfer)),
        (_("Worth at the market"), worth),
        (_("State and confirmations"), status),
        (_("Transaction"), Link(transfer.txid, explorer(transfer))),
    ]


def explorer(transfer: ChainTransfer) -> str:
    family = families().get(transfer.network)
    return (family.transaction_url(transfer.txid) if family else None) or ""


def intent_facts(intent: PaymentIntent) -> list[Line]:
    promised = f"{coins(intent.amount, intent.method)} = {localised(intent.usd_cents)}"
    return [
        (_("Order or top-up"), link_to(intent.purpose)),
        (_("Customer"), str(intent.customer)),
        (_("Promised"), promised),
        (_("State of the instructions"), f"{intent.get_quote_display()}, {intent.get_settlement_display()}"),
    ]


def told_facts(item: ReviewItem, transfer: ChainTransfer | None) -> list[Line]:
    """Return what was written when the item was opened."""
    lines: list[Line] = []
    for name, value in item.facts.items():
        if name in SUMS and str(value).isdecimal():
            if not (name == "amount" and item.transfer_id):  # the transfer says it
                lines.append((SUMS[name], coins(int(value), asset_code(item, transfer))))
        elif name == "customer":
            lines.append((_("Customer"), str(User.objects.filter(pk=value).first() or value)))
        elif value and name not in IMPLIED:
            lines.append((LABELS.get(name, name), str(value)))
    return lines


def asset_code(item: ReviewItem, transfer: ChainTransfer | None) -> str:
    return item.facts.get("asset") or item.facts.get("method") or (transfer.method if transfer else "")
