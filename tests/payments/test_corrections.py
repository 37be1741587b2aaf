"""OPS-8, BAL-4, BAL-5: a wrong decision is undone by a counter-entry, never by a change; goodwill is another thing."""

import uuid
from html import unescape
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from story import books_are_right, give, kinds, make_customer, make_operator, work_list

from accounts.actions.roles import set_role
from accounts.models import User
from balance.models import Account, Movement
from balance.queries import balance_cents
from events.models import Event
from orders.actions import cancel_order, move_to_balance
from orders.models import Order
from orders.tasks import end_holds
from payments import errors
from payments.actions import adjusting, by_hand
from payments.actions.deciding import decide, reopen
from payments.models import Adjustment, ChainTransfer, PaymentIntent, ReviewItem
from payments.registry import method
from payments.statement import lines_of

pytestmark = pytest.mark.django_db
Outcome, State = ReviewItem.Outcome, Adjustment.State


@pytest.fixture
def operator(shop: Any) -> User:
    made: User = make_operator()
    return made


@pytest.fixture
def second(shop: Any) -> User:
    made: User = make_operator("two@example.com")
    return made


def goodwill(shop: Any, cents: int, actor: User, **more: Any) -> Adjustment:
    return adjusting.give_goodwill(
        shop.customer.pk, cents, reason="you waited long", **{"form_key": uuid.uuid4(), **more}, actor=actor
    )


def asset_came(shop: Any) -> tuple[PaymentIntent, ReviewItem]:
    """Let $101 of USDT arrive at an ETH address: a person decides."""
    intent = shop.ask(shop.order())
    usdt = method("usdt-ethereum").asset
    shop.network.chain.pay(intent.address.address, 101 * 10**6, method=usdt.method, contract=usdt.contract)
    shop.block(4)
    return intent, ReviewItem.objects.get()


def credited(shop: Any, operator: User) -> tuple[ReviewItem, Movement]:
    """Credit it by decision."""
    _, item = asset_came(shop)
    decide(item.pk, Outcome.CREDITED, reason="the customer asked for it", actor=operator)
    shop.block()
    return item, Movement.objects.get(kind="transfer")


def balance(shop: Any) -> int:
    return balance_cents(shop.customer)


# --- goodwill -----------------------------------------------------------------------------------------------------
def test_bal_5_goodwill_is_a_credit_with_reason_and_author_beside_the_order(shop: Any, operator: User) -> None:
    order, key = shop.order(), uuid.uuid4()
    with pytest.raises(errors.NoGrounds):
        adjusting.give_goodwill(shop.customer.pk, 500, reason=" ", form_key=key, actor=operator)
    with pytest.raises(errors.NoSuchSum):
        adjusting.give_goodwill(shop.customer.pk, 0, reason="x", form_key=key, actor=operator)
    given = goodwill(shop, 2_500, operator, order_id=order.pk, form_key=key)
    assert goodwill(shop, 9_900, operator, order_id=order.pk, form_key=key) == given  # pressed twice
    assert (given.state, balance(shop)) == (State.DONE, 2_500)
    movement = Movement.objects.get()
    assert (movement.kind, movement.reason, movement.actor) == ("adjustment", "you waited long", operator)
    assert "adjustment.done" in kinds(order)
    order.refresh_from_db()
    assert (order.state, order.payment) == (Order.State.OPEN, Order.Payment.NONE)
    assert str(lines_of([movement])[movement.pk]) == f"Goodwill credit by an operator: order {order.number}"
    books_are_right()


def test_above_500_dollars_a_second_person_must_agree(shop: Any, operator: User, second: User) -> None:
    proposed = goodwill(shop, 50_001, operator)
    assert (proposed.state, balance(shop)) == (State.PROPOSED, 0)
    assert "Corrections of balances" in str(work_list())
    with pytest.raises(errors.SamePerson):
        adjusting.approve(proposed.pk, actor=operator)
    with pytest.raises(IntegrityError), transaction.atomic():
        Adjustment.objects.update(second=operator)
    adjusting.approve(proposed.pk, actor=second)
    assert adjusting.approve(proposed.pk, actor=second).state == State.DONE
    assert balance(shop) == 50_001
    taken_back = goodwill(shop, 60_000, operator)
    adjusting.withdraw(taken_back.pk, actor=second)
    with pytest.raises(errors.Withdrawn):
        adjusting.approve(taken_back.pk, actor=second)
    assert balance(shop) == 50_001
    books_are_right()


def test_many_small_gifts_of_one_person_are_a_large_one(shop: Any, operator: User, second: User) -> None:
    assert goodwill(shop, 30_000, operator).state == State.DONE
    assert goodwill(shop, 20_000, operator).state == State.DONE
    assert goodwill(shop, 1, operator).state == State.PROPOSED
    assert goodwill(shop, 1, second).state == State.DONE
    shop.wait(25 * 60)
    assert goodwill(shop, 1, operator).state == State.DONE


