"""The lines of a story: what happened and what is true of it, from all apps, each with its time. Rows in, lines out."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from balance.models import Movement
from events.models import Event
from money.usd import localised
from orders.words import Word
from payments import doctor, inquiry_pages
from payments.doctor import Diagnosis, Stored
from payments.models import Inquiry, ReviewItem
from payments.pages import IntentPage
from payments.payout_page import PayoutPage
from payments.registry import method_name
from payments.review_facts import explorer
from payments.shown import coins, transferred
from payments.statement import Line

from .models import Lookup

Text = str | Promise
# Told by lines of their own, with more than the event says.
TOLD_ELSEWHERE = frozenset({"intent.opened", "transfer.seen", "review.opened", "review.decided"})


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled value of a line: text, or a time."""

    label: Text
    value: Text = ""
    at: datetime | None = None
    mono: bool = False
    url: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """A page of the admin where somebody may act, if they have this permission."""

    permission: str
    url: str
    label: Text


@dataclass(frozen=True, slots=True)
class Entry:
    """One line. An `event` is put into words by the template: the words are those that the customer reads.

    `about` says what kind of thing it is, `title` and `word` what is true, `text` more of it; `by` names the actor.
    Without `about` the text is the whole line.
    """

    at: datetime
    about: Text = ""
    title: Text = ""
    word: Word | None = None
    text: Text = ""
    facts: tuple[Fact, ...] = ()
    event: Event | None = None
    by: Text = ""
    act: Act | None = None


def of_event(event: Event, customer: User) -> Entry:
    reason = event.data.get("reason", "")
    return Entry(event.at, event=event, by=named(event.actor, customer), text=reason if event.actor_id else "")


def named(actor: User | None, customer: User) -> Text:
    """Return who did something; nothing for the system."""
    if actor is None:
        return ""
    return _("the customer") if actor.pk == customer.pk else str(actor)


def of_intent(page: IntentPage) -> Entry:
    """Say what the customer was asked to pay, and what the customer reads of it now."""
    intent = page.intent
    facts = [
        Fact(_("Amount"), f"{coins(intent.amount, intent.method)} = {localised(intent.usd_cents)}"),
        Fact(_("Address"), page.address_text, mono=True),
        Fact(_("Valid until"), at=intent.expires_at),
    ]
    if intent.declared_at:
        facts.append(Fact(_("“I paid” pressed"), at=intent.declared_at))
    if intent.exchange:
        facts.append(Fact(_("Paid from"), _("an exchange")))
    if intent.pay_if_late:
        facts.append(Fact(_("If late"), _("still pays the order")))
    title = method_name(page.method)
    about = _("Payment instructions")
    return Entry(intent.created_at, about, title, page.word, page.word.text, tuple(facts))


def of_transfer(stored: Stored) -> Entry:
    """Say what arrived, how far it is, and what became of it, in the doctor's words."""
    row = stored.row
    found = doctor.of_row(stored, None)
    word = inquiry_pages.word_of(found)
    done = {"done": found.confirmations, "needed": found.needed}
    facts = [
        Fact(_("Transaction"), row.txid, mono=True, url=explorer(row)),
        Fact(_("On the chain"), row.get_status_display()),
    ]
    if not row.is_gone:
        facts.append(Fact(_("Confirmations"), _("%(done)d of %(needed)d") % done))
    if stored.cents is not None:
        facts.append(Fact(_("Credited"), localised(stored.cents)))
    if row.replaced_by:
        facts.append(Fact(_("Replaced by"), row.replaced_by, mono=True))
    return Entry(row.first_seen_at, _("Transfer"), transferred(row), word, word.text, tuple(facts))


def of_movement(movement: Movement, line: Line, customer: User) -> Entry:
    """Say what moved in the ledger, signed as the customer's statement shows it."""
    sign = "+" if movement.credit.customer_id == customer.pk else "−"
    amount = f"{sign}{localised(movement.amount_cents)}"
    reason = (Fact(_("Reason"), movement.reason),) if movement.reason and movement.actor_id else ()
    return Entry(movement.at, _("Balance"), amount, None, str(line), reason, by=named(movement.actor, customer))


def of_review(item: ReviewItem) -> Entry:
    """Say what a person must decide or has decided, with the reason."""
    waits = Word("open", _("waits for a person"), "attention")
    word = Word("decided", item.get_outcome_display(), "good") if item.decided_at else waits
    facts = (Fact(_("Decided"), at=item.decided_at),) if item.decided_at else ()
    url = reverse("admin:payments_reviewitem_change", args=[item.pk])
    return Entry(
        item.opened_at,
        _("Review"),
        item.get_reason_display(),
        word,
        item.decision,
        facts,
        by=str(item.actor or ""),
        act=Act("payments.change_reviewitem", url, _("Open the decision")),
    )


def of_inquiry(inquiry: Inquiry) -> Entry:
    """Say what the customer asked the payment doctor, and what the answer said."""
    found = [Diagnosis.from_json(one) for one in inquiry.answer.get("found", ())]
    said = [inquiry_pages.word_of(one) for one in found]
    waits = Word("open", _("not answered yet"), "waiting")
    text = " ".join(str(word.text) for word in said)
    facts = (Fact(_("Asked about"), inquiry.text, mono=True),)
    return Entry(inquiry.asked_at, _("Question"), _("To the payment doctor"), said[0] if said else waits, text, facts)


def of_payout(page: PayoutPage) -> Entry:
    """Say what a payout of the balance, or a refund, sends where, and what its customer reads of it now."""
    payout = page.payout
    facts = (
        Fact(_("Amount"), f"{coins(payout.amount, payout.method)} = {localised(payout.usd_cents)}"),
        Fact(_("Address"), page.address, mono=True),
        Fact(_("Transaction"), payout.txid, mono=True),
    )
    about = _("Refund") if payout.is_refund else _("Payout")
    told = tuple(fact for fact in facts if fact.value)
    return Entry(payout.requested_at, about, payout.number, page.word, page.word.text, told)


def of_lookup(lookup: Lookup) -> Entry:
    return Entry(lookup.at, text=_("Looked up at the support desk."), by=str(lookup.actor))


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """Return the lines in order of time, oldest first. They come newest first of each kind, also within a moment."""
    return sorted(reversed(list(entries)), key=lambda entry: entry.at)
