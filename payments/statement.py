"""The lines of a statement in words, each with the page that it is about, and the statement as a file (BAL-4)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache

from accounts.models import User
from balance import queries
from balance.export import statement_csv
from balance.models import Movement
from orders.models import Order

from .models import Adjustment, ChainTransfer, HandSettlement, PaymentIntent, Payout, Purpose, TopUp
from .registry import method, method_name

Kind = Movement.Kind
# What a movement was when nothing tells what it is about.
WORDS = {
    Kind.TRANSFER: _("Transfer received"),
    Kind.TOLERANCE: _("Shortfall within the tolerance, given by us"),
    Kind.CAPTURE: _("Order paid"),
    Kind.RETURN: _("Order given back, its sum moved to the balance"),
    Kind.ADJUSTMENT: _("Adjustment by an operator"),
    Kind.REVERSAL: _("Credit taken back"),
    Kind.PAYOUT: _("Payout"),
    Kind.UNSENT: _("Payout not sent, its sum is back in the balance"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """What a movement was, in words; the order, top-up or payout that it is about, and its page: "" if none."""

    words: "str | Promise"
    about: "str | Promise" = ""
    url: str = ""

    def __str__(self) -> str:
        return f"{self.words}: {self.about}" if self.about else str(self.words)


def lines_of(movements: Iterable[Movement]) -> dict[int, Line]:
    """Return the line of each movement by its id, in five queries at most, whatever their number."""
    rows = {movement.pk: movement for movement in movements}
    told = Told.read(rows.values())
    return {pk: told.line(movement) for pk, movement in rows.items()}


def subject(movement: Movement) -> tuple[str, str]:
    """Return what a reference names: ("transfer", "17") of "transfer:17:1"."""
    parts = movement.reference.split(":")
    return parts[0], parts[1] if len(parts) > 1 else ""


def named(movements: Iterable[Movement], noun: str) -> list[str]:
    return [key for one, key in map(subject, movements) if one == noun]


@dataclass(frozen=True, slots=True)
class Told:
    """The rows that references of movements name, by their keys as text."""

    transfers: Mapping[str, ChainTransfer]
    intents: Mapping[str, PaymentIntent]
    orders: Mapping[str, Order]
    hands: Mapping[str, HandSettlement]
    payouts: Mapping[str, Payout]
    adjustments: Mapping[int, Adjustment]

    @classmethod
    def read(cls, movements: Iterable[Movement]) -> "Told":
        movements = list(movements)
        transfers = ChainTransfer.objects.select_related("intent__order", "intent__topup")
        intents = PaymentIntent.objects.select_related("order", "topup")
        hands = HandSettlement.objects.select_related("order")
        adjustments = Adjustment.objects.select_related("order")
        own = [row for row in movements if subject(row)[0] in ("adjustment", "counter")]
        return cls(
            {str(row.pk): row for row in transfers.filter(pk__in=named(movements, "transfer"))},
            {str(row.pk): row for row in intents.filter(pk__in=named(movements, "intent"))},
            {str(row.pk): row for row in Order.objects.filter(pk__in=named(movements, "order"))},
            {str(row.pk): row for row in hands.filter(pk__in=named(movements, "hand"))},
            {str(row.pk): row for row in Payout.objects.filter(pk__in=named(movements, "payout"))},
            {row.movement_id or 0: row for row in adjustments.filter(movement__in=own)},
        )

    def line(self, movement: Movement) -> Line:
        noun, key = subject(movement)
        if transfer := self.transfers.get(key) if noun == "transfer" else None:
            return transfer_line(movement, transfer)
        if intent := self.intents.get(key) if noun == "intent" else None:
            return Line(WORDS[Kind.TOLERANCE], name_of(intent.purpose), intent_url(intent))
        if order := self.orders.get(key) if noun == "order" else None:
            return Line(WORDS[Kind(movement.kind)], name_of(order), order.get_absolute_url())
        if hand := self.hands.get(key) if noun == "hand" else None:
            return Line(_("Settled by an operator"), name_of(hand.order), hand.order.get_absolute_url())
        if payout := self.payouts.get(key) if noun == "payout" else None:
            return payout_line(movement, payout)
        if adjustment := self.adjustments.get(movement.pk):
            return adjustment_line(adjustment)
        return Line(WORDS[Kind(movement.kind)])


def adjustment_line(adjustment: Adjustment) -> Line:
    """Return the line of a correction; its reason stands below it."""
    words = _("Entry undone by an operator") if adjustment.counter_of_id else _("Goodwill credit by an operator")
    order = adjustment.order
    return Line(words, name_of(order), order.get_absolute_url()) if order else Line(words)


def transfer_line(movement: Movement, transfer: ChainTransfer) -> Line:
    """Return the line of a credit, or of its mirror once the network took the transfer back."""
    words = (
        _("%(asset)s taken back by the network, so its credit is taken back too")
        if movement.kind == Kind.REVERSAL
        else _("%(asset)s received")
    )
    return Line(words % {"asset": asset_of(transfer)}, name_of(transfer.intent.purpose), intent_url(transfer.intent))


def payout_line(movement: Movement, payout: Payout) -> Line:
    """Return the line of a payout's debit, or of what came back because it was not sent."""
    words = _("Refund to your wallet") if payout.is_refund else WORDS[Kind.PAYOUT]
    words = WORDS[Kind.UNSENT] if movement.kind == Kind.UNSENT else words
    return Line(words, payout.number, payout.get_absolute_url())


def asset_of(transfer: ChainTransfer) -> str:
    try:
        return method_name(method(transfer.method))
    except KeyError:
        return str(_("A token"))


def name_of(purpose: Purpose) -> str:
    """Write what money was for: "order GL-7K3M-9QX2"."""
    words = _("top-up %(number)s") if isinstance(purpose, TopUp) else _("order %(number)s")
    return str(words % {"number": purpose.number})


def intent_url(intent: PaymentIntent) -> str:
    return reverse("payments:intent", args=[intent.pk])


@login_required
@never_cache
def download(request: HttpRequest) -> HttpResponse:
    """Return the whole statement as CSV (BAL-4)."""
    rows = queries.statement(cast(User, request.user))
    text = statement_csv(rows, dict(words_of(row.movement for row in rows)))
    name = {"Content-Disposition": 'attachment; filename="statement.csv"'}
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers=name)


def words_of(movements: Iterable[Movement]) -> Iterator[tuple[int, str]]:
    for pk, line in lines_of(movements).items():
        yield pk, str(line)
