"""What is true of payment instructions, as one word for the customer: facts in, words out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext_lazy as _

from orders.words import Word

from .errors import clock
from .models import ChainTransfer, PaymentIntent

Quote, Funding, Settlement = PaymentIntent.Quote, PaymentIntent.Funding, PaymentIntent.Settlement
Status = ChainTransfer.Status


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the transfers are: confirmations of the youngest one, of how many needed."""

    confirmations: int
    needed: int


def intent_word(
    intent: PaymentIntent, transfers: Sequence[ChainTransfer], progress: Progress, *, payable: bool, now: datetime
) -> Word:
    """Return the word. Money that was seen always comes before the clock: a payer is never shown "expired"."""
    live = [t for t in transfers if not t.is_gone]
    replaced = any(t.status == Status.REPLACED for t in transfers)
    return (
        settled_word(intent)
        or (live_word(intent, live, progress) if live else None)
        or (None if payable else closed_word(intent))
        or clock_word(intent, dropped=bool(transfers), replaced=replaced, now=now)
    )


def settled_word(intent: PaymentIntent) -> Word | None:
    if intent.settlement == Settlement.SETTLED:
        return Word("paid", _("Paid"), "good", _("Your payment is final and the order is paid."))
    if intent.settlement == Settlement.REVIEW:
        return Word("help", _("Needs help"), "attention", _("A person is looking at this payment. Your money is kept."))
    if intent.settlement == Settlement.REVERSED:
        text = _("The network took your transfer back after it was final. A person is looking at it.")
        return Word("reversed", _("Needs help"), "attention", text)
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
    if progress.confirmations >= progress.needed and any(t.status == Status.INCLUDED for t in asked):
        text = _("It has its confirmations. An amount this large also waits until the network calls the block final.")
        return Word("confirming", _("Confirming, waiting for finality"), "waiting", text)
    steps = {"done": min(progress.confirmations, progress.needed), "needed": progress.needed}
    label = _("Confirming, %(done)d of %(needed)d") % steps
    return Word("confirming", label, "waiting", _("Your transfer is in a block. You need not do anything."))


def closed_word(intent: PaymentIntent) -> Word | None:
    """Return the word for a promise that outlived its order: it is honoured, as credit, and no longer offered."""
    if intent.quote not in (Quote.OPEN, Quote.SUPERSEDED):
        return None
    text = _("The order is paid, cancelled or expired. What still arrives becomes credit in your balance.")
    return Word("closed", _("Not needed"), "attention", text)


def superseded_word(intent: PaymentIntent, now: datetime) -> Word:
    text = (
        _("Newer instructions exist: use those. These are honoured until %(time)s.")
        if now < intent.expires_at
        else _("Newer instructions exist: use those. These were honoured until %(time)s.")
    )
    return Word("superseded", _("Superseded"), "attention", text % {"time": clock(intent.expires_at)})


def clock_word(intent: PaymentIntent, *, dropped: bool, replaced: bool, now: datetime) -> Word:
    if intent.quote == Quote.CANCELLED:
        return Word("cancelled", _("Cancelled"), "attention")
    if intent.quote == Quote.SUPERSEDED:
        return superseded_word(intent, now)
    if intent.quote == Quote.EXPIRED and intent.unwatched:
        text = _("The network could not be watched for a day. What you sent in time still counts at the promised rate.")
        return Word("unwatched", _("Expired, not watched"), "attention", text)
    if intent.quote == Quote.EXPIRED:
        return Word("expired", _("Expired"), "attention", _("Nothing arrived in time."))
    if replaced:
        text = _("The sender replaced the payment by another one that does not pay here.")
        return Word("replaced", _("Replaced by its sender"), "attention", text)
    if dropped:
        return Word("dropped", _("Transfer gone"), "attention", _("The network dropped the transfer that we had seen."))
    if intent.declared_at:
        return Word("declared", _("Declared"), "waiting", _("Payment declared. Verification in progress."))
    return Word("waiting", _("Waiting"), "waiting", _("We have not seen your transfer yet."))


def may_send(intent: PaymentIntent, now: datetime, *, payable: bool) -> bool:
    """Tell whether amount, address and QR code may be offered (PAY-9): never after the end, never twice, never for an
    order that is closed."""
    return (
        payable
        and intent.quote == Quote.OPEN
        and intent.ended_at is None
        and now < intent.expires_at
        and intent.funding in (Funding.NONE, Funding.PARTIAL)
    )
