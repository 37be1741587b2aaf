"""Somebody tries to take the same money twice: by a refund, a counter-entry, a payout, or for themselves."""

import uuid
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from story import books_are_right, give, make_operator

from accounts.models import User
from balance.models import Movement
from payments import errors
from payments.actions import adjusting, by_hand, intents, payouts
from payments.actions.refunds import Wanted, make_refund
from payments.admin.payouts import page_of
from payments.models import Adjustment, ChainTransfer, Payout
from payments.payouts import Figures, figures_of
from payments.registry import method
from payments.tasks import follow_payouts
from payments.verify import discrepancies

pytestmark = pytest.mark.django_db(transaction=True)
WALLET = "0x" + "ab" * 20


@pytest.fixture
def maker(shop: Any) -> User:
    made: User = make_operator("maker@example.com")
    return made


@pytest.fixture
def operator(shop: Any) -> User:
    made: User = make_operator()
    return made


def late_money(shop: Any) -> tuple[ChainTransfer, Movement]:
    """Let money arrive for a promise that is cancelled; give the customer more than that besides."""
    intent = shop.ask(shop.order())
    intents.cancel(intent.pk, actor=shop.customer)
    shop.wait(45)
    shop.network.price()
    shop.network.watch()
    shop.network.pay(intent)
    shop.block(4)
    give(shop.customer, 100_000)
    return ChainTransfer.objects.get(), Movement.objects.get(kind="transfer")


def refund(transfer: ChainTransfer, maker: User) -> Payout:
    wanted = Wanted(transfer.amount, WALLET, "asked for by the customer")
    return make_refund(transfer.pk, wanted, form_key=uuid.uuid4(), actor=maker)


def ask_for(customer: User, cents: int) -> Payout:
    found = figures_of(method("eth"), cents, timezone.now())
    assert isinstance(found, Figures), found
    key, shown = uuid.uuid4(), found.amount
    return payouts.request_payout(customer, "eth", cents, WALLET, shown_amount=shown, form_key=key)


def test_a_credit_that_is_sent_back_is_not_undone_as_well(shop: Any, maker: User, operator: User) -> None:
    """Else one transfer is taken twice from a customer who has other money."""
    transfer, credit = late_money(shop)
    payout = refund(transfer, maker)
    before = shop.balance()
    with pytest.raises(errors.SentBackAlready, match=payout.number):
        adjusting.counter(credit.pk, reason="a mistake", actor=operator)
    assert shop.balance() == before
    payouts.refuse(payout.pk, reason="undone instead", actor=operator)
    adjusting.counter(credit.pk, reason="a mistake", actor=operator)
    books_are_right()


def test_a_credit_that_was_undone_is_not_debited_again_to_be_sent_back(shop: Any, maker: User, operator: User) -> None:
    transfer, credit = late_money(shop)
    undone = adjusting.counter(credit.pk, reason="a mistake", actor=operator)
    before = shop.balance()
    with pytest.raises(errors.NotRefundable, match="undone"):
        refund(transfer, maker)
    assert shop.balance() == before
    assert undone.movement
    adjusting.counter(undone.movement.pk, reason="it was none", actor=operator)
    assert refund(transfer, maker).usd_cents == credit.amount_cents
    books_are_right()


def test_nobody_corrects_their_own_balance(shop: Any, operator: User, maker: User) -> None:
    with pytest.raises(errors.OwnMoney):
        adjusting.give_goodwill(operator.pk, 100, reason="for me", form_key=uuid.uuid4(), actor=operator)
    proposed = adjusting.give_goodwill(operator.pk, 90_000, reason="for him", form_key=uuid.uuid4(), actor=maker)
    with pytest.raises(errors.OwnMoney):
        adjusting.approve(proposed.pk, actor=operator)
    given = adjusting.give_goodwill(operator.pk, 100, reason="for him", form_key=uuid.uuid4(), actor=maker)
    assert given.movement
    undone = adjusting.counter(given.movement.pk, reason="a mistake", actor=maker)
    assert undone.movement
    with pytest.raises(errors.OwnMoney):
        adjusting.counter(undone.movement.pk, reason="for me", actor=operator)


def test_nobody_decides_about_their_own_payout(shop: Any, operator: User, maker: User) -> None:
    """Who gets the money could call it not sent while another one sends it, and keep both."""
    give(operator, 100_000)
    payout = ask_for(operator, 30_000)
    payouts.approve(payout.pk, actor=maker)
    with pytest.raises(errors.OwnMoney):
        payouts.refuse(payout.pk, reason="I do not want it", actor=operator)
    payouts.mark_sent(payout.pk, txid="ab" * 32, actor=maker)
    with pytest.raises(errors.OwnMoney):
        payouts.take_back(payout.pk, actor=operator)


