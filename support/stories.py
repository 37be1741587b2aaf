"""The whole story of an order, of a top-up, of a customer: what the pages show, in a number of queries that does not
grow with what happened.

Actors are read in a query of their own: joined, PostgreSQL reads all accounts there are for a handful of rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.core.paginator import Paginator
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.queries import history
from accounts.words import WORDS as ACCOUNT_WORDS
from balance.models import Movement
from balance.queries import balance_cents, movements_of
from events.actions import subject_of
from events.models import Event
from orders.models import Order
from orders.words import Word
from payments import queries
from payments.models import Allocation, ChainTransfer, Inquiry, PaymentIntent, Payout, Purpose, ReviewItem, TopUp
from payments.pages import IntentPage, pages_of
from payments.payout_page import PayoutPage
from payments.statement import lines_of
from payments.templatetags.payments import payment_fact
from payments.words import topup_word
from provisioning.templatetags.provisioning import rental_facts, rental_of

from . import entries
from .entries import TOLD_ELSEWHERE, Act, Entry
from .models import Lookup

MOST = 200  # of one kind, the newest: anybody can send a thousand worthless transfers to an address
PER_PAGE = 20


@dataclass(frozen=True, slots=True)
class Looking:
    """For whom a story is told: the look-up that shows it, and what its page asks for (`page`, `topups`)."""

    lookup: Lookup
    pages: dict[str, str]

    @property
    def viewer(self) -> User:
        return self.lookup.actor

    def acts(self, *possible: Act) -> list[Act]:
        """Return where this person may act."""
        return [act for act in possible if self.viewer.has_perm(act.permission)]


def order_story(order: Order, looking: Looking) -> dict[str, Any]:
    pages = pages_of(order)
    rental = rental_of(order)
    return {
        "order": order,
        "purpose": order,
        "customer": order.customer,
        "payment": payment_fact(order, pages),
        "again": [replace(page) for page in pages],  # their words are not made yet: they can be in another language
        "theirs": language_of(order.customer),
        "rental": rental,
        "facts": rental_facts(order, rental),
        "left": queries.remainder(order),
        "entries": told_to(looking, entries_of(order, pages, looking)),
        "acts": looking.acts(*order_acts(order, rental)),
    }


def language_of(customer: User) -> str:
    """Return the customer's language if it is another one than the reader's, else nothing."""
    known = customer.language in dict(settings.LANGUAGES)
    return customer.language if known and customer.language != get_language() else ""


def order_acts(order: Order, rental: Any) -> Iterable[Act]:
    yield Act(
        "orders.change_order", reverse("admin:orders_order_change", args=[order.pk]), _("Order in the administration")
    )
    if order.is_payable:
        yield Act("payments.settle_order", reverse("admin:order_settle", args=[order.pk]), _("Settle by hand"))
    if rental:
        url = reverse("admin:provisioning_rental_change", args=[rental.pk])
        yield Act("provisioning.change_rental", url, _("Rental in the administration"))


def topup_story(topup: TopUp, looking: Looking) -> dict[str, Any]:
    pages = pages_of(topup)
    return {
        "topup": topup,
        "purpose": topup,
        "customer": topup.customer,
        "payment": topup_word(topup, [page.intent for page in pages]),
        "theirs": language_of(topup.customer),
        "left": queries.remainder(topup),
        "entries": told_to(looking, entries_of(topup, pages, looking)),
        "acts": [],
    }


def entries_of(purpose: Purpose, pages: list[IntentPage], looking: Looking) -> Iterable[Entry]:
    """Yield everything that happened to an order or a top-up, newest first of each kind."""
    intents = [page.intent for page in pages]
    transfers = stored_of(intents)
    asked = list(Inquiry.objects.filter(intent__in=intents).order_by("-asked_at")[:MOST])
    yield from map(entries.of_lookup, earlier(looking))
    yield from (entries.of_event(event, purpose.customer) for event in events_of(purpose))
    yield from movement_entries(movements_about(purpose, intents), purpose.customer)
    yield from map(entries.of_review, reviews_of(intents, [stored.row for stored in transfers], asked))
    yield from map(entries.of_inquiry, asked)
    yield from map(entries.of_transfer, transfers)
    yield from map(entries.of_intent, pages)


def events_of(row: Purpose) -> list[Event]:
    found = Event.objects.filter(thread=subject_of(row)).exclude(kind__in=TOLD_ELSEWHERE)
    return list(found.prefetch_related("actor").order_by("-id")[:MOST])


def stored_of(intents: Sequence[PaymentIntent]) -> list[Any]:
    """Return the transfers of instructions as the doctor judges them, worthless and unknown ones too."""
    by_id = {intent.pk: intent for intent in intents}
    rows = list(ChainTransfer.objects.filter(intent__in=by_id).order_by("-pk")[:MOST])
    for row in rows:
        row.intent = by_id[row.intent_id]  # no query for what we know
    return queries.stored(rows)


def reviews_of(
    intents: Sequence[PaymentIntent], transfers: Sequence[ChainTransfer], asked: Sequence[Inquiry]
) -> list[ReviewItem]:
    """Return what was put before a person: about a transfer, or about one of these rows itself."""
    subjects = [subject_of(row) for row in (*intents, *transfers, *asked)]
    rows = ReviewItem.objects.prefetch_related("actor").order_by("-id")
    found = [*rows.filter(transfer__in=transfers)[:MOST], *rows.filter(subject__in=subjects)[:MOST]]
    return list(dict.fromkeys(found))


def movements_about(purpose: Purpose, intents: Sequence[PaymentIntent]) -> list[Movement]:
    """Return the lines of the ledger about one order or top-up, by the references that actions give them."""
    credited = Allocation.objects.filter(intent__in=intents).exclude(movement=None)
    references = list(credited.order_by("-pk").values_list("movement__reference", flat=True)[:MOST])
    references += [f"intent:{intent.pk}:tolerance" for intent in intents]
    refunds = Payout.objects.filter(transfer__intent__in=intents).order_by("-pk").values_list("pk", flat=True)[:MOST]
    references += [f"payout:{pk}{end}" for pk in refunds for end in ("", ":unsent")]
    if isinstance(purpose, Order):
        references += [f"order:{purpose.pk}:{what}" for what in ("capture", "returned")]
        references += [f"hand:{pk}" for pk in purpose.hand_settlements.values_list("pk", flat=True)]
    undone = [f"{reference}:reversed" for reference in references]
    rows = Movement.objects.filter(reference__in=[*references, *undone])
    return list(rows.prefetch_related("credit", "actor").order_by("-id"))


def movement_entries(movements: Sequence[Movement], customer: User) -> Iterable[Entry]:
    lines = lines_of(movements)
    return (entries.of_movement(movement, lines[movement.pk], customer) for movement in movements)


def earlier(looking: Looking) -> list[Lookup]:
    """Return who looked at the same before."""
    rows = Lookup.objects.filter(subject=looking.lookup.subject, at__lt=looking.lookup.at)
    return list(rows.prefetch_related("actor").order_by("-at")[:MOST])


def told_to(looking: Looking, found: Iterable[Entry]) -> list[tuple[Entry, list[Act]]]:
    """Return the lines in order of time, each with where the viewer may act on it."""
    return [(one, looking.acts(one.act) if one.act else []) for one in entries.in_order(found)]


def customer_story(customer: User, looking: Looking) -> dict[str, Any]:
    orders = Paginator(Order.objects.filter(customer=customer).order_by("-id"), PER_PAGE)
    topups = TopUp.objects.filter(customer=customer).order_by("-id").prefetch_related("intents")
    page_obj = orders.get_page(looking.pages.get("page"))
    topup_page = Paginator(topups, PER_PAGE).get_page(looking.pages.get("topups"))
    return {
        "customer": customer,
        "account": account_word(customer),
        "balance_cents": balance_cents(customer),
        "pending_cents": queries.pending_cents(customer),
        "page_obj": page_obj,
        "orders": list(page_obj),
        "topup_page": topup_page,
        "topups": [(topup, topup_word(topup, topup.intents.all())) for topup in topup_page],
        "entries": told_to(looking, account_entries(customer, looking)),
        "acts": looking.acts(*customer_acts(customer)),
    }


def customer_acts(customer: User) -> Iterable[Act]:
    url = reverse("admin:accounts_user_change", args=[customer.pk])
    yield Act("accounts.change_user", url, _("Account in the administration"))
    if customer.recovery_due_at:
        url = reverse("admin:accounts_recovery_changelist") + f"?user__id={customer.pk}"
        yield Act("accounts.recover_account", url, _("Recovery in the administration"))


def account_word(customer: User) -> Word:
    """Return what is true of an account itself."""
    if customer.closed_at:
        text = _("Nobody can sign in. Its orders and its ledger stay.")
        return Word("closed", _("closed"), "attention", text, customer.closed_at)
    if not customer.is_active:
        return Word("inactive", _("switched off"), "attention", _("Nobody can sign in."))
    if customer.recovery_due_at:
        text = _(
            "Somebody says that they have lost it. Whoever is in the account can cancel that until it is completed."
        )
        return Word("recovery", _("a recovery is open"), "attention", text, customer.recovery_due_at)
    return Word("open", _("in order"), "good", _("The person can sign in."))


def account_entries(customer: User, looking: Looking) -> Iterable[Entry]:
    """Yield what happened to an account lately: its history, its balance, its questions, who looked at it."""
    for event in history(customer).filter(kind__in=ACCOUNT_WORDS).prefetch_related("actor")[:PER_PAGE]:
        yield Entry(event.at, _("Account"), ACCOUNT_WORDS[event.kind], by=entries.named(event.actor, customer))
    newest = movements_of(customer).prefetch_related("actor")[:PER_PAGE]
    yield from movement_entries(list(newest), customer)
    payouts = Payout.objects.filter(customer=customer)[:PER_PAGE]
    yield from (entries.of_payout(PayoutPage(payout)) for payout in payouts)
    asked = Inquiry.objects.filter(customer=customer).order_by("-asked_at")
    yield from map(entries.of_inquiry, asked[:PER_PAGE])
    yield from map(entries.of_lookup, earlier(looking))
