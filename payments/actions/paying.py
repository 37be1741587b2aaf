"""Pay what the money was for: the order from credit, in the transaction of that credit; the top-up by being covered."""

from collections.abc import Sequence

from django.utils import timezone

from balance.actions import credit
from balance.models import Account, House, Movement
from events.actions import record
from orders.actions import capture, held, release
from orders.models import Order

from ..models import PaymentIntent, TopUp
from ..queries import credited_cents
from ..standing import FAIR_SHARE, Promise, worth
from .crediting import Credited

Settlement = PaymentIntent.Settlement


def pay_order(
    intent: PaymentIntent, promise: Promise, account: Account, *, credited: int, secured: bool, had_lots: bool
) -> Settlement:
    """Capture the order from the locked account, an accepted shortfall included. `credited`: the cents that the
    intent's money was credited with.

    If a debt that a reversal left, or another order, took the credit, the order stays open, the money is kept and the
    house gives nothing.
    """
    if intent.order is None:
        raise ValueError(f"intent {intent.pk} is for no order")
    short = shortfall(intent, promise, credited)
    if (account.balance_cents or 0) + short < intent.order.total_cents:
        could_not_pay(intent, intent.order, had_lots=had_lots)
        return Settlement.CREDITED
    if short:
        make_whole(intent, account, short)
    capture(intent.order, secured=secured, actor=None, account=account, source=f"intent:{intent.pk}")
    return Settlement.SETTLED


def shortfall(intent: PaymentIntent, promise: Promise, credited: int) -> int:
    """Return the cents that the house gives so that the customer's credit covers exactly the promise."""
    short = intent.usd_cents - credited
    tolerated = intent.usd_cents - worth(promise, promise.needed)
    in_the_band = intent.usd_cents - intent.usd_cents * FAIR_SHARE[0] // FAIR_SHARE[1]
    if short > max(tolerated, in_the_band):
        raise RuntimeError(f"intent {intent.pk}: {short} cents are missing, more than the tolerance accepts")
    return max(short, 0)


def make_whole(intent: PaymentIntent, account: Account, short: int) -> None:
    """Pay an accepted shortfall from the house."""
    credit(
        account,
        short,
        house=House.TOLERANCE,
        kind=Movement.Kind.TOLERANCE,
        reference=f"intent:{intent.pk}:tolerance",
        actor=None,
        reason="shortfall within the tolerance",
    )


def would_cover(order: Order, intent: PaymentIntent, split: Sequence[Credited]) -> bool:
    """Tell whether, once these transfers are credited, the order may be paid from credit although no single promise
    was kept: its own instructions cover it together, or late money is wanted and the balance covers the rest."""
    if not order.is_payable or not split:
        return False
    fresh = sum(one.cents for one in split if intent.pay_if_late or not one.market)
    own = credited_cents(order.intents.all(), willing=True)
    return own + fresh >= order.total_cents or intent.pay_if_late


def pay_from_credit(order: Order, intent: PaymentIntent, account: Account, *, had_lots: bool) -> None:
    """Capture a locked order whose lots are secured from the locked account. If the credit does not cover it, or was
    spent meanwhile, the money stays credit and the customer decides."""
    if (account.balance_cents or 0) < order.total_cents:
        could_not_pay(intent, order, had_lots=had_lots)
    else:
        capture(order, secured=True, actor=None, account=account, source=f"intent:{intent.pk}")


def could_not_pay(intent: PaymentIntent, order: Order, *, had_lots: bool) -> None:
    give_back(order, had_lots=had_lots)
    record("intent.could_not_pay", subject=intent, thread=order, actor=None)


def give_back(order: Order, *, had_lots: bool) -> None:
    """Release lots that were taken only for a payment that failed."""
    hold = held(order)
    if hold and not had_lots:
        release(hold)


def settle_topup(topup: TopUp, *, if_covered: bool = False) -> None:
    """Call a locked top-up covered; `if_covered`: only if its instructions together were credited with its amount."""
    if not topup.is_payable:
        return
    if if_covered and credited_cents(topup.intents.all()) < topup.amount_cents:
        return
    topup.settled_at = timezone.now()
    topup.move_to(TopUp.State.SETTLED, columns=("settled_at",), actor=None)
