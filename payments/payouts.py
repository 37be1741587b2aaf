"""What a payout or refund would bring: read and computed, nothing written."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Sum
from django.utils import timezone
from django.utils.functional import Promise as Words
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from money.units import parse, plain
from orders.errors import Refused

from . import errors, quotes
from .corrections import ALONE_WITHIN, last_of
from .models import Allocation, ChainTransfer, Payout
from .queries import can_be_valued, cursor_for, market, ours_among
from .registry import Method, method_name
from .registry import method as method_by_code

Status, Verdict = ChainTransfer.Status, ChainTransfer.Verdict


@dataclass(frozen=True, slots=True)
class Figures:
    """What so many cents of a balance become at the market's price: `amount` base units arrive, `fee` are kept."""

    method: Method
    usd_cents: int
    market: quotes.Price
    fee: int
    amount: int

    @property
    def least(self) -> int:
        """What arrives at least: for less it is not approved."""
        return least_of(self.amount)

    @property
    def priced_at(self) -> datetime:
        """When the newest of the prices was received."""
        return max(sample.received_at for sample in self.market.samples)


def least_of(quoted: int) -> int:
    return quoted * (quotes.BASIS - settings.PAYOUT_SLIP_BASIS_POINTS) // quotes.BASIS


def fee_of(method: Method) -> int:
    """Return what a payout in this method costs its receiver, in base units."""
    return parse(settings.PAYOUT_FEES.get(method.code, "0"), method.asset.decimals)


def figures_of(method: Method, usd_cents: int, now: datetime) -> Figures | Refused:
    """Return what so many cents become now, at the market's price without a markup, or why they can't be paid out: as
    for payment instructions the price must be fresh and the network watched."""
    cursor, pause = cursor_for(method)
    found = market(method, usd_cents, cursor, pause, now)
    if isinstance(found, Refused):
        return found
    asset, fee = method.asset, fee_of(method)
    amount = quotes.units_worth(usd_cents, found.price_e8, asset.decimals, asset.due_decimals) - fee
    if amount < max(asset.minimum_amount, 1):
        least = f"{plain(max(asset.minimum_amount, 1) + fee, asset.decimals)} {asset.symbol}"
        return errors.TooSmall(method_name(method), least)
    return Figures(method, usd_cents, found, fee, amount)


def checked_address(method: Method, text: str) -> str:
    """Return the normalised address of a receiver; ValueError says what is wrong with it. An address of ours is none:
    what is sent there would be somebody's payment."""
    address = method.family.check_address(text)
    if ours_among(method.family.network, [address]):
        raise ValueError(str(_("This is a receiving address of this site. Give an address of your own wallet.")))
    return address


def doubt(method: Method, text: str) -> str | Words:
    """Return what must be asked about an address before money goes there; "" for nothing."""
    if method.family.network == "litecoin" and text.strip().startswith("3"):
        return _(
            "An address that begins with 3 may be Bitcoin's or Litecoin's: they look the same. Coins sent to the wrong "
            "one are lost. Is this a Litecoin address?"
        )
    return ""


@dataclass(frozen=True, slots=True)
class Refundable:
    """What of one transfer can be sent back, in base units: `left` of `received`, less what is on its way or was sent
    already. `why_not` says why nothing can. `cents` is what the transfer was credited with; 0 if it never was."""

    received: int
    left: int
    cents: int
    why_not: str | Words = ""

    @property
    def credited(self) -> bool:
        return self.cents > 0


NO_PAYMENT = _("No payment on a chain is there: refundable is what was received, less what was refunded.")
GOODWILL = _("To give something all the same, credit the customer's balance: a goodwill credit is another action.")


def refundable_of(transfer: ChainTransfer) -> Refundable:
    """Return what of a transfer can be refunded now. Lock its intent first where it is to be sent."""
    live = Allocation.objects.filter(transfer=transfer, live=True).first()
    cents = live.usd_cents if live else 0
    left = transfer.amount - sum(payout.taken for payout in transfer.payouts.standing())
    why_not = why_not_refundable(transfer, live, left)
    return Refundable(transfer.amount, 0 if why_not else left, cents, why_not)


def why_not_refundable(transfer: ChainTransfer, live: Allocation | None, left: int) -> str | Words:
    if not can_be_valued(transfer):
        return _("We do not know this token: it can't be sent back from here.")
    if live and live.movement and last_of(live.movement)[1]:
        return _("Its credit was undone by a counter-entry, so there is none to debit. Undo the counter-entry first.")
    if transfer.status != Status.FINAL:
        return _("The transfer is not final: nothing of it is ours to send back yet.")
    if transfer.dust or (transfer.credited and not (live and live.usd_cents)):
        return _("It is worth less than a cent.")
    if not transfer.credited and transfer.verdict != Verdict.KEEP:
        return _("It is not decided yet: credit it, or decide not to credit it.")
    return "" if left > 0 else _("All of it was refunded, or its refund is on its way.")


def cents_to_debit(transfer: ChainTransfer, refundable: Refundable, units: int) -> int:
    """Return the cents that refunding `units` takes back: from the running sum, so that the parts of a whole debit
    exactly what the transfer was credited with."""
    standing = list(transfer.payouts.standing())
    before = sum(payout.taken for payout in standing)
    return (before + units) * refundable.cents // refundable.received - sum(one.usd_cents for one in standing)


def asked_lately(customer: User, now: datetime) -> int:
    mine = Payout.objects.filter(customer=customer, kind=Payout.Kind.BALANCE)
    return mine.filter(requested_at__gt=now - timedelta(hours=1)).count()


def is_backed(payout: Payout) -> bool:
    """Tell whether what is to be sent back is still there: not taken away by the network, and credited now if it was
    when the refund was made, else not."""
    transfer = ChainTransfer.objects.filter(payouts=payout).first()
    return transfer is None or (transfer.status == Status.FINAL and transfer.credited == (payout.usd_cents > 0))


def needs_two(payout: Payout, actor: User) -> bool:
    """Tell whether two operators must agree: above the limit, with what this one alone let the customer have within a
    day. Who makes a refund is the first of two by that."""
    if payout.is_refund:
        return False
    mine = Payout.objects.standing().filter(customer=payout.customer_id, kind=Payout.Kind.BALANCE)
    alone = mine.filter(approved_by=actor, checked_by=None, approved_at__gt=timezone.now() - ALONE_WITHIN)
    before = alone.exclude(pk=payout.pk).aggregate(sum=Sum("usd_cents"))["sum"] or 0
    return bool(payout.usd_cents + before > settings.SECOND_PERSON_ABOVE_CENTS)


def approval_figures(payout: Payout) -> Figures | Refused:
    """Return what a payout of a balance would bring if it were approved now, with the fee that was shown, or why it
    can't be approved."""
    found = figures_of(method_by_code(payout.method), payout.usd_cents, timezone.now())
    if isinstance(found, Refused):
        return found
    now = Figures(found.method, found.usd_cents, found.market, payout.fee, found.amount + found.fee - payout.fee)
    return errors.RateMoved() if now.amount < least_of(payout.quoted_amount) else now