def test_nothing_is_given_to_a_closed_account(shop: Any, operator: User) -> None:
    User.objects.filter(pk=shop.customer.pk).update(is_active=False)
    with pytest.raises(errors.CustomerGone):
        goodwill(shop, 100, operator)
    assert not Adjustment.objects.exists()


# --- counter-entries ----------------------------------------------------------------------------------------------
def test_ops_8_a_credit_by_decision_is_undone_once_with_reason_and_author(shop: Any, operator: User) -> None:
    _, movement = credited(shop, operator)
    assert balance(shop) == 10_100
    with pytest.raises(errors.NoGrounds):
        adjusting.counter(movement.pk, reason="", actor=operator)
    done = adjusting.counter(movement.pk, reason="it was to be sent back", actor=operator)
    assert adjusting.counter(movement.pk, reason="again", actor=operator) == done
    assert (done.state, done.direction, balance(shop)) == (State.DONE, "debit", 0)
    new = Movement.objects.latest("pk")
    assert (new.kind, new.reference, new.actor) == ("adjustment", f"counter:{movement.pk}", operator)
    assert str(lines_of([new])[new.pk]).startswith("Entry undone by an operator: order")
    shop.block(3)
    assert balance(shop) == 0
    books_are_right()


def test_the_database_itself_keeps_a_movement_from_being_undone_twice(shop: Any, operator: User) -> None:
    done = adjusting.counter(give(shop.customer, 300).pk, reason="wrong person", actor=operator)
    facts = {
        "customer": shop.customer, "direction": "debit", "usd_cents": 300, "reason": "x", "proposed_by": operator,
    }  # fmt: skip
    with pytest.raises(IntegrityError), transaction.atomic():
        Adjustment.objects.create(counter_of=done.counter_of, **facts)
    with pytest.raises(IntegrityError), transaction.atomic():
        Adjustment.objects.create(**facts)  # a debit that undoes nothing


def test_what_the_customer_has_spent_is_not_taken_from_below_zero(shop: Any, operator: User) -> None:
    _, movement = credited(shop, operator)
    from payments.actions.intents import pay_from_balance

    pay_from_balance(shop.order().pk, actor=shop.customer)
    with pytest.raises(errors.AlreadySpent, match=r"\$1.00 are available and \$101.00 would be taken"):
        adjusting.counter(movement.pk, reason="wrong", actor=operator)
    assert (balance(shop), Adjustment.objects.count()) == (100, 0)
    books_are_right()


def test_a_counter_entry_can_be_undone_itself(shop: Any, operator: User) -> None:
    _, movement = credited(shop, operator)
    first = adjusting.counter(movement.pk, reason="wrong", actor=operator)
    assert first.movement
    back = adjusting.counter(first.movement.pk, reason="it was right after all", actor=operator)
    assert (back.direction, balance(shop)) == ("credit", 10_100)
    with pytest.raises(errors.AlreadyDecided):
        decide(ReviewItem.objects.get().pk, Outcome.KEPT, reason="x", actor=operator)
    books_are_right()


def test_what_paid_an_order_is_not_undone_by_a_counter_entry(shop: Any, operator: User) -> None:
    order = shop.order()
    shop.network.pay(shop.ask(order))
    shop.block(4)
    with pytest.raises(errors.NotCounterable):
        adjusting.counter(Movement.objects.get(kind="capture").pk, reason="wrong", actor=operator)


def test_a_large_counter_entry_waits_and_is_looked_at_again(shop: Any, operator: User, second: User) -> None:
    """The customer spends it before the second person agrees: then nothing moves."""
    movement = give(shop.customer, 60_000)
    proposed = adjusting.counter(movement.pk, reason="wrong person", actor=operator)
    assert proposed.state == State.PROPOSED
    from payments.actions.intents import pay_from_balance

    pay_from_balance(shop.order().pk, actor=shop.customer)
    with pytest.raises(errors.AlreadySpent):
        adjusting.approve(proposed.pk, actor=second)
    proposed.refresh_from_db()
    assert (proposed.state, proposed.second, balance(shop)) == (State.PROPOSED, None, 50_000)
    books_are_right()


@pytest.mark.parametrize("undone", [1, 2, 3])
def test_money_that_the_network_takes_back_after_it_was_undone_is_taken_once(
    shop: Any, operator: User, undone: int
) -> None:
    """However often the credit was undone and given back: afterwards the customer has nothing and owes nothing."""
    _, movement = credited(shop, operator)
    for _ in range(undone):
        adjustment = adjusting.counter(movement.pk, reason="wrong", actor=operator)
        assert adjustment.movement
        movement = adjustment.movement
    shop.network.chain.reorg(6, keep=False)
    shop.block(8)
    assert (balance(shop), Account.objects.get(customer=shop.customer).floor_cents) == (0, 0)
    assert (ChainTransfer.objects.get().verdict == "keep") == (undone != 2)
    books_are_right()


