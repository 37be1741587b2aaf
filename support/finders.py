"""What a text typed at the desk can mean, and what there is of it: the whole table of kinds is FINDERS.

A search asks with equality only, so each goes through an index; `./run bench lookup` measures how long it takes.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models.functions import Lower
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.emails import normalise
from accounts.models import User
from events.actions import subject_of
from orders import numbers
from orders.models import Order
from payments import doctor
from payments.doctor import Clue
from payments.models import ChainTransfer, PaymentIntent, Payout, ReservedAddress, TopUp
from payments.registry import families

from .models import Lookup
from .things import Row

Outcome = Lookup.Outcome
MOST = 20  # hits that are listed
EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
PARTS = re.compile(r"[\s/?#=&]+")  # of a link that holds a number


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says if it is of one kind: `exact` is what to look for; `near` are numbers that one slip away from
    it. `shown` is the text as it was understood. No reading asks the database."""

    shown: str
    exact: tuple[Any, ...] = ()
    near: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Finder:
    """One kind of thing that may be typed: `read` returns none for a text that can't be one, `find` the rows that a
    reading's values lead to. `nothing` says that there are none."""

    code: str
    label: "str | Promise"
    nothing: "str | Promise"
    read: Callable[[str], Reading | None]
    find: Callable[[tuple[Any, ...]], list[Row]]


def reads_number(prefix: str) -> Callable[[str], Reading | None]:
    """Return how a public number is read; `prefix` names the setting of its prefix."""

    def read(text: str) -> Reading | None:
        start = getattr(settings, prefix)
        if "@" in text:
            return None
        for part in (text, *PARTS.split(text)):
            if symbols := numbers.read(part, start):
                return Reading(numbers.pretty(symbols, start), exact=(symbols,))
        near = numbers.near(text, start)
        return Reading(text.strip(), near=tuple(sorted(near))) if near else None

    return read


def has_number(model: type[Any], told_of: Callable[[Any], Row] = lambda row: row) -> Callable[..., list[Row]]:
    """Return how rows are found by their number, by the unique index. `told_of` says whose story tells of a row."""

    def find(symbols: tuple[str, ...]) -> list[Row]:
        rows = model._base_manager.filter(symbols__in=symbols).order_by("symbols")
        return [told_of(row) for row in rows[:MOST]]

    return find


def read_email(text: str) -> Reading | None:
    email = normalise(text)
    return Reading(email, exact=(email,)) if EMAIL.fullmatch(email) else None


def has_email(emails: tuple[str, ...]) -> list[Row]:
    """Find the account with an address, and those whose orders name it as contact."""
    orders = Order.objects.alias(contact=Lower("email")).filter(contact__in=emails).order_by()
    holders = list(orders.values_list("customer", flat=True).distinct()[:MOST])
    accounts = User.objects.filter(email__in=emails)
    others = User.objects.filter(pk__in=holders).exclude(email__in=emails)
    return [*accounts, *others.order_by("pk")]


def read_transaction(text: str) -> Reading | None:
    """Read an id, or an explorer's link to it."""
    clues = doctor.read(text, families().values()).transactions
    return Reading(clues[0].value, exact=clues) if clues else None


def in_transaction(clues: tuple[Clue, ...]) -> list[Row]:
    """Find what a transaction pays."""
    rows = ChainTransfer.objects.filter(network__in=networks(clues), txid__in=values(clues)).order_by()
    return purposes(rows.values_list("intent", flat=True).distinct()[:MOST])


def read_address(text: str) -> Reading | None:
    clues = doctor.read(text, families().values()).addresses
    return Reading(clues[0].value, exact=clues) if clues else None


def at_address(clues: tuple[Clue, ...]) -> list[Row]:
    """Find whom a receiving address was given to."""
    ours = ReservedAddress.objects.filter(network__in=networks(clues), address__in=values(clues))
    rows = PaymentIntent.objects.filter(address__in=list(ours[:MOST]))
    return purposes(rows.values_list("pk", flat=True))


