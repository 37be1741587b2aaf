"""A transfer is sent back, whole or in parts: never more than came, and debited exactly as it was credited."""

import uuid
from html import unescape
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings
from story import books_are_right, kinds, kinds_of, make_customer, make_operator

from accounts.actions.roles import set_role
from accounts.models import User
from balance.actions import account_of
from balance.models import Movement
from orders.models import Order
from payments import errors
from payments.actions import intents, payouts
from payments.actions.by_hand import settle_by_hand
from payments.actions.crediting import Credited, allocate
from payments.actions.deciding import decide
from payments.actions.refunds import Wanted, make_refund
from payments.models import Allocation, ChainTransfer, Payout, ReviewItem
from payments.payouts import fee_of, refundable_of
from payments.registry import method
from payments.tasks import follow_payouts
from payments.verify import discrepancies

pytestmark = pytest.mark.django_db(transaction=True)
WALLET = "0x" + "ab" * 20
State = Payout.State


@pytest.fixture
def maker(shop: Any) -> User:
    made: User = make_operator("maker@example.com")
    return made


@pytest.fixture
def operator(shop: Any) -> User:
    made: User = make_operator()
    return made


def late_money(shop: Any, amount: int | None = None) -> ChainTransfer:
    """Let money arrive for a promise that is cancelled: it is in the balance, and pays no order."""
    intent = shop.ask(shop.order())
    intents.cancel(intent.pk, actor=shop.customer)
    shop.wait(45)
    shop.network.price()
    shop.network.watch()
    shop.network.pay(intent, amount)
    shop.block(4)
    return ChainTransfer.objects.get()


def kept_money(shop: Any, maker: User) -> ChainTransfer:
    """Let $101 of USDT arrive at an address for ETH, and let a person decide not to credit it."""
    intent = shop.ask(shop.order())
    usdt = method("usdt-ethereum").asset
    shop.network.chain.pay(intent.address.address, 101 * 10**6, method=usdt.method, contract=usdt.contract)
    shop.block(4)
    decide(ReviewItem.objects.get().pk, ReviewItem.Outcome.KEPT, reason="send it back", actor=maker)
    shop.block()
    return ChainTransfer.objects.get()


def refund(transfer: ChainTransfer, maker: User, units: int | None = None, **more: Any) -> Payout:
    wanted = Wanted(transfer.amount if units is None else units, WALLET, "asked for by the customer", **more)
    return make_refund(transfer.pk, wanted, form_key=uuid.uuid4(), actor=maker)


def send_it(shop: Any, payout: Payout, operator: User) -> Payout:
    """Approve, send, record, and let the network confirm."""
    payout = payouts.approve(payout.pk, actor=operator)
    asset = method(payout.method).asset
    txid = shop.network.chain.pay(payout.address, payout.amount, method=asset.method, contract=asset.contract)
    payouts.mark_sent(payout.pk, txid=txid, actor=operator)
    shop.network.mine(3)
    shop.wait(1)
    shop.network.watch()
    follow_payouts()
    payout.refresh_from_db()
    return payout


def test_case_87_a_whole_refund_sends_exactly_what_came_less_the_shown_fee(
    shop: Any, maker: User, operator: User
) -> None:
    transfer = late_money(shop, 33_333_333_333_333_333)
    cents = Allocation.objects.get().usd_cents
    assert shop.balance() == cents
    payout = refund(transfer, maker)
    assert payout.amount == 33_333_333_333_333_333 - fee_of(method("eth")), "to the last unit"
    assert (payout.usd_cents, shop.balance()) == (cents, 0)
    assert send_it(shop, payout, operator).state == State.FINAL
    assert "payout.final" in kinds(transfer.intent.order)  # type: ignore[arg-type]
    assert refundable_of(transfer).left == 0
    books_are_right()


def test_case_87_where_the_house_pays_the_fee_every_unit_arrives(shop: Any, maker: User) -> None:
    transfer = late_money(shop, 33_333_333_333_333_333)
    payout = refund(transfer, maker, house_pays_fee=True)
    assert (payout.amount, payout.fee) == (transfer.amount, 0)


def test_case_87_parts_debit_together_exactly_what_was_credited(shop: Any, maker: User, operator: User) -> None:
    transfer = late_money(shop, 10**16 + 1)
    cents, third = Allocation.objects.get().usd_cents, transfer.amount // 3
    first, second = refund(transfer, maker, third), refund(transfer, maker, third)
    payouts.refuse(first.pk, reason="a typing error", actor=operator)
    third_one = refund(transfer, maker, third)
    rest = refund(transfer, maker, refundable_of(transfer).left)
    standing = [second, third_one, rest]
    assert sum(one.taken for one in standing) == transfer.amount
    assert sum(one.usd_cents for one in standing) == cents
    assert shop.balance() == 0
    with pytest.raises(errors.NotRefundable, match="All of it was refunded"):
        refund(transfer, maker, 1)
    books_are_right()


