"""What is true of payment instructions, as one word for the customer: facts in, words out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext_lazy as _

from orders.words import Word

from .errors import clock
from .models import ChainTransfer, PaymentIntent, TopUp

Quote, Funding, Settlement = PaymentIntent.Quote, PaymentIntent.Funding, PaymentIntent.Settlement
Status = ChainTransfer.Status


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the transfers are: confirmations of the youngest one, of how many needed."""

    confirmations: int
    needed: int


@dataclass(frozen=True, slots=True)
class Waits:
    """What final money still waits for: a second provider (`second`), or the end of the time in which a little late
    money may still count (`band_until`)."""

    second: bool = False
    band_until: datetime | None = None


def intent_word(
    intent: PaymentIntent,
    transfers: Sequence[ChainTransfer],
    progress: Progress,
    *,
    payable: bool,
    now: datetime,
    waits: Waits | None = None,
) -> Word:
    """Return the word. Money that was seen always comes before the clock: a payer is never shown "expired"."""
    waits = waits or Waits()
    live = [t for t in transfers if not t.is_gone]
    replaced = any(t.status == Status.REPLACED for t in transfers)
    coming = [t for t in live if t.method == intent.method and t.status in (Status.SEEN, Status.INCLUDED)]
    if coming and intent.settlement == Settlement.CREDITED:
        return live_word(intent, coming, progress, waits)
    return (
        settled_word(intent)
        or (live_word(intent, live, progress, waits) if live else None)
        or (None if payable else closed_word(intent))
        or clock_word(intent, dropped=bool(transfers), replaced=replaced, now=now)
    )


def settled_word(intent: PaymentIntent) -> Word | None:
    if intent.settlement == Settlement.SETTLED and intent.topup_id:
        return Word("paid", _("Paid"), "good", _("Your payment is final and in your balance."))
    if intent.settlement == Settlement.SETTLED:
        return Word("paid", _("Paid"), "good", _("Your payment is final and the order is paid."))
    if intent.settlement == Settlement.REVIEW:
        return Word("help", _("Needs help"), "attention", _("A person is looking at this payment. Your money is kept."))
    if intent.settlement == Settlement.REVERSED:
        text = _(
            "The network took your transfer back after it was final, so its credit was taken back too. A person is "
            "looking at it; if the transfer comes back, it is credited again."
        )
        return Word("reversed", _("Needs help"), "attention", text)
    if intent.settlement == Settlement.CREDITED and intent.late:
        return Word(
            "late", _("Paid late, credited"), "attention", _("The money is in your balance, at the market rate.")
        )
    if intent.settlement == Settlement.CREDITED:
        return Word("credited", _("Credited"), "good", _("The money is in your balance."))
    return None


def live_word(intent: PaymentIntent, live: Sequence[ChainTransfer], progress: Progress, waits: Waits) -> Word:
    asked = [t for t in live if t.method == intent.method]
    if not asked:
        return Word(
            "help", _("Needs help"), "attention", _("Another asset arrived at this address. A person will decide.")
        )
    if any(t.status == Status.SEEN for t in asked):
        return Word("seen", _("Seen"), "waiting", _("The network knows your transfer. It is not in a block yet."))
    if waits.second:
        text = _("Your transfer is final. An amount this large must also be confirmed by a second source: we ask it.")
        return Word("second", _("Waiting for a second confirmation"), "waiting", text)
    if waits.band_until:
        return band_word(waits.band_until)
    if intent.funding == Funding.PARTIAL and not intent.late:
        return Word("partly_paid", _("Partly paid"), "attention", _("Less than the exact amount has arrived so far."))
    if progress.confirmations >= progress.needed and any(t.status == Status.INCLUDED for t in asked):
        text = _("It has its confirmations. An amount this large also waits until the network calls the block final.")
        return Word("confirming", _("Confirming, waiting for finality"), "waiting", text)
    steps = {"done": min(progress.confirmations, progress.needed), "needed": progress.needed}
    label = _("Confirming, %(done)d of %(needed)d") % steps
    return Word("confirming", label, "waiting", _("Your transfer is in a block. You need not do anything."))


def band_word(until: datetime) -> Word:
    text = _(
        "It came after the time was over. Together with what else arrives until %(time)s it may still pay the order; "
        "this is decided once the network was read up to then. Otherwise it becomes credit in your balance."
    )
    return Word("band", _("Late, not decided yet"), "waiting", text % {"time": clock(until)})


def closed_word(intent: PaymentIntent) -> Word | None:
    """Return the word for a promise that outlived its order: it is honoured, as credit, and no longer offered."""
    if intent.quote not in (Quote.OPEN, Quote.SUPERSEDED):
        return None
    text = (
        _("The top-up is covered. What still arrives becomes credit in your balance.")
        if intent.topup_id
        else _("The order is paid, cancelled or expired. What still arrives becomes credit in your balance.")
    )
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


def topup_word(topup: TopUp, intents: Iterable[PaymentIntent]) -> Word:
    """Return the word for a top-up in a list, from its row and those of its instructions."""
    intents = list(intents)
    done = {intent.settlement for intent in intents}
    if done & {Settlement.REVIEW, Settlement.REVERSED}:
        return Word("help", _("Needs help"), "attention", _("A person is looking at this payment. Your money is kept."))
    if topup.state == TopUp.State.SETTLED:
        return Word("covered", _("Covered"), "good", _("What arrived is in your balance."), at=topup.settled_at)
    if any(i.settlement == Settlement.UNSETTLED and i.funding != Funding.NONE for i in intents):
        return Word("seen", _("Payment seen"), "waiting", _("It is credited as soon as it is final."))
    if Settlement.CREDITED in done:
        return Word("partly_paid", _("Partly credited"), "attention", _("What has arrived is in your balance."))
    if any(intent.ended_at is None for intent in intents):
        return Word("waiting", _("Waiting"), "waiting", _("We have not seen your transfer yet."))
    return Word("unpaid", _("Not paid"), "waiting", _("Choose a payment method to add this amount."))


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
