"""Money for the balance: each transfer is credited as it becomes final, whenever it comes (BAL-1, BAL-2)."""

import uuid
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from story import books_are_right, kinds_of

from payments import errors
from payments.actions import intents
from payments.actions.topups import make_topup
from payments.models import Allocation, PaymentIntent, TopUp

Quote, Funding, Settlement = PaymentIntent.Quote, PaymentIntent.Funding, PaymentIntent.Settlement
pytestmark = pytest.mark.django_db


def top_up(shop: Any, cents: int = 10_000, code: str = "eth") -> PaymentIntent:
    topup = make_topup(shop.customer, cents, form_key=uuid.uuid4())
    return ask(shop, topup, code)


def ask(shop: Any, topup: TopUp, code: str = "eth") -> PaymentIntent:
    shop.network.price()
    shop.network.watch()
    return intents.open_topup_intent(topup.pk, code, form_key=uuid.uuid4(), actor=shop.customer)


def test_bal_1_only_the_amounts_of_the_list_and_one_topup_per_form(shop: Any) -> None:
    with pytest.raises(errors.NoSuchAmount):
        make_topup(shop.customer, 12_345, form_key=uuid.uuid4())
    key = uuid.uuid4()
    first = make_topup(shop.customer, 50_000, form_key=key)
    assert make_topup(shop.customer, 50_000, form_key=key) == first
    assert first.number.startswith("TU-")


def test_bal_2_an_exact_payment_covers_the_topup_when_it_is_final(shop: Any) -> None:
    intent = top_up(shop)
    shop.network.pay(intent)
    shop.block(2)
    assert shop.balance() == 0
    shop.block(1)
    intent.refresh_from_db()
    assert (shop.balance(), intent.settlement) == (10_000, Settlement.SETTLED)
    assert TopUp.objects.get().state == TopUp.State.SETTLED
    assert kinds_of(TopUp.objects.get())[-1:] == ["intent.settled"]
    books_are_right()


def test_case_27_three_transfers_over_two_days_are_three_credits(shop: Any) -> None:
    intent = top_up(shop)
    for hours in (0, 20, 28):
        shop.wait(60 * hours)
        shop.network.price()
        shop.network.pay(intent, intent.amount // 4)
        shop.block(4)
    assert Allocation.objects.count() == 3
    quarter = intent.amount // 4
    late = quarter * 3000 * 100 // 10**18
    assert shop.balance() == quarter * 10_000 // intent.amount + 2 * late
    books_are_right()


def test_what_is_short_within_the_tolerance_covers_and_the_house_adds_nothing(shop: Any) -> None:
    intent = top_up(shop)
    shop.network.pay(intent, intent.amount * 996 // 1000)
    shop.block(4)
    assert shop.balance() == 9_960
    assert TopUp.objects.get().state == TopUp.State.SETTLED
    books_are_right()


def test_the_rest_of_a_topup_is_asked_for_by_new_instructions(shop: Any) -> None:
    first = top_up(shop)
    shop.network.pay(first, first.amount // 2)
    shop.block(4)
    topup = TopUp.objects.get()
    assert topup.state == TopUp.State.OPEN
    second = ask(shop, topup)
    assert second.usd_cents == 10_000 - shop.balance()
    shop.network.pay(second)
    shop.block(4)
    topup.refresh_from_db()
    assert (topup.state, shop.balance()) == (TopUp.State.SETTLED, 10_000)
    books_are_right()


def test_money_after_the_topup_is_covered_is_credited_too(shop: Any) -> None:
    intent = top_up(shop)
    for _ in range(3):
        shop.network.pay(intent)
        shop.block(4)
    assert Allocation.objects.count() == 3
    assert shop.balance() > 29_000
    with pytest.raises(errors.NotPayable):
        ask(shop, TopUp.objects.get())
    books_are_right()


def test_a_topup_that_the_chain_takes_back_is_mirrored(shop: Any) -> None:
    intent = top_up(shop)
    shop.network.pay(intent)
    shop.network.settle()
    shop.network.chain.reorg(4, keep=False)
    shop.network.mine(5)
    intent.refresh_from_db()
    assert (shop.balance(), intent.settlement) == (0, Settlement.REVERSED)
    books_are_right()


def test_case_13_a_promise_of_nothing_can_not_be_written(shop: Any) -> None:
    intent = top_up(shop)
    with pytest.raises(IntegrityError), transaction.atomic():
        PaymentIntent.objects.filter(pk=intent.pk).update(usd_cents=0)
    with pytest.raises(IntegrityError), transaction.atomic():
        TopUp.objects.update(amount_cents=0)
    with pytest.raises(IntegrityError), transaction.atomic():
        PaymentIntent.objects.filter(pk=intent.pk).update(topup=None)
