"""What the payment doctor's page shows: each diagnosis as a word, a sentence, and the next thing to do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from money.units import plain
from money.usd import localised
from orders.words import Word

from .actions.inquiries import claims
from .doctor import CLAIMABLE, Diagnosis
from .models import Inquiry, PaymentIntent
from .registry import families, methods

Text = str | Promise


@dataclass(frozen=True, slots=True)
class Button:
    """The next thing to do: where it leads and what it says."""

    url: str
    label: Text


@dataclass(frozen=True, slots=True)
class Line:
    """One diagnosis as the page shows it. `amount` is empty where no amount is known."""

    word: Word
    amount: str
    txid: str
    buttons: tuple[Button, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A question with its answer so far. `waiting`: a worker still asks."""

    inquiry: Inquiry
    lines: tuple[Line, ...]
    waiting: bool
    at: datetime | None
    may_claim: bool
    claimed: bool

    @property
    def said(self) -> str:
        """What is read out when it changes."""
        return ". ".join(str(line.word.label) for line in self.lines)


def answer_of(inquiry: Inquiry) -> Answer:
    """Return what the page of a question shows."""
    found = [Diagnosis.from_json(one) for one in inquiry.answer.get("found", ())]
    intents = own(inquiry, {one.intent for one in found if one.intent})
    lines = tuple(
        Line(word_of(one), amount_of(one), beside(inquiry, one.txid), buttons_of(one, inquiry, intents))
        for one in found
    )
    at, claimed = inquiry.answer.get("at"), claims(inquiry)
    return Answer(
        inquiry=inquiry,
        lines=lines,
        waiting=inquiry.answered_at is None,
        at=datetime.fromisoformat(at) if at else None,
        may_claim=not claimed and any(one.code in CLAIMABLE for one in found),
        claimed=claimed,
    )


def own(inquiry: Inquiry, keys: Iterable[str]) -> dict[str, PaymentIntent]:
    """Return the asking customer's own instructions by their ids."""
    rows = PaymentIntent.objects.filter(customer=inquiry.customer_id, pk__in=list(keys))
    return {str(intent.pk): intent for intent in rows.select_related("order", "topup")}


def beside(inquiry: Inquiry, txid: str) -> str:
    """Return a transaction's id unless the question shows it already."""
    return "" if txid.lower() in inquiry.text.lower() else txid


def amount_of(found: Diagnosis) -> str:
    """Return the amount in plain form with its symbol; of an unknown token base units and its contract."""
    if not found.amount:
        return ""
    asset = next((known.asset for known in methods() if known.code == found.asset), None)
    if asset is None:
        return f"{found.amount} × {found.asset}"
    return f"{plain(int(found.amount), asset.decimals)} {asset.symbol}"


def names(found: Diagnosis) -> str:
    known = families()
    return ", ".join(known[code].name if code in known else code for code in found.networks)


def word_of(found: Diagnosis) -> Word:
    """Return the words of a diagnosis: the fact, then the consequence."""
    meaning, label, text = WORDS[found.code]
    if found.code == "pool" and found.low_fee:
        text = LOW_FEE
    facts = {
        "networks": names(found),
        "name": found.name,
        "done": found.confirmations,
        "needed": found.needed,
        "usd": localised(found.usd_cents),
    }
    return Word(found.code, label % facts, meaning, text % facts)


def buttons_of(found: Diagnosis, inquiry: Inquiry, intents: Mapping[str, PaymentIntent]) -> tuple[Button, ...]:
    """Return what to do next, the most useful first."""
    intent = intents.get(found.intent) or inquiry.intent
    instructions = (
        Button(reverse("payments:intent", args=[intent.pk]), _("Open the payment instructions")) if intent else None
    )
    if found.code in ("credited", "credited_older") and intent:
        return (
            Button(intent.purpose.get_absolute_url(), _("Open the order") if intent.order_id else _("Open the top-up")),
            Button(reverse("balance:statement"), _("See the statement")),
        )
    if found.code == "unreadable":
        return (Button(ask_again(inquiry), _("Try again")),)
    if found.code in ("not_found", "unreachable") and inquiry.answered_at:
        again = Button(ask_again(inquiry), _("Ask again"))
        return (again, instructions) if instructions else (again,)
    return (instructions,) if instructions else ()


def ask_again(inquiry: Inquiry) -> str:
    intent = f"&intent={inquiry.intent_id}" if inquiry.intent_id else ""
    return f"{reverse('payments:doctor')}?again={inquiry.pk}{intent}"