def test_no_more_than_came_and_nothing_of_which_nothing_would_arrive(shop: Any, maker: User) -> None:
    transfer = late_money(shop)
    with pytest.raises(errors.TooMuchToRefund, match="ETH is left to refund"):
        refund(transfer, maker, transfer.amount + 1)
    with pytest.raises(errors.NothingArrives):
        refund(transfer, maker, fee_of(method("eth")))
    with pytest.raises(errors.NothingArrives):
        refund(transfer, maker, 10**9, house_pays_fee=True)  # less than a cent
    with pytest.raises(errors.NoGrounds):
        make_refund(transfer.pk, Wanted(10**16, WALLET, " "), form_key=uuid.uuid4(), actor=maker)
    assert not Payout.objects.exists()
    books_are_right()


def test_the_same_form_makes_one_refund(shop: Any, maker: User) -> None:
    transfer, key = late_money(shop), uuid.uuid4()
    wanted = Wanted(10**16, WALLET, "half of it")
    made = [make_refund(transfer.pk, wanted, form_key=key, actor=maker) for _ in range(2)]
    assert made[0] == made[1]
    assert Movement.objects.filter(kind="payout").count() == 1


def test_money_that_was_spent_on_an_order_is_first_given_back(shop: Any, maker: User) -> None:
    order = shop.order()
    shop.network.pay(shop.ask(order))
    shop.block(4)
    order.refresh_from_db()
    assert order.state == Order.State.SETTLED
    with pytest.raises(errors.SpentOnOrder, match="first be given back"):
        refund(ChainTransfer.objects.get(), maker)
    assert not Payout.objects.exists()
    books_are_right()


def test_another_person_than_who_made_it_approves_a_refund(shop: Any, maker: User, operator: User) -> None:
    payout = refund(late_money(shop), maker)
    with pytest.raises(errors.OwnPayout):
        payouts.approve(payout.pk, actor=maker)
    assert payouts.approve(payout.pk, actor=operator).state == State.APPROVED


def test_what_the_network_took_back_meanwhile_is_not_sent(shop: Any, maker: User, operator: User) -> None:
    payout = refund(late_money(shop), maker)
    shop.network.chain.reorg(5, keep=False)
    shop.block(6)
    assert not ChainTransfer.objects.get().credited
    with pytest.raises(errors.NotBacked):
        payouts.approve(payout.pk, actor=operator)
    payouts.refuse(payout.pk, reason="the network took it back", actor=operator)
    books_are_right()


def test_a_transfer_that_is_not_final_or_not_decided_is_not_sent_back(shop: Any, maker: User) -> None:
    intent = shop.ask(shop.order())
    usdt = method("usdt-ethereum").asset
    shop.network.chain.pay(intent.address.address, 101 * 10**6, method=usdt.method, contract=usdt.contract)
    shop.block()
    with pytest.raises(errors.NotRefundable, match="not final"):
        refund(ChainTransfer.objects.get(), maker)
    shop.block(4)
    with pytest.raises(errors.NotRefundable, match="not decided yet"):
        refund(ChainTransfer.objects.get(), maker)


# --- what a person decided to keep ------------------------------------------------------------------------------------
def test_kept_money_is_sent_back_in_units_alone(shop: Any, maker: User, operator: User) -> None:
    transfer = kept_money(shop, maker)
    payout = refund(transfer, maker)
    assert (payout.usd_cents, payout.amount) == (0, 98 * 10**6)
    assert not Movement.objects.exists()
    assert send_it(shop, payout, operator).state == State.FINAL
    assert not Movement.objects.exists()
    books_are_right()


def test_kept_money_that_is_being_sent_back_is_never_credited(shop: Any, maker: User, operator: User) -> None:
    transfer = kept_money(shop, maker)
    payout = refund(transfer, maker, 50 * 10**6)
    claim = ReviewItem.objects.create(reason="claim", subject="inquiry:1", transfer=transfer)
    with pytest.raises(errors.BeingRefunded, match=payout.number):
        decide(claim.pk, ReviewItem.Outcome.CREDITED, reason="after all", actor=operator)
    transfer.refresh_from_db()
    assert transfer.verdict == ChainTransfer.Verdict.KEEP
    payouts.refuse(payout.pk, reason="credited instead", actor=operator)
    decide(claim.pk, ReviewItem.Outcome.CREDITED, reason="after all", actor=operator)
    shop.network.price()
    shop.block()
    assert shop.balance() == 10_100
    with pytest.raises(errors.PayoutMoved):
        payouts.approve(payout.pk, actor=operator)
    books_are_right()


