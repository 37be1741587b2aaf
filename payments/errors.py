"""Why payment instructions can't be made, in words for the customer (PAY-6)."""

from datetime import UTC, datetime

from django.utils.dateformat import format as written
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext

from orders.errors import NotNow as NotNow
from orders.errors import Refused


def clock(moment: datetime) -> str:
    """Write a moment as the pages do, in UTC."""
    return f"{written(moment.astimezone(UTC), pgettext('date format', 'j M Y, H:i'))} UTC"


class MethodPaused(NotNow):
    """An operator paused a method; `said` is what they tell customers about it, or nothing."""

    def __init__(self, method: str, said: str) -> None:
        text = _("%(method)s is temporarily unavailable. Instructions that you have are honoured.") % {"method": method}
        super().__init__(f"{text} {said}".strip())


class NoRate(NotNow):
    def __init__(self, symbol: str, last: datetime | None) -> None:
        super().__init__(
            _("No current price of %(symbol)s is known; the last is from %(time)s. Nothing is lost: try again soon.")
            % {"symbol": symbol, "time": clock(last)}
            if last
            else _("No price of %(symbol)s is known yet. Nothing is lost: try again soon.") % {"symbol": symbol}
        )


class Depegged(NotNow):
    """A stablecoin that is not worth about a dollar: its price may be another one before the payment is final."""

    def __init__(self, symbol: str, price: str) -> None:
        super().__init__(
            _("%(symbol)s trades at %(price)s, too far from one dollar to be accepted now. Choose another method.")
            % {"symbol": symbol, "price": price}
        )


class NoAddress(NotNow):
    def __init__(self, network: str) -> None:
        super().__init__(
            _("No receiving address on %(network)s is ready. Nothing is lost: try again soon.") % {"network": network}
        )


class BrokenSeal(Refused):
    def __init__(self, network: str, address_id: int) -> None:
        self.address_id = address_id
        super().__init__(
            _("The next address on %(network)s failed our check and is not shown. Nothing is lost: ask support.")
            % {"network": network}
        )


class NetworkUnwatched(NotNow):
    def __init__(self, network: str, since: datetime | None) -> None:
        super().__init__(
            _("We have not been able to watch %(network)s since %(time)s, so no new instructions are made on it.")
            % {"network": network, "time": clock(since)}
            if since
            else _("We are not watching %(network)s yet. Try again in a moment.") % {"network": network}
        )


class TooSmall(Refused):
    def __init__(self, method: str, minimum: str) -> None:
        super().__init__(
            _("%(method)s can't be used for less than %(minimum)s. Choose another method.")
            % {"method": method, "minimum": minimum}
        )


class TooManyLive(Refused):
    def __init__(self, limit: int) -> None:
        super().__init__(
            _("There are %(limit)d live payment instructions for this already. Use one, or wait until one expires.")
            % {"limit": limit}
        )


class TooManyMade(Refused):
    def __init__(self) -> None:
        super().__init__(_("You asked for many payment instructions within an hour. Use one of them, or wait a while."))


class NotPayable(Refused):
    def __init__(self) -> None:
        super().__init__(_("This can't be paid any more: it is paid, cancelled or expired."))


class CoveredByBalance(Refused):
    def __init__(self) -> None:
        super().__init__(_("What arrived for this order covers it by now: pay it from your balance."))


class NothingLeft(Refused):
    def __init__(self) -> None:
        super().__init__(
            _("The lots of this order went back to stock and none are left now. Nothing is reserved: do not pay yet.")
        )


class NoSuchAmount(Refused):
    def __init__(self) -> None:
        super().__init__(_("Choose one of the amounts shown."))


class NoGrounds(Refused):
    def __init__(self) -> None:
        super().__init__(_("Say why, and what proves it: both are kept with your name."))


class InDebt(Refused):
    def __init__(self, available: str, needed: str) -> None:
        super().__init__(
            _(
                "The customer's balance is below zero: a payment was taken back. With this adjustment %(available)s "
                "would be there, and the order costs %(needed)s. Settle the debt first."
            )
            % {"available": available, "needed": needed}
        )


class BeingSent(Refused):
    def __init__(self, who: str) -> None:
        super().__init__(
            _("It is being sent by %(who)s, who alone knows whether it was: ask before anything else is done with it.")
            % {"who": who}
        )


class OwnMoney(Refused):
    def __init__(self) -> None:
        super().__init__(_("It is your own money: another person must decide about it."))


class SamePerson(Refused):
    def __init__(self) -> None:
        super().__init__(_("You proposed this yourself: above this sum a second person must agree."))


class Withdrawn(Refused):
    def __init__(self) -> None:
        super().__init__(_("This proposal was taken back. Propose it again if it is right."))


class AlreadySpent(Refused):
    def __init__(self, available: str, needed: str) -> None:
        super().__init__(
            _(
                "The customer has spent it already: %(available)s are available and %(needed)s would be taken. A "
                "balance is never pushed below zero by hand. Give an order back first, or leave it."
            )
            % {"available": available, "needed": needed}
        )


class CounteredAlready(Refused):
    def __init__(self) -> None:
        super().__init__(_("This entry has its counter-entry already."))


class ReversedAlready(Refused):
    def __init__(self) -> None:
        super().__init__(_("The network took this transfer back, so its credit was taken back too."))