def networks(clues: Iterable[Clue]) -> set[str]:
    return {clue.network for clue in clues}


def values(clues: Iterable[Clue]) -> set[str]:
    return {clue.value for clue in clues}


def purposes(intents: Iterable[Any]) -> list[Row]:
    """Return what these instructions are for, each once."""
    rows = PaymentIntent.objects.filter(pk__in=list(intents)).select_related("order", "topup").order_by("created_at")
    return list(dict.fromkeys(intent.purpose for intent in rows))


def told_of(payout: Payout) -> Row:
    """Return whose story tells of a payout: of a refund what was paid, else the customer whose balance it is."""
    return payout.transfer.intent.purpose if payout.transfer else payout.customer


NO_PAYOUT = _("There is no such payout.")
NO_ORDER, NO_TOPUP = _("There is no such order."), _("There is no such top-up.")
NO_ACCOUNT = _("No account has it, and no order names it as its contact.")
NO_TRANSFER = _("None of the transfers that we have seen is of it. Only what pays one of our addresses is kept.")
NO_ADDRESS = _("It was given to nobody: it is not one of our receiving addresses, or not handed out yet.")
ORDER, TOPUP = reads_number("ORDER_NUMBER_PREFIX"), reads_number("TOPUP_NUMBER_PREFIX")
PAYOUT = reads_number("PAYOUT_NUMBER_PREFIX")
FINDERS: tuple[Finder, ...] = (
    Finder("email", _("an email address"), NO_ACCOUNT, read_email, has_email),
    Finder("order", _("an order number"), NO_ORDER, ORDER, has_number(Order)),
    Finder("topup", _("a top-up reference"), NO_TOPUP, TOPUP, has_number(TopUp)),
    Finder("payout", _("a payout number"), NO_PAYOUT, PAYOUT, has_number(Payout, told_of)),
    Finder("transaction", _("a transaction id"), NO_TRANSFER, read_transaction, in_transaction),
    Finder("address", _("a receiving address"), NO_ADDRESS, read_address, at_address),
)
NOT_NEAR = _("As it stands it cannot be one: a symbol is wrong or missing. None that there is differs by one slip.")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search came to; `kind` holds the codes of the finders that it is from."""

    kind: str = ""
    rows: tuple[Row, ...] = ()
    suggested: bool = False

    @property
    def hits(self) -> list[str]:
        return [subject_of(row) for row in self.rows]

    @property
    def outcome(self) -> Outcome:
        if self.suggested:
            return Outcome.SUGGESTED
        return Outcome.NOTHING if not self.rows else Outcome.FOUND if len(self.rows) == 1 else Outcome.SEVERAL


def readings(text: str) -> list[tuple[Finder, Reading]]:
    """Return every kind that a text can be, with how it is understood then."""
    return [(finder, reading) for finder in FINDERS if (reading := finder.read(text))]


def search(text: str) -> Answer:
    """Look for a text as every kind that it can be; what is found exactly comes before what is similar."""
    read = readings(text)
    for side in ("exact", "near"):
        asked = [(finder, getattr(reading, side)) for finder, reading in read]
        found = [(finder.code, rows) for finder, wanted in asked if wanted and (rows := finder.find(wanted))]
        if found:
            each = tuple(dict.fromkeys(row for _code, rows in found for row in rows))
            return Answer(",".join(code for code, _rows in found), each[:MOST], suggested=side == "near")
    return Answer(",".join(finder.code for finder, _reading in read))


def understood(text: str) -> "list[tuple[str | Promise, str, str | Promise]]":
    """Return what a text that led to nothing was read as: the kind, the reading, and what there is not."""
    return [(f.label, reading.shown, f.nothing if reading.exact else NOT_NEAR) for f, reading in readings(text)]


def labels(kind: str) -> "list[str | Promise]":
    """Return what the codes of a look-up's kind are called."""
    known = {finder.code: finder.label for finder in FINDERS}
    return [known[code] for code in kind.split(",") if code in known]