def test_the_last_step_of_a_credit_refuses_what_a_person_kept(shop: Any, maker: User) -> None:
    transfer = kept_money(shop, maker)
    with transaction.atomic():
        account = account_of(transfer.intent.customer)
        with pytest.raises(RuntimeError, match="not to be credited"):
            allocate(transfer.intent, Credited(transfer, 0, transfer.amount, 10**8, 10_100), account)
    assert not Movement.objects.exists()


def test_verifyledger_names_a_transfer_sent_back_twice(shop: Any, maker: User) -> None:
    transfer = late_money(shop)
    payout = refund(transfer, maker)
    Payout.objects.filter(pk=payout.pk).update(quoted_amount=transfer.amount)
    assert f"transfer {transfer}: is sent back over more than arrived" in [str(one) for one in discrepancies()]


# --- pages ------------------------------------------------------------------------------------------------------------
def words(page: Any) -> str:
    return unescape(" ".join(page.content.decode().split()))


@pytest.fixture
def browser(maker: User, settings: Settings) -> Client:
    settings.STAFF_SECOND_FACTOR = False
    client = Client()
    client.force_login(maker)
    return client


def test_an_operator_makes_a_refund_in_the_admin(shop: Any, maker: User, operator: User, browser: Client) -> None:
    transfer = late_money(shop)
    order = transfer.intent.order
    assert order is not None
    page = reverse("admin:transfer_refund", args=[transfer.pk])
    assert page in words(browser.get(reverse("admin:orders_order_change", args=[order.pk])))
    assert page in words(browser.get(reverse("admin:payments_chaintransfer_change", args=[transfer.pk])))
    shown = browser.get(page)
    form = {**shown.context["form"].initial, "address": WALLET, "reason": "asked for"}
    assert form["amount"] == "0.033671"
    wrong = browser.post(page, {**form, "amount": "1e3", "address": transfer.intent.address.address})
    assert "Write the amount in digits" in words(wrong)
    assert "receiving address of this site" in words(wrong)
    made = browser.post(page, form)
    payout = Payout.objects.get()
    assert made["Location"] == reverse("admin:payments_payout_change", args=[payout.pk])
    own = words(browser.get(made["Location"]))
    assert "You asked for it: another person must agree." in own
    browser.post(reverse("admin:payout_decide", args=[payout.pk]), {"step": "approve"})
    payout.refresh_from_db()
    assert payout.state == State.REQUESTED
    assert kinds_of(order)[-1] == "payout.requested"
    customer = Client()
    customer.force_login(shop.customer)
    assert "Refund: Asked for" in words(customer.get(order.get_absolute_url()))
    assert "asked for" in words(customer.get(payout.get_absolute_url()))


def test_case_96_an_order_settled_by_hand_has_nothing_to_refund(shop: Any, maker: User, browser: Client) -> None:
    order = shop.order()
    settle_by_hand(order.pk, reason="paid by wire", evidence="statement", actor=maker)
    page = words(browser.get(reverse("admin:orders_order_change", args=[order.pk])))
    assert '<button type="button" class="button quiet" disabled>Refund</button>' in page
    assert "refundable is what was received, less what was refunded" in page
    assert "goodwill credit is another action" in page
    paid = late_money(shop)
    refund(paid, maker)
    shown = words(browser.get(reverse("admin:transfer_refund", args=[paid.pk])))
    assert "All of it was refunded, or its refund is on its way." in shown
    assert 'value="Reserve the refund" disabled' in shown
    refused = browser.post(reverse("admin:transfer_refund", args=[paid.pk]), {"amount": "1"})
    assert refused.status_code == 200
    assert Payout.objects.count() == 1


def test_support_looks_and_does_not_refund(shop: Any, settings: Settings) -> None:
    settings.STAFF_SECOND_FACTOR = False
    transfer, helper = late_money(shop), make_customer("support@example.com")
    set_role(helper, "support", actor=None)
    client = Client()
    client.force_login(User.objects.get(pk=helper.pk))
    assert client.get(reverse("admin:transfer_refund", args=[transfer.pk])).status_code == 403
    page = words(client.get(reverse("admin:payments_chaintransfer_change", args=[transfer.pk])))
    assert "All of it can be sent back." in page
    assert ">Refund<" not in page
