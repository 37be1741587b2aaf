"""A balance is paid out: reserved first, approved, sent from an operator's own wallet, seen on the chain (BAL-7)."""

import uuid
from typing import Any

import pytest
from story import books_are_right, give, kinds_of, make_operator

from accounts.models import User
from balance.models import Movement
from payments.actions import payouts
from payments.models import Payout
from payments.payouts import Figures, figures_of
from payments.registry import method
from payments.tasks import follow_payouts

from .conftest import Shop

pytestmark = pytest.mark.django_db(transaction=True)
WALLET = "0x" + "ab" * 20
State = Payout.State


def figures(shop: Shop, cents: int, code: str = "eth") -> Figures:
    shop.network.price()
    shop.network.watch()
    from django.utils import timezone

    found = figures_of(method(code), cents, timezone.now())
    assert isinstance(found, Figures), found
    return found


def ask_for(shop: Shop, cents: int = 30_000, code: str = "eth", **more: Any) -> Payout:
    """Ask for a payout as the customer does, at the figures of this moment."""
    shown = figures(shop, cents, code)
    facts = {"shown_amount": shown.amount, "form_key": uuid.uuid4(), **more}
    return payouts.request_payout(shop.customer, code, cents, WALLET, **facts)


def send(shop: Shop, payout: Payout, *, amount: int | None = None, address: str = "") -> str:
    """Send from the operator's own wallet what a payout asks for, or something else."""
    asset = method(payout.method).asset
    return shop.network.chain.pay(
        address or payout.address, amount or payout.amount, method=asset.method, contract=asset.contract
    )


def look(shop: Shop, blocks: int = 0) -> None:
    """Let blocks come, time pass, and the worker look at what was sent."""
    if blocks:
        shop.network.mine(blocks)
    shop.network.watch()
    shop.wait(1)
    shop.network.watch()
    follow_payouts()


@pytest.fixture
def operator(shop: Shop) -> User:
    made: User = make_operator()
    return made


def test_a_balance_is_paid_out(shop: Shop, operator: User) -> None:
    give(shop.customer, 50_000)
    payout = ask_for(shop)
    assert shop.balance() == 20_000, "reserved at once"
    assert payout.amount == 10**17 - payout.fee, "$300 at $3,000, less the fee"
    shop.network.price()
    shop.network.watch()
    payouts.approve(payout.pk, actor=operator)
    payout.refresh_from_db()
    assert (payout.state, payout.amount) == (State.APPROVED, payout.quoted_amount)
    payouts.mark_sent(payout.pk, txid=send(shop, payout), actor=operator)
    look(shop)
    payout.refresh_from_db()
    assert (payout.state, payout.position, payout.block_height) == (State.SENT, "value", None)
    look(shop, blocks=3)
    payout.refresh_from_db()
    assert (payout.state, payout.confirmations) == (State.FINAL, 3)
    assert shop.balance() == 20_000
    assert kinds_of(payout) == [
        "payout.requested", "payout.approved", "payout.sent", "payout.seen", "payout.final",
    ]  # fmt: skip
    assert Movement.objects.get(reference=payout.reference).kind == Movement.Kind.PAYOUT
    books_are_right()
