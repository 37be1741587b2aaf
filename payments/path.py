"""The way of a payment as steps for the customer, from the one word that is true of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from orders.words import Word

WAITING = ("waiting", "declared")
NOTHING = ("expired", "unwatched", "cancelled", "superseded", "closed", "dropped", "replaced")
STUCK = ("partly_paid", "help", "second", "band", "reversed")
DONE = ("paid", "credited", "late")


@dataclass(frozen=True, slots=True)
class Step:
    """One step: `state` is done, now, or empty for what comes; `gauge`: show the confirmations."""

    state: str
    title: "str | Promise"
    note: "str | Promise" = ""
    gauge: bool = False


def steps(word: Word, *, topup: bool) -> Iterator[Step]:
    """Yield the steps up to the money's end: paid, or in the balance."""
    yield first(word)
    yield second(word)
    if word.code in ("credited", "late"):
        yield Step("now", word.word, word.text)
    else:
        yield Step("done" if word.code == "paid" else "", _("In your balance") if topup else _("Paid"))


def first(word: Word) -> Step:
    if word.code in WAITING:
        note = _("Transfers from exchanges often take 10–40 minutes. You need not do anything.")
        return Step("now", _("Waiting for your transfer"), note)
    if word.code in NOTHING:
        return Step("now", word.word, word.text)
    return Step("done", _("Transfer seen"))


def second(word: Word) -> Step:
    if word.code in ("seen", "confirming"):
        return Step("now", _("Confirming"), gauge=True)
    if word.code in STUCK:
        return Step("now", word.word, word.text)
    return Step("done" if word.code in DONE else "", _("Confirming"))
