"""What is true of payment instructions, as one word for the customer: facts in, words out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext_lazy as _

from orders.words import Word

from .models import ChainTransfer, PaymentIntent

Quote, Funding, Settlement = PaymentIntent.Quote, PaymentIntent.Funding, PaymentIntent.Settlement
Status = ChainTransfer.Status


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the transfers are: confirmations of the youngest one, of how many needed."""

    confirmations: int
    needed: int


def intent_word(intent: PaymentIntent, transfers: Sequence[ChainTransfer], progress: Progress) -> Word:
    """Return the word. Money that was seen always comes before the clock: a payer is never shown "expired"."""
    live = [t for t in transfers if t.status != Status.DROPPED]
    return (
        settled_word(intent)
        or (live_word(intent, live, progress) if live else None)
        or clock_word(intent, dropped=bool(transfers))
    )


def settled_word(intent: PaymentIntent) -> Word | None:
    if intent.settlement == Settlement.SETTLED:
        return Word("paid", _("Paid"), "good", _("Your payment is final and the order is paid."))
    if intent.settlement == Settlement.REVIEW:
        return Word("help", _("Needs help"), "attention", _("A person is looking at this payment. Your money is kept."))
    if intent.settlement == Settlement.CREDITED and intent.late:
        return Word(
            "late", _("Paid late, credited"), "attention", _("The money is in your balance, at the market rate.")
        )
    if intent.settlement == Settlement.CREDITED:
        return Word("credited", _("Credited"), "good", _("The money is in your balance."))
    return None


def live_word(intent: PaymentIntent, live: Sequence[ChainTransfer], progress: Progress) -> Word:
    asked = [t for t in live if t.method == intent.method]
    if not asked:
        return Word(
            "help", _("Needs help"), "attention", _("Another asset arrived at this address. A person will decide.")
        )
    if any(t.status == Status.SEEN for t in asked):
        return Word("seen", _("Seen"), "waiting", _("The network knows your transfer. It is not in a block yet."))
    if intent.funding == Funding.PARTIAL and not intent.late:
        return Word("partly_paid", _("Partly paid"), "attention", _("Less than the exact amount has arrived so far."))
    steps = {"done": min(progress.confirmations, progress.needed), "needed": progress.needed}
    label = _("Confirming, %(done)d of %(needed)d") % steps
    return Word("confirming", label, "waiting", _("Your transfer is in a block. You need not do anything."))


def clock_word(intent: PaymentIntent, *, dropped: bool) -> Word:
    if intent.quote == Quote.CANCELLED:
        return Word("cancelled", _("Cancelled"), "attention")
    if intent.quote == Quote.SUPERSEDED:
        return Word("superseded", _("Superseded"), "attention", _("Newer instructions exist. Use those."))
    if intent.quote == Quote.EXPIRED:
        return Word("expired", _("Expired"), "attention", _("Nothing arrived in time."))
    if dropped:
        return Word("dropped", _("Transfer gone"), "attention", _("The network dropped the transfer that we had seen."))
    if intent.declared_at:
        return Word("declared", _("Declared"), "waiting", _("Payment declared. Verification in progress."))
    return Word("waiting", _("Waiting"), "waiting", _("We have not seen your transfer yet."))


def may_send(intent: PaymentIntent, now: datetime) -> bool:
    """Tell whether amount, address and QR code may be offered (PAY-9): never after the end, never twice."""
    return (
        intent.quote == Quote.OPEN
        and intent.ended_at is None
        and now < intent.expires_at
        and intent.funding in (Funding.NONE, Funding.PARTIAL)
    )
