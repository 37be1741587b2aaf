"""One word for a state, as pages show it: with a meaning, so that colour never stands alone."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from .models import Order


@dataclass(frozen=True, slots=True)
class Word:
    """`code` for machines, `word` for people, `meaning` one of waiting, good, attention, bad; `text` says more."""

    code: str
    word: "str | Promise"
    meaning: str
    text: "str | Promise" = ""
    at: datetime | None = None

    @property
    def label(self) -> "str | Promise":
        return self.word


def payment_word(order: Order) -> Word:
    """Return what is true of an order's money as far as the order itself knows (lists need no more)."""
    if order.needs_help_at:
        text = _("The network took the payment back after it was final. A person is looking at it.")
        return Word("help", _("paid, needs help"), "attention", text)
    if order.state == Order.State.RETURNED:
        return Word("returned", _("given back"), "good", _("The sum is in your balance."))
    if order.state == Order.State.SETTLED:
        return Word("paid", _("paid"), "good", at=order.settled_at)
    if order.payment == Order.Payment.SEEN:
        return Word("seen", _("payment seen"), "waiting")
    if order.state == Order.State.CANCELLED:
        return Word("cancelled", _("cancelled"), "attention")
    if order.state == Order.State.EXPIRED:
        return Word("expired", _("expired"), "attention")
    return Word("unpaid", _("not paid"), "waiting")