LOW_FEE = _(
    "It waits for a block on %(networks)s and offers less than the next blocks take. It is not lost: it may take "
    "hours, or your wallet can raise the fee. Do not send a second time."
)
WORDS: dict[str, tuple[str, Text, Text]] = {
    "pool": (
        "waiting",
        _("Found, waiting for a block"),
        _("It is known on %(networks)s and pays you here. It is sent, and waits for a block: do not send it again."),
    ),
    "found": (
        "waiting",
        _("Found in a block"),
        _("It pays you here on %(networks)s. We read that block in a moment; you need not do anything."),
    ),
    "confirming": (
        "waiting",
        _("Confirming, %(done)d of %(needed)d"),
        _("It is in a block on %(networks)s and pays you here. You need not do anything."),
    ),
    "final": (
        "good",
        _("Arrived and final"),
        _("It is kept for its instructions. If it is less than was asked, it becomes credit when they end."),
    ),
    "credited": ("good", _("Credited"), _("It arrived and counted as %(usd)s. Nothing more is due for it.")),
    "credited_older": (
        "good",
        _("Credited already, to other instructions"),
        _("It was sent to an address of earlier instructions of yours and counted as %(usd)s. Nothing is lost."),
    ),
    "in_review": (
        "attention",
        _("A person looks at it"),
        _("It arrived and is kept. No rule decides about it, so a person does. You need not send again."),
    ),
    "kept": (
        "attention",
        _("Not credited"),
        _("A person looked at it and decided not to credit it. Ask support for the reason."),
    ),
    "dust": (
        "attention",
        _("Less than a cent"),
        _("It arrived, but it is worth less than a cent, so it has no effect. The exact amount is still to be sent."),
    ),
    "replaced": (
        "attention",
        _("Replaced by its sender"),
        _("The sender spent the same money in another transaction. This one never arrives: ask about the other one."),
    ),
    "dropped": (
        "attention",
        _("Dropped by the network"),
        _("It was known on %(networks)s and is not any more. Your wallet still has the money, or sends it again."),
    ),
    "failed": (
        "bad",
        _("Failed on the chain, nothing moved"),
        _(
            "It is in a block on %(networks)s and failed there: nothing left your wallet but the fee. You may send "
            "again."
        ),
    ),
    "unknown_token": (
        "attention",
        _("An unknown token"),
        _(
            "It pays an address of yours with a token that is none of those that can be paid with here, whatever its "
            "name. It is not credited by itself. A person can look at it."
        ),
    ),
    "not_yours": (
        "bad",
        _("Pays none of your addresses"),
        _(
            "It is known on %(networks)s, and it does not pay any address that we gave to you. Compare the receiver in "
            "your wallet with your payment instructions."
        ),
    ),
    "not_visible": (
        "waiting",
        _("Not visible yet"),
        _("It does not show on %(networks)s yet. That can take a minute after sending: we look again by ourselves."),
    ),
    "not_found": (
        "attention",
        _("Not found"),
        _(
            "We looked several times on %(networks)s and it is not there. If it was sent just now, or by an exchange, "
            "ask again later. If it was sent on another network, a person can look at it."
        ),
    ),
    "other_chain": (
        "bad",
        _("Sent on another network"),
        _(
            "The link leads to %(name)s, and nothing can be received there. Nothing was credited. A person can look "
            "whether it can be recovered."
        ),
    ),
    "unreachable": (
        "attention",
        _("Not reachable now"),
        _(
            "We cannot ask %(networks)s at the moment, so we cannot say anything about it. What you sent in time still "
            "counts. Ask again later."
        ),
    ),
    "own_address": (
        "good",
        _("An address of yours"),
        _("It belongs to payment instructions of yours on %(networks)s. What arrived there stands below."),
    ),
    "own_address_empty": (
        "waiting",
        _("An address of yours, nothing seen yet"),
        _("It belongs to payment instructions of yours on %(networks)s. No transfer to it was seen so far."),
    ),
    "not_own_address": (
        "attention",
        _("Not an address of your instructions"),
        _("We did not give it to you. If your wallet shows it as the receiver, the money went somewhere else."),
    ),
    "unreadable": (
        "attention",
        _("That cannot be read"),
        _(
            "Paste a transaction id (64 letters and digits, on Ethereum with 0x in front, on Solana 87 or 88), the "
            "link of an explorer, or an address."
        ),
    ),
}