class SentBackAlready(Refused):
    def __init__(self, number: str) -> None:
        super().__init__(
            _("This transfer is being sent back, or was (%(number)s): its credit was debited for that already.")
            % {"number": number}
        )


class NotCounterable(Refused):
    def __init__(self) -> None:
        super().__init__(
            _(
                "Only credits for transfers and corrections by people are undone by a counter-entry. What paid an "
                "order comes back when the order is given back."
            )
        )


class NoSuchSum(Refused):
    def __init__(self) -> None:
        super().__init__(_("The sum must be more than zero."))


class CustomerGone(Refused):
    def __init__(self) -> None:
        super().__init__(_("This account is closed: what is credited to it would reach nobody."))


class NotDecided(Refused):
    def __init__(self) -> None:
        super().__init__(_("This item is open: decide it."))


class OpenAlready(Refused):
    def __init__(self) -> None:
        super().__init__(_("The same thing stands before a person already, as a newer item."))


class AlreadyDecided(Refused):
    def __init__(self, outcome: str, actor: str, decision: str) -> None:
        super().__init__(
            _("Decided already by %(actor)s: %(outcome)s. %(decision)s")
            % {"actor": actor, "outcome": outcome, "decision": decision}
        )


class NoTransfer(Refused):
    def __init__(self) -> None:
        super().__init__(_("This item is about no transfer: it can only be noted."))


class CreditedAlready(Refused):
    def __init__(self) -> None:
        super().__init__(_("This transfer is credited by now."))


class NoValue(Refused):
    def __init__(self) -> None:
        super().__init__(
            _("No price of this token is known, so it can't be credited. Adjust the balance if it must be.")
        )


class TransferLive(Refused):
    def __init__(self) -> None:
        super().__init__(_("A transfer for these instructions was seen, so they can't be cancelled."))


class BalanceTooSmall(Refused):
    def __init__(self, available: str, needed: str) -> None:
        super().__init__(
            _("Your balance is %(available)s and this order needs %(needed)s. Nothing was debited.")
            % {"available": available, "needed": needed}
        )


class TooManyAsked(Refused):
    def __init__(self) -> None:
        super().__init__(_("You asked about many payments within an hour. The answers are kept: ask again later."))


class NothingToClaim(Refused):
    def __init__(self) -> None:
        super().__init__(_("This answer leaves nothing for a person to look up."))


class RateMoved(NotNow):
    def __init__(self) -> None:
        super().__init__(
            _("The price has moved: less would arrive than was shown. Nothing was sent; look at the new figures.")
        )


class TooManyPayouts(Refused):
    def __init__(self) -> None:
        super().__init__(_("You asked for many payouts within an hour. Wait a while before the next one."))


class NotThatMuch(Refused):
    """The balance does not cover what is to go out."""

    def __init__(self, available: str, needed: str) -> None:
        super().__init__(
            _("%(needed)s would be debited and %(available)s is available in the balance. Nothing was debited.")
            % {"available": available, "needed": needed}
        )


class SpentOnOrder(Refused):
    def __init__(self, available: str, needed: str) -> None:
        super().__init__(
            _(
                "The balance of the customer is %(available)s and this refund takes %(needed)s from it. What was spent "
                "on an order must first be given back."
            )
            % {"available": available, "needed": needed}
        )


class BadReceiver(Refused):
    """The address can't be sent to; the sentence is the network's."""


class NotRefundable(Refused):
    """Nothing can be refunded; the sentence says why."""


class TooMuchToRefund(Refused):
    def __init__(self, left: str) -> None:
        super().__init__(_("%(left)s is left to refund of this transfer.") % {"left": left})


class NothingArrives(Refused):
    def __init__(self) -> None:
        super().__init__(_("The fee is as much as this: nothing would arrive. Take more, or let the house pay it."))


class PayoutMoved(Refused):
    def __init__(self, state: str) -> None:
        super().__init__(_("This can't be done any more: the payout is %(state)s by now.") % {"state": state})


class OwnPayout(Refused):
    def __init__(self) -> None:
        super().__init__(_("You asked for this yourself: another person must agree."))


class NotBacked(Refused):
    def __init__(self) -> None:
        super().__init__(
            _("The transfer that is to be sent back is not there any more as it was: look at it, then refuse this.")
        )


class BrokenPayoutSeal(Refused):
    def __init__(self) -> None:
        super().__init__(
            _("This row was changed in the database: its address or its sums are not what was asked for. Send nothing.")
        )


class BadTransaction(Refused):
    """The transaction id can't be one of the network; the sentence is the network's."""


class TransactionUsed(Refused):
    def __init__(self, number: str) -> None:
        super().__init__(
            _("This transaction is recorded for %(number)s, to the same address. Each payout has one of its own.")
            % {"number": number}
        )


class SeenAlready(Refused):
    def __init__(self) -> None:
        super().__init__(_("The network shows this payment: it can't be taken back."))


class NotAskedYet(Refused):
    def __init__(self) -> None:
        super().__init__(
            _("The network was not asked about this transaction yet. Wait until the page says what it shows.")
        )


class NothingToAccept(Refused):
    def __init__(self) -> None:
        super().__init__(_("Only a transaction that is in a block and pays something else is judged by a person."))


class BeingRefunded(Refused):
    def __init__(self, number: str) -> None:
        super().__init__(
            _("This transfer is being sent back (%(number)s), so it can't be credited too.") % {"number": number}
        )