def test_a_credit_that_the_network_took_back_is_not_undone_as_well(shop: Any, operator: User) -> None:
    _, movement = credited(shop, operator)
    shop.network.chain.reorg(6, keep=False)
    shop.block(8)
    with pytest.raises(errors.ReversedAlready):
        adjusting.counter(movement.pk, reason="wrong", actor=operator)
    books_are_right()


# --- a settlement by hand -----------------------------------------------------------------------------------------
def test_a_wrong_settlement_by_hand_of_an_order_without_stock_is_undone_by_giving_it_back_first(
    shop: Any, operator: User
) -> None:
    order = shop.order(lots=2)
    shop.wait(200)
    end_holds()
    shop.offer.lots = 0
    shop.offer.save(update_fields=["lots"])
    hand = by_hand.settle_by_hand(order.pk, reason="wire", evidence="statement", actor=operator)
    movement = Movement.objects.get(reference=f"hand:{hand.pk}")
    with pytest.raises(errors.AlreadySpent):
        adjusting.counter(movement.pk, reason="the wire was recalled", actor=operator)
    move_to_balance(order.pk, actor=operator)
    done = adjusting.counter(movement.pk, reason="the wire was recalled", actor=operator)
    order.refresh_from_db()
    assert (order.state, balance(shop), done.order) == (Order.State.RETURNED, 0, order)
    assert kinds(order)[-1] == "adjustment.done"
    books_are_right()


# --- decide again -------------------------------------------------------------------------------------------------
def test_ops_8_what_was_refused_is_opened_anew_and_credited(shop: Any, operator: User, second: User) -> None:
    _, item = asset_came(shop)
    with pytest.raises(errors.NotDecided):
        reopen(item.pk, reason="early", actor=operator)
    decide(item.pk, Outcome.KEPT, reason="spam", actor=operator)
    shop.block()
    with pytest.raises(errors.NoGrounds):
        reopen(item.pk, reason=" ", actor=second)
    new = reopen(item.pk, reason="the customer showed the receipt", actor=second)
    with pytest.raises(errors.OpenAlready):
        reopen(item.pk, reason="me too", actor=operator)
    item.refresh_from_db()
    assert (item.outcome, item.decision, new.reason, new.subject) == ("kept", "spam", item.reason, item.subject)
    assert ChainTransfer.objects.get().verdict == ""
    shop.block()
    assert (balance(shop), ReviewItem.objects.filter(decided_at=None).count()) == (0, 1)
    decide(new.pk, Outcome.CREDITED, reason="it is his", actor=operator)
    shop.block()
    assert balance(shop) == 10_100
    assert Event.objects.get(kind="review.reopened").data["before"] == item.pk
    books_are_right()


def test_a_noted_item_without_a_transfer_is_opened_anew(shop: Any, operator: User) -> None:
    item = ReviewItem.objects.create(reason="books_differ", subject="networkcursor:ethereum")
    decide(item.pk, Outcome.NOTED, reason="a known gap", actor=operator)
    assert reopen(item.pk, reason="it grew", actor=operator).decided_at is None


def test_a_credit_that_was_made_is_undone_and_not_decided_again(shop: Any, operator: User) -> None:
    item, _ = credited(shop, operator)
    with pytest.raises(errors.CreditedAlready):
        reopen(item.pk, reason="wrong", actor=operator)


def test_a_yes_is_taken_back_before_the_watcher_follows_it(shop: Any, operator: User) -> None:
    _, item = asset_came(shop)
    decide(item.pk, Outcome.CREDITED, reason="yes", actor=operator)
    reopen(item.pk, reason="no, wait", actor=operator)
    shop.block(2)
    assert (balance(shop), ChainTransfer.objects.get().credited) == (0, False)
    books_are_right()


# --- pages --------------------------------------------------------------------------------------------------------
@pytest.fixture
def desk(shop: Any, settings: Any) -> Client:
    settings.STAFF_SECOND_FACTOR = False
    user = make_customer("desk@example.com")
    set_role(user, "operator", actor=None)
    client = Client()
    client.force_login(user)
    return client


def read(client: Client, name: str, *args: object) -> str:
    answer = client.get(reverse(name, args=args))
    assert answer.status_code == 200, name
    return unescape(" ".join(answer.content.decode().split()))