def test_the_network_takes_an_undone_credit_back_of_a_customer_who_is_gone(shop: Any, operator: User) -> None:
    transfer, credit = late_money(shop)
    adjusting.counter(credit.pk, reason="a mistake", actor=operator)
    User.objects.filter(pk=shop.customer.pk).update(is_active=False)
    shop.network.chain.reorg(5, keep=False)
    shop.block(6)
    transfer.refresh_from_db()
    assert (transfer.credited, shop.balance()) == (False, 100_000)
    books_are_right()


def test_a_transaction_is_not_taken_back_before_the_network_was_asked(shop: Any, operator: User) -> None:
    """Else it is sent again, or given back, while the first one is on its way."""
    give(shop.customer, 100_000)
    payout = payouts.approve(ask_for(shop.customer, 30_000).pk, actor=operator)
    txid = shop.network.chain.pay(payout.address, payout.amount, method=method("eth").asset.method)
    payouts.mark_sent(payout.pk, txid=txid, actor=operator)
    with pytest.raises(errors.NotAskedYet):
        payouts.take_back(payout.pk, actor=operator)
    shop.wait(1)
    shop.network.watch()
    follow_payouts()
    with pytest.raises(errors.SeenAlready):
        payouts.take_back(payout.pk, actor=operator)


def test_many_small_payouts_are_a_large_one(shop: Any, operator: User, maker: User) -> None:
    """Else a sum above the limit leaves in parts with one person's word, as a gift does not."""
    give(shop.customer, 200_000)
    first, second, third = (ask_for(shop.customer, 30_000) for _ in range(3))
    assert payouts.approve(first.pk, actor=operator).state == Payout.State.APPROVED
    noted = payouts.approve(second.pk, actor=operator)
    assert (noted.state, noted.checked_by) == (Payout.State.REQUESTED, operator)
    assert payouts.approve(second.pk, actor=maker).state == Payout.State.APPROVED
    payouts.refuse(first.pk, reason="not needed any more", actor=maker)
    assert payouts.approve(third.pk, actor=operator).state == Payout.State.APPROVED


def test_verifyledger_names_money_that_was_taken_twice_or_sent_to_somebody_else(shop: Any, maker: User) -> None:
    transfer, credit = late_money(shop)
    payout = refund(transfer, maker)
    adjustment = Adjustment(customer=shop.customer, direction="debit", usd_cents=credit.amount_cents)
    adjustment.counter_of, adjustment.reason, adjustment.proposed_by = credit, "past every guard", maker
    adjustment.save()
    with transaction.atomic():
        adjusting.carry_out(adjustment, maker)
    assert [one.sentence for one in discrepancies()] == [
        "is sent back although its credit was undone by a counter-entry"
    ]
    Payout.objects.filter(pk=payout.pk).update(customer=maker)
    assert "is sent back to another customer than it came from" in [one.sentence for one in discrepancies()]


def test_many_small_settlements_by_hand_are_a_large_one(shop: Any, operator: User) -> None:
    settle: dict[str, Any] = {"reason": "paper", "evidence": "its receipt", "actor": operator}
    first, second = shop.order(lots=1), shop.order(lots=1)
    assert first.total_cents < 50_000
    adjusting.give_goodwill(
        shop.customer.pk, 50_000 - first.total_cents, reason="x", form_key=uuid.uuid4(), actor=operator
    )
    assert by_hand.settle_by_hand(first.pk, **settle).state == "done"
    assert by_hand.settle_by_hand(second.pk, **settle).state == "proposed"
    given = adjusting.give_goodwill(shop.customer.pk, 1, reason="x", form_key=uuid.uuid4(), actor=operator)
    assert given.state == "proposed"


def test_what_the_network_took_back_after_the_approval_is_not_shown_to_be_sent(
    shop: Any, maker: User, operator: User
) -> None:
    """From the approval to the sending minutes pass: the page must not ask for coins that nobody brought."""
    transfer, _ = late_money(shop)
    payout = payouts.approve(refund(transfer, maker).pk, actor=operator)
    assert page_of(payout, operator)["backed"]
    shop.network.chain.reorg(5, keep=False)
    shop.block(6)
    assert not page_of(payout, operator)["backed"]
    assert payouts.mark_sent(payout.pk, txid="ab" * 32, actor=operator).state == "sent", "what was sent is recorded"
