"""What people decide: settling by hand, reviewing a transfer. And the second provider, which spares them most of it."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from story import ask, books_are_right, kinds, make_operator

from balance.models import Movement
from orders.actions import cancel_order
from orders.models import Order
from payments import answering, errors
from payments.actions import by_hand, inquiries
from payments.actions.deciding import decide
from payments.models import Allocation, ChainTransfer, HandSettlement, PaymentIntent, ReservedAddress, ReviewItem
from payments.registry import method

Settlement, Outcome = PaymentIntent.Settlement, ReviewItem.Outcome
pytestmark = pytest.mark.django_db


def paid(order: Order) -> bool:
    order.refresh_from_db()
    return order.state == Order.State.SETTLED


def settlement_of(intent: PaymentIntent) -> str:
    intent.refresh_from_db()
    return intent.settlement


# --- by hand ------------------------------------------------------------------------------------------------------
def test_case_100_settling_by_hand_needs_grounds_and_is_written_with_its_author(shop: Any) -> None:
    order, operator = shop.order(), make_operator()
    with pytest.raises(errors.NoGrounds):
        by_hand.settle_by_hand(order.pk, reason="paid in cash", evidence=" ", actor=operator)
    done = by_hand.settle_by_hand(order.pk, reason="paid in cash", evidence="receipt 17", actor=operator)
    assert by_hand.settle_by_hand(order.pk, reason="again", evidence="again", actor=operator) == done
    assert (done.state, done.usd_cents, paid(order)) == (HandSettlement.State.DONE, 10_000, True)
    adjustment = Movement.objects.get(kind=Movement.Kind.ADJUSTMENT)
    assert (adjustment.actor, adjustment.reason, adjustment.amount_cents) == (operator, "paid in cash", 10_000)
    assert "order.hand_settled" in kinds(order)
    books_are_right()


def test_case_100_above_500_dollars_a_second_person_must_agree(shop: Any) -> None:
    order, first, second = shop.order(lots=6), make_operator(), make_operator("two@example.com")
    proposed = by_hand.settle_by_hand(order.pk, reason="wire", evidence="bank statement", actor=first)
    assert (proposed.state, paid(order)) == (HandSettlement.State.PROPOSED, False)
    with pytest.raises(errors.SamePerson):
        by_hand.approve(proposed.pk, actor=first)
    with pytest.raises(IntegrityError), transaction.atomic():
        HandSettlement.objects.update(second=first)
    done = by_hand.approve(proposed.pk, actor=second)
    assert by_hand.approve(proposed.pk, actor=second).decided_at == done.decided_at
    assert (done.state, done.second, paid(order)) == (HandSettlement.State.DONE, second, True)
    books_are_right()


def test_a_proposal_can_be_withdrawn_and_made_again(shop: Any) -> None:
    order, first, second = shop.order(lots=6), make_operator(), make_operator("two@example.com")
    proposed = by_hand.settle_by_hand(order.pk, reason="wire", evidence="statement", actor=first)
    by_hand.withdraw(proposed.pk, actor=second)
    with pytest.raises(errors.Withdrawn):
        by_hand.approve(proposed.pk, actor=second)
    again = by_hand.settle_by_hand(order.pk, reason="wire", evidence="statement", actor=second)
    by_hand.approve(again.pk, actor=first)
    assert paid(order)
    assert not HandSettlement.objects.filter(state=HandSettlement.State.PROPOSED).exists()
    books_are_right()


def test_money_after_a_settlement_by_hand_goes_to_the_balance(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    by_hand.settle_by_hand(order.pk, reason="cash", evidence="receipt", actor=make_operator())
    shop.network.pay(intent)
    shop.block(4)
    assert (shop.balance(), settlement_of(intent)) == (10_000, Settlement.CREDITED)
    assert Movement.objects.filter(kind=Movement.Kind.CAPTURE).count() == 1
    books_are_right()


def test_by_hand_only_what_is_missing_is_adjusted(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent, intent.amount * 8 // 10)
    shop.network.watch()
    shop.end_of(intent)
    shop.block(3)
    by_hand.settle_by_hand(order.pk, reason="goodwill", evidence="conversation 5", actor=make_operator())
    assert Movement.objects.get(kind=Movement.Kind.ADJUSTMENT).amount_cents == 2_000
    assert (paid(order), shop.balance()) == (True, 0)
    books_are_right()


# --- reviews ------------------------------------------------------------------------------------------------------
def much_usdt(shop: Any) -> tuple[PaymentIntent, ReviewItem]:
    """Let $101 of USDT arrive at an ETH address."""
    intent = shop.ask(shop.order())
    usdt = method("usdt-ethereum").asset
    shop.network.chain.pay(intent.address.address, 101 * 10**6, method=usdt.method, contract=usdt.contract)
    shop.block(4)
    return intent, ReviewItem.objects.get()


def test_a_reviewed_transfer_is_credited_at_the_market_by_decision(shop: Any) -> None:
    intent, item = much_usdt(shop)
    assert settlement_of(intent) == Settlement.REVIEW
    operator = make_operator()
    with pytest.raises(errors.NoGrounds):
        decide(item.pk, Outcome.CREDITED, reason=" ", actor=operator)
    decide(item.pk, Outcome.CREDITED, reason="the customer confirmed it", actor=operator)
    shop.block()
    assert shop.balance() == 10_100
    assert settlement_of(intent) == Settlement.CREDITED
    shop.block(3)
    assert Allocation.objects.count() == 1
    books_are_right()


def test_a_decision_is_made_once_and_the_other_person_sees_it(shop: Any) -> None:
    _, item = much_usdt(shop)
    decide(item.pk, Outcome.KEPT, reason="will be sent back", actor=make_operator())
    with pytest.raises(errors.AlreadyDecided, match="will be sent back"):
        decide(item.pk, Outcome.CREDITED, reason="mine", actor=make_operator("two@example.com"))
    shop.block(3)
    assert shop.balance() == 0
    books_are_right()


def test_what_is_kept_leaves_the_promise_as_it_was(shop: Any) -> None:
    intent, item = much_usdt(shop)
    decide(item.pk, Outcome.KEPT, reason="spam", actor=make_operator())
    shop.block()
    assert settlement_of(intent) == Settlement.UNSETTLED
    shop.network.pay(intent)
    shop.block(4)
    assert settlement_of(intent) == Settlement.SETTLED
    books_are_right()


def test_an_unknown_token_can_not_be_credited_by_decision(shop: Any) -> None:
    intent = shop.ask(shop.order())
    shop.network.chain.pay(intent.address.address, 5, contract="0x" + "f" * 40)
    shop.block(4)
    item = ReviewItem.objects.get(reason="unknown_token")
    with pytest.raises(errors.NoValue):
        decide(item.pk, Outcome.CREDITED, reason="please", actor=make_operator())
    decide(item.pk, Outcome.KEPT, reason="worthless", actor=make_operator("two@example.com"))
    books_are_right()


# --- large transfers and the second provider ----------------------------------------------------------------------
def late_large(shop: Any) -> PaymentIntent:
    """Let $6,000 arrive hours after the promise."""
    intent: PaymentIntent = shop.ask(shop.order())
    shop.end_of(intent)
    shop.wait(300)
    shop.network.price()
    shop.network.pay(intent, 2 * 10**18)
    shop.block(4)
    return intent


def test_a_large_transfer_without_a_promise_waits_for_a_person(shop: Any) -> None:
    intent = late_large(shop)
    item = ReviewItem.objects.get()
    assert (item.reason, settlement_of(intent), shop.balance()) == ("large_unpromised", Settlement.REVIEW, 0)
    decide(item.pk, Outcome.CREDITED, reason="seen on two explorers", actor=make_operator())
    shop.block()
    assert shop.balance() == 600_000
    books_are_right()


def test_a_second_provider_that_confirms_it_spares_the_person(shop: Any) -> None:
    shop.network.chain.second_provider("agrees")
    late_large(shop)
    assert not ReviewItem.objects.exists()
    assert shop.balance() == 600_000
    assert ChainTransfer.objects.get().seconded
    books_are_right()


def large_order(shop: Any) -> tuple[Order, PaymentIntent]:
    """Pay an order of $2,000 exactly and in time."""
    shop.offer.prices.update(unit_price_cents=200_000)
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent)
    shop.block(4)
    return order, intent


def test_a_large_payment_waits_while_the_second_provider_is_away(shop: Any) -> None:
    shop.network.chain.second_provider("down")
    order, intent = large_order(shop)
    assert not paid(order)
    shop.end_of(intent)
    assert not ReviewItem.objects.exists()
    shop.network.chain.second_provider("agrees")
    shop.block()
    assert paid(order)
    assert settlement_of(intent) == Settlement.SETTLED
    books_are_right()


def test_providers_that_disagree_stand_before_a_person_and_nothing_is_credited(shop: Any) -> None:
    shop.network.chain.second_provider("disagrees")
    order, _ = large_order(shop)
    item = ReviewItem.objects.get()
    assert (item.reason, paid(order), Allocation.objects.count()) == ("providers_disagree", False, 0)
    decide(item.pk, Outcome.CREDITED, reason="the second one is pruned", actor=make_operator())
    shop.block()
    assert paid(order)
    books_are_right()


def test_what_the_second_provider_said_is_about_one_block_only(shop: Any) -> None:
    """Money that was taken back and comes again in another block is confirmed by both again."""
    shop.network.chain.second_provider("agrees")
    _, intent = large_order(shop)
    row = ChainTransfer.objects.get()
    shop.network.chain.reorg(4, keep=False)
    shop.block(5)
    shop.network.chain.second_provider("disagrees")
    shop.network.chain.pay(intent.address.address, intent.amount, method="eth", txid=row.txid)
    shop.block(4)
    assert [(a.episode, a.live) for a in Allocation.objects.all()] == [(1, False)]
    assert settlement_of(intent) == Settlement.REVERSED
    shop.network.chain.second_provider("agrees")
    shop.block()
    assert settlement_of(intent) == Settlement.SETTLED
    books_are_right()


@pytest.mark.parametrize("late", [False, True])
def test_an_order_whose_money_is_not_to_be_credited_can_be_cancelled(shop: Any, late: bool) -> None:
    """Nothing is on its way to it any more: the money goes back to its sender."""
    shop.network.chain.second_provider("disagrees")
    shop.offer.prices.update(unit_price_cents=200_000)
    order = shop.order()
    intent = shop.ask(order)
    if late:
        shop.end_of(intent, plus=45)
        shop.network.price()
    shop.network.pay(intent)
    shop.block(4)
    decide(ReviewItem.objects.get().pk, Outcome.KEPT, reason="no explorer knows it", actor=make_operator())
    shop.clock.move_to(intent.expires_at + timedelta(hours=1))
    shop.block()
    order.refresh_from_db()
    assert order.payment == Order.Payment.NONE
    assert cancel_order(order.pk, actor=shop.customer).state == Order.State.CANCELLED


def test_small_payments_do_not_ask_the_second_provider(shop: Any) -> None:
    shop.network.chain.second_provider("down")
    order = shop.order()
    intent = ask(order)
    shop.network.pay(intent)
    shop.block(4)
    assert paid(order)


def test_case_52_while_the_first_provider_refuses_the_second_one_is_read(shop: Any) -> None:
    """Sights and the clock go on; what a transfer is and how deep is still confirmed by the first one."""
    order = shop.order()
    intent = shop.ask(order)
    shop.network.chain.refuse_first(True)
    shop.network.pay(intent)
    shop.network.mine(4)
    assert not ChainTransfer.objects.exists()
    shop.network.chain.second_provider("agrees")
    shop.block()
    assert paid(order)
    books_are_right()


def test_an_order_of_a_customer_in_debt_is_not_settled_by_hand_and_the_operator_is_told_why(shop: Any) -> None:
    """The adjustment would pay the debt that a reversal left, and not the order."""
    shop.network.pay(shop.ask(shop.order()))
    shop.network.settle()
    shop.network.chain.reorg(4, keep=False)
    shop.network.mine(8)
    order = shop.order()
    with pytest.raises(errors.InDebt):
        by_hand.settle_by_hand(order.pk, reason="wire", evidence="statement", actor=make_operator())
    assert not paid(order)
    assert not HandSettlement.objects.exists()
    assert not Movement.objects.filter(kind="adjustment").exists()
    books_are_right()


def test_what_every_pass_finds_again_is_asked_once_and_again_when_it_is_another(shop: Any) -> None:
    """An operator who noted a changed address does not find it in the list again a second later."""
    intent = shop.ask(shop.order())
    row = ReservedAddress.objects.filter(pk=intent.address_id)
    row.update(address="0x" + "d" * 40)
    shop.network.pay(PaymentIntent.objects.get(pk=intent.pk))
    shop.block(4)
    decide(ReviewItem.objects.get().pk, Outcome.NOTED, reason="we know who did it", actor=make_operator())
    shop.block(3)
    assert not ReviewItem.objects.filter(decided_at=None).exists()
    row.update(address="0x" + "e" * 40)
    shop.block(3)
    assert ReviewItem.objects.get(decided_at=None).facts["stored"] == "0x" + "e" * 40
    books_are_right()


def test_a_claim_is_answered_by_the_settlement_of_its_order(shop: Any) -> None:
    order = shop.order()
    made = inquiries.ask(f"https://bscscan.com/tx/0x{'ab' * 32}", intent=shop.ask(order), actor=shop.customer)
    answering.answer(made.pk)
    inquiries.claim_payment(made.pk, note="From my wallet", actor=shop.customer)
    operator = make_operator()
    by_hand.settle_by_hand(order.pk, reason="seen over there", evidence="its explorer", actor=operator)
    claim = ReviewItem.objects.get()
    assert (claim.reason, claim.outcome, claim.actor, claim.decision) == ("claim", "noted", operator, "seen over there")
    books_are_right()


def test_nobody_decides_about_their_own_money(shop: Any) -> None:
    order = shop.order()
    with pytest.raises(errors.OwnMoney):
        by_hand.settle_by_hand(order.pk, reason="cash", evidence="mine", actor=shop.customer)
    large = by_hand.settle_by_hand(shop.order(lots=6).pk, reason="wire", evidence="bank", actor=make_operator())
    with pytest.raises(errors.OwnMoney):
        by_hand.approve(large.pk, actor=shop.customer)
    _, item = much_usdt(shop)
    with pytest.raises(errors.OwnMoney):
        decide(item.pk, Outcome.CREDITED, reason="mine", actor=shop.customer)
    shop.block(3)
    assert (paid(order), shop.balance()) == (False, 0)
    books_are_right()
