"""What the pages of a payout show, to its customer and to operators."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise as Words
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from money.units import plain
from orders.words import Word

from .models import Payout
from .networks.base import Asset
from .pages import qr_of
from .payouts import least_of
from .quotes import BELIEVED_CENTS, E8
from .registry import Method
from .registry import method as method_by_code

State, Problem = Payout.State, Payout.Problem


def price_text(price_e8: int) -> str:
    """Write USD for a whole coin: cents, and millionths of a coin that costs less than ten dollars."""
    return plain(price_e8 // 10**2, 6) if price_e8 < 10 * E8 else plain(price_e8 // 10**6, 2)


@dataclass(frozen=True)
class PayoutPage:
    """A payout in plain values: amounts in the form that is pasted into a wallet, the address as people read it."""

    payout: Payout

    @property
    def method(self) -> Method:
        return method_by_code(self.payout.method)

    @property
    def asset(self) -> Asset:
        return self.method.asset

    @property
    def network_name(self) -> str:
        return self.method.family.name

    @property
    def address(self) -> str:
        return self.method.family.display(self.payout.address)

    @property
    def amount_text(self) -> str:
        """What the receiver gets."""
        return plain(self.payout.amount, self.asset.decimals)

    @property
    def quoted_text(self) -> str:
        return plain(self.payout.quoted_amount, self.asset.decimals)

    @property
    def least_text(self) -> str:
        return plain(least_of(self.payout.quoted_amount), self.asset.decimals)

    @property
    def fee_text(self) -> str:
        return plain(self.payout.fee, self.asset.decimals)

    @property
    def rate_text(self) -> str:
        """USD for a whole coin: at the approval, before it at the request; "" of a refund."""
        rate = self.payout.rate_e8 or self.payout.quoted_rate_e8
        return price_text(rate) if rate else ""

    @property
    def quoted_rate_text(self) -> str:
        return price_text(self.payout.quoted_rate_e8) if self.payout.quoted_rate_e8 else ""

    @property
    def is_fixed(self) -> bool:
        """Whether the amount can't change any more."""
        return self.payout.is_refund or self.payout.approved_at is not None

    @property
    def transaction_url(self) -> str:
        return (self.method.family.transaction_url(self.payout.txid) or "") if self.payout.txid else ""

    @property
    def may_cancel(self) -> bool:
        return self.payout.state == State.REQUESTED and not self.payout.is_refund

    @property
    def polls(self) -> bool:
        """Whether it may still change by itself."""
        return self.payout.state not in (State.FINAL, *Payout.CLOSED)

    @property
    def needed(self) -> int:
        return self.method.family.finality(self.payout.usd_cents or BELIEVED_CENTS).confirmations

    @property
    def word(self) -> Word:
        return word_of(self.payout, self.needed)

    def qr(self) -> SafeString:
        """Return the QR code for the operator's wallet: what the network's wallets read safely."""
        return qr_of(self.method.family.payment_uri(self.payout.address, self.asset, self.payout.amount))


def word_of(payout: Payout, needed: int) -> Word:
    """Return the one word that is true of a payout, for its customer."""
    if payout.state == State.SENT:
        return sent_word(payout, needed)
    label, meaning, text = STATES[payout.state]
    at: datetime | None = {State.FINAL: payout.final_at}.get(State(payout.state), payout.closed_at)
    if payout.state == State.REFUSED and not payout.usd_cents:
        text = _("It will not be sent. Ask support if you do not know why.")
    return Word(payout.state, label, meaning, text, at)


def sent_word(payout: Payout, needed: int) -> Word:
    if payout.problem in (Problem.FAILED, Problem.OTHER):
        text = _("Something went wrong on its way, and an operator looks at it. Your sum is kept.")
        return Word("stuck", _("Sent, needs help"), "attention", text)
    if payout.block_height is not None:
        steps = {"done": min(payout.confirmations, needed), "needed": needed}
        text = _("The payment is in a block. You need not do anything.")
        return Word("confirming", _("Confirming, %(done)d of %(needed)d") % steps, "waiting", text)
    text = _("An operator has sent it. It appears in your wallet as soon as the network shows it.")
    return Word("sent", _("Sent"), "waiting", text)


STATES: dict[str, tuple[str | Words, str, str | Words]] = {
    State.REQUESTED: (
        _("Asked for"),
        "waiting",
        _("Its sum is set aside. An operator looks at it and sends it by hand; this may take some hours."),
    ),
    State.APPROVED: (
        _("Approved, to be sent"),
        "waiting",
        _("The amount is fixed. An operator sends it from a wallet that is not connected to this site."),
    ),
    State.FINAL: (_("Sent and final"), "good", _("The network has confirmed it. It is in your wallet.")),
    State.REFUSED: (_("Not approved"), "attention", _("It will not be sent. Its sum is in your balance again.")),
    State.CANCELLED: (_("Cancelled"), "attention", _("You cancelled it. Its sum is in your balance again.")),
}