def test_the_page_of_a_decision_that_credited_leads_to_its_counter_entry_and_shows_the_effect(
    shop: Any, operator: User, desk: Client
) -> None:
    item, movement = credited(shop, operator)
    there = reverse("admin:adjustment_counter", args=[movement.pk])
    for name, row in (("payments_reviewitem", item), ("balance_movement", movement)):
        assert there in read(desk, f"admin:{name}_change", row.pk), name
    page = read(desk, "admin:adjustment_counter", movement.pk)
    assert "$101.00" in page and "→ <strong>$0.00</strong>" in page
    after = desk.post(there, {"reason": "wrong"}, follow=True).content.decode()
    assert "Done and recorded." in after
    assert "undone by a counter-entry" in read(desk, "admin:balance_movement_change", movement.pk)
    assert Movement.objects.latest("pk").reason == "wrong"


def test_the_page_of_a_settlement_by_hand_says_what_happens_with_its_order(
    shop: Any, operator: User, desk: Client
) -> None:
    waiting, rented = shop.order(lots=2), shop.order()
    shop.network.settle()
    by_hand.settle_by_hand(rented.pk, reason="wire", evidence="x", actor=operator)
    shop.network.settle()
    hand = rented.hand_settlements.get()
    text = read(desk, "admin:payments_handsettlement_change", hand.pk)
    assert "Whether its rental goes on is for a person to decide" in text
    assert reverse("admin:provisioning_rental_change", args=[rented.rental.pk]) in text
    shop.wait(200)
    end_holds()
    type(shop.offer).objects.update(lots=1)
    wait = by_hand.settle_by_hand(waiting.pk, reason="wire", evidence="x", actor=operator)
    movement = Movement.objects.get(reference=f"hand:{wait.pk}")
    text = read(desk, "admin:adjustment_counter", movement.pk)
    assert "Give it back first" in text and "has spent it already" in text
    desk.post(reverse("admin:hand_give_back", args=[wait.pk]))
    waiting.refresh_from_db()
    assert waiting.state == Order.State.RETURNED
    assert "was given back" in read(desk, "admin:payments_handsettlement_change", wait.pk)
    desk.post(reverse("admin:adjustment_counter", args=[movement.pk]), {"reason": "recalled"})
    assert balance(shop) == 0
    books_are_right()


def test_case_96_goodwill_is_another_action_on_the_pages_of_order_and_customer(shop: Any, desk: Client) -> None:
    order = shop.order()
    pages = {
        "orders_order": (order.pk, reverse("admin:adjustment_order", args=[order.pk])),
        "accounts_user": (shop.customer.pk, reverse("admin:adjustment_customer", args=[shop.customer.pk])),
    }
    for name, (pk, there) in pages.items():
        assert there in read(desk, f"admin:{name}_change", pk), name
        sent = {"usd": "12.34", "reason": "sorry", "form_key": str(uuid.uuid4())}
        for _ in range(2):
            assert "Done and recorded." in desk.post(there, sent, follow=True).content.decode()
    assert balance(shop) == 2 * 1_234
    assert desk.post(there, {"usd": "-1", "reason": "x", "form_key": str(uuid.uuid4())}).status_code == 200
    assert Adjustment.objects.count() == 2


def test_a_decided_item_is_opened_anew_from_its_page(shop: Any, operator: User, desk: Client) -> None:
    _, item = asset_came(shop)
    decide(item.pk, Outcome.KEPT, reason="spam", actor=operator)
    assert "Open it anew" in read(desk, "admin:payments_reviewitem_change", item.pk)
    answer = desk.post(reverse("admin:review_reopen", args=[item.pk]), {"reason": "a receipt"}, follow=True)
    text = unescape(answer.content.decode())
    assert "Opened anew: decide here." in text and "Decided before" in text and "spam" in text
    again = desk.post(reverse("admin:review_reopen", args=[item.pk]), {"reason": "a receipt"}, follow=True)
    assert "stands before a person already" in unescape(again.content.decode())
    assert ReviewItem.objects.filter(decided_at=None).count() == 1


def test_support_reads_and_corrects_nothing(shop: Any, operator: User, settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    user = make_customer("support@example.com")
    set_role(user, "support", actor=None)
    client = Client()
    client.force_login(user)
    movement = give(shop.customer, 300)
    for name, pk in (("counter", movement.pk), ("customer", shop.customer.pk)):
        assert client.post(reverse(f"admin:adjustment_{name}", args=[pk]), {"reason": "x"}).status_code == 403
    assert "counter-entry" not in read(client, "admin:balance_movement_change", movement.pk)
    assert balance(shop) == 300


def test_cancelling_stays_possible_beside_a_correction(shop: Any, operator: User) -> None:
    order = shop.order()
    goodwill(shop, 100, operator, order_id=order.pk)
    assert cancel_order(order.pk, actor=shop.customer).state == Order.State.CANCELLED
