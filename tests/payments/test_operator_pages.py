"""What operators decide in the admin: review items, settlements by hand, orders that need help; and what waits."""

from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from story import books_are_right, make_customer, make_operator

from accounts.actions.roles import set_role
from accounts.models import User
from balance.models import Movement
from events.models import Event
from orders.actions import ask_for_help
from orders.models import Hold, Order
from payments.actions.topups import make_topup
from payments.models import (
    Allocation,
    HandSettlement,
    NetworkCursor,
    PaymentIntent,
    RateSourceHealth,
    ReviewItem,
)
from payments.registry import method

pytestmark = pytest.mark.django_db
LISTS = [
    "balance_account", "balance_movement", "orders_order", "payments_allocation", "payments_chaintransfer",
    "payments_handsettlement", "payments_paymentintent", "payments_ratesample", "payments_reviewitem", "payments_topup",
]  # fmt: skip


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def staff(role: str, email: str = "") -> User:
    user: User = make_customer(email or f"{role}@example.com")
    set_role(user, role, actor=None)
    user.refresh_from_db()
    return user


@pytest.fixture
def operator(shop: Any, settings: Any) -> Client:
    settings.STAFF_SECOND_FACTOR = False
    return browser(staff("operator"))


@pytest.fixture
def other_operator(operator: Client) -> Client:
    return browser(staff("operator", "second@example.com"))


def much_usdt(shop: Any) -> tuple[PaymentIntent, ReviewItem]:
    """Let $101 of USDT arrive at an ETH address."""
    intent = shop.ask(shop.order())
    usdt = method("usdt-ethereum").asset
    shop.network.chain.pay(intent.address.address, 101 * 10**6, method=usdt.method, contract=usdt.contract)
    shop.block(4)
    return intent, ReviewItem.objects.get()


def text_of(client: Client, name: str, *args: object) -> str:
    answer = client.get(reverse(name, args=args))
    assert answer.status_code == 200
    return unescape(" ".join(answer.content.decode().split()))


def decide(client: Client, item: ReviewItem, outcome: str, reason: str = "seen in an explorer") -> str:
    page = client.post(
        reverse("admin:review_decide", args=[item.pk]), {"outcome": outcome, "reason": reason}, follow=True
    )
    return unescape(page.content.decode())


# --- review items -------------------------------------------------------------------------------------------------
def test_an_operator_reads_the_facts_in_words_and_what_crediting_would_do(shop: Any, operator: Client) -> None:
    intent, item = much_usdt(shop)
    before = (Movement.objects.count(), Event.objects.count())
    page = text_of(operator, "admin:payments_reviewitem_change", item.pk)
    assert intent.order is not None
    for told in ("101 USDT (Ethereum)", "$101.00", intent.order.number, shop.customer.email, item.suggestion):
        assert told in page
    assert "<strong>$101.00</strong> goes from" in page and "101000000" not in page
    assert (Movement.objects.count(), Event.objects.count()) == before


def test_what_the_page_says_would_be_credited_is_what_is_credited(shop: Any, operator: Client) -> None:
    _, item = much_usdt(shop)
    assert "Decided and recorded" in decide(operator, item, "credited", "the customer confirmed it")
    shop.block()
    assert (shop.balance(), Allocation.objects.get().usd_cents) == (10_100, 10_100)
    page = text_of(operator, "admin:payments_reviewitem_change", item.pk)
    assert "the customer confirmed it" in page and "operator@example.com" in page and "review-decision" in page
    books_are_right()


def test_a_large_payment_that_providers_disagree_about_would_count_at_its_promise(shop: Any, operator: Client) -> None:
    shop.network.chain.second_provider("disagrees")
    shop.offer.prices.update(unit_price_cents=200_000)
    order = shop.order()
    shop.network.pay(shop.ask(order))
    shop.block(4)
    item = ReviewItem.objects.get()
    shop.network.price({"ETH": "2000"})  # the market has moved; the promise holds
    page = text_of(operator, "admin:payments_reviewitem_change", item.pk)
    assert "<strong>$2,000.00</strong> goes from" in page and f"{order.number} is paid then" in page
    decide(operator, item, "credited")
    shop.block()
    order.refresh_from_db()
    assert (order.state, Allocation.objects.get().usd_cents) == (Order.State.SETTLED, 200_000)


def test_a_large_late_payment_would_count_at_the_market_and_does(shop: Any, operator: Client) -> None:
    intent = shop.ask(shop.order())
    shop.end_of(intent)
    shop.wait(300)
    shop.network.price()
    shop.network.pay(intent, 2 * 10**18)
    shop.block(4)
    item = ReviewItem.objects.get(reason="large_unpromised")
    page = text_of(operator, "admin:payments_reviewitem_change", item.pk)
    assert "2 ETH (Ethereum)" in page and "<strong>$6,000.00</strong> goes from" in page and "is paid then" not in page
    decide(operator, item, "credited")
    shop.block()
    assert shop.balance() == 600_000
    books_are_right()


def test_of_two_operators_one_decides_and_the_other_is_told(
    shop: Any, operator: Client, other_operator: Client
) -> None:
    _, item = much_usdt(shop)
    decide(operator, item, "kept", "it goes back to the sender")
    page = decide(other_operator, item, "credited", "mine")
    assert "Decided already by operator@example.com: not credited" in page and "it goes back to the sender" in page
    item.refresh_from_db()
    assert (item.outcome, str(item.actor)) == ("kept", "operator@example.com")
    assert Event.objects.filter(kind="review.decided").count() == 1


@pytest.mark.parametrize(("outcome", "reason"), [("kept", " "), ("kept", "x" * 301), ("nonsense", "why")])
def test_a_decision_without_a_reason_or_of_another_kind_is_none(
    shop: Any, operator: Client, outcome: str, reason: str
) -> None:
    _, item = much_usdt(shop)
    assert "Choose a decision and say why" in decide(operator, item, outcome, reason)
    item.refresh_from_db()
    assert item.decided_at is None


def test_an_unknown_token_offers_no_credit_and_an_item_about_a_network_only_a_note(shop: Any, operator: Client) -> None:
    intent = shop.ask(shop.order())
    shop.network.chain.pay(intent.address.address, 5, contract="0x" + "f" * 40)
    shop.block(4)
    item = ReviewItem.objects.get(reason="unknown_token")
    page = text_of(operator, "admin:payments_reviewitem_change", item.pk)
    assert 'value="credited" disabled' in page and "No price of this token is known" in page
    assert "No price of this token is known" in decide(operator, item, "credited")
    stopped = ReviewItem.objects.create(reason="network_stopped", subject="networkcursor:ethereum")
    page = text_of(operator, "admin:payments_reviewitem_change", stopped.pk)
    assert 'value="noted"' in page and 'value="credited"' not in page and 'value="kept"' not in page
    assert "about no transfer" in decide(operator, stopped, "kept")
    assert "Decided and recorded" in decide(operator, stopped, "noted")


def test_support_sees_an_item_and_decides_nothing(shop: Any, operator: Client) -> None:
    _, item = much_usdt(shop)
    support = browser(staff("support"))
    page = text_of(support, "admin:payments_reviewitem_change", item.pk)
    assert "101 USDT" in page and "Credit it" not in page
    answer = support.post(reverse("admin:review_decide", args=[item.pk]), {"outcome": "noted", "reason": "mine"})
    item.refresh_from_db()
    assert (answer.status_code, item.decided_at) == (403, None)


def test_open_items_come_first_the_oldest_of_them_at_the_top(shop: Any, operator: Client) -> None:
    for name in ("a", "b", "c"):
        ReviewItem.objects.create(reason="books_differ", subject=f"networkcursor:{name}")
        shop.wait(60)
    decide(operator, ReviewItem.objects.get(subject="networkcursor:a"), "noted")
    page = operator.get(reverse("admin:payments_reviewitem_changelist"))
    assert [item.subject[-1] for item in page.context["cl"].result_list] == ["b", "c", "a"]
    page = operator.get(reverse("admin:payments_reviewitem_changelist"), {"decided": "no"})
    assert [item.subject[-1] for item in page.context["cl"].result_list] == ["b", "c"]


# --- by hand ------------------------------------------------------------------------------------------------------
GROUNDS = {"reason": "paid in cash", "evidence": "receipt 17"}


def settle(client: Client, order: Order, **grounds: str) -> Any:
    return client.post(reverse("admin:order_settle", args=[order.pk]), GROUNDS | grounds, follow=True)


def step(client: Client, hand: HandSettlement, name: str) -> str:
    answer = client.post(reverse("admin:hand_decide", args=[hand.pk]), {"step": name}, follow=True)
    return answer.content.decode()


def state_of(order: Order) -> str:
    order.refresh_from_db()
    return order.state


def test_an_operator_settles_a_small_order_from_its_page(shop: Any, operator: Client) -> None:
    order = shop.order()
    assert reverse("admin:order_settle", args=[order.pk]) in text_of(operator, "admin:orders_order_change", order.pk)
    page = text_of(operator, "admin:order_settle", order.pk)
    assert "<strong>$100.00</strong> goes from" in page and "Not needed up to $500.00" in page
    assert not Movement.objects.exists()
    assert "Settled and recorded" in settle(operator, order).content.decode()
    hand = HandSettlement.objects.get()
    assert (state_of(order), hand.evidence, str(hand.proposed_by)) == ("settled", "receipt 17", "operator@example.com")
    assert reverse("admin:order_settle", args=[order.pk]) not in text_of(
        operator, "admin:orders_order_change", order.pk
    )
    assert "has a settlement by hand already" in settle(operator, order).content.decode()
    books_are_right()


def test_without_grounds_nothing_is_settled(shop: Any, operator: Client) -> None:
    order = shop.order()
    for empty in ("reason", "evidence"):
        assert settle(operator, order, **{empty: "  "}).status_code == 200
    assert (state_of(order), HandSettlement.objects.count()) == ("open", 0)


def test_only_what_is_missing_is_shown_and_adjusted(shop: Any, operator: Client) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent, intent.amount * 8 // 10)
    shop.network.watch()
    shop.end_of(intent)
    shop.block(3)
    assert "<strong>$20.00</strong> goes from" in text_of(operator, "admin:order_settle", order.pk)
    settle(operator, order)
    assert Movement.objects.get(kind=Movement.Kind.ADJUSTMENT).amount_cents == 2_000


def test_above_500_dollars_another_operator_agrees(shop: Any, operator: Client, other_operator: Client) -> None:
    order = shop.order(lots=6)
    assert "Nothing moves before another person agrees" in text_of(operator, "admin:order_settle", order.pk)
    assert "a second person must agree now" in settle(operator, order).content.decode()
    hand = HandSettlement.objects.get()
    assert "Agree: settle" not in text_of(operator, "admin:payments_handsettlement_change", hand.pk)
    assert "You proposed this yourself" in step(operator, hand, "approve")
    assert state_of(order) == "open"
    assert "Agree: settle" in text_of(other_operator, "admin:payments_handsettlement_change", hand.pk)
    assert "Settled and recorded" in step(other_operator, hand, "approve")
    assert state_of(order) == "settled"
    books_are_right()


def test_a_proposal_is_withdrawn_and_not_carried_out(shop: Any, operator: Client, other_operator: Client) -> None:
    order = shop.order(lots=6)
    settle(operator, order)
    hand = HandSettlement.objects.get()
    assert "nothing was moved" in step(other_operator, hand, "withdraw")
    assert "was taken back" in step(other_operator, hand, "approve")
    assert (state_of(order), Movement.objects.count()) == ("open", 0)


def test_support_settles_nothing(shop: Any, operator: Client) -> None:
    small, large = shop.order(), shop.order(lots=6)
    settle(operator, large)
    support = browser(staff("support"))
    assert settle(support, small).status_code == 403
    hand = HandSettlement.objects.get()
    for name in ("approve", "withdraw"):
        assert support.post(reverse("admin:hand_decide", args=[hand.pk]), {"step": name}).status_code == 403
    hand.refresh_from_db()
    assert (hand.state, state_of(small), state_of(large)) == ("proposed", "open", "open")


# --- orders that need help ----------------------------------------------------------------------------------------
def test_help_given_is_recorded_with_its_reason(shop: Any, operator: Client) -> None:
    order = shop.order()
    ask_for_help(order)
    act = {"action": "help_given", "_selected_action": [order.pk], "reason": " "}
    page = operator.post(reverse("admin:orders_order_changelist"), act, follow=True).content.decode()
    order.refresh_from_db()
    assert "Say why" in page and order.needs_help_at
    page = operator.post(
        reverse("admin:orders_order_changelist"), act | {"reason": "the customer paid again"}, follow=True
    ).content.decode()
    order.refresh_from_db()
    helped = Event.objects.get(kind="order.helped")
    assert "decided and recorded" in page and order.needs_help_at is None
    assert (helped.data, str(helped.actor)) == ({"reason": "the customer paid again"}, "operator@example.com")
    support = browser(staff("support"))
    assert support.post(reverse("admin:orders_order_changelist"), act | {"reason": "mine"}).status_code == 403


# --- lists --------------------------------------------------------------------------------------------------------
def test_a_top_up_and_its_payments_are_found_by_its_number(shop: Any, operator: Client) -> None:
    topup = make_topup(shop.customer, 10_000, form_key=shop.order().form_key)
    page = operator.get(reverse("admin:payments_topup_changelist"), {"q": topup.number.lower()}).content.decode()
    assert f">{topup.number}</a>" in page and "$100.00" in page
    for name in ("payments_paymentintent", "payments_chaintransfer"):
        assert operator.get(reverse(f"admin:{name}_changelist"), {"q": topup.number}).status_code == 200


def test_lists_show_plain_amounts_dollars_and_zones(shop: Any, operator: Client) -> None:
    intent, _ = much_usdt(shop)
    owner = browser(make_operator())
    pages = {name: owner.get(reverse(f"admin:{name}_changelist")).content.decode() for name in LISTS}
    assert "101 USDT (Ethereum)" in pages["payments_chaintransfer"]
    assert "ETH (Ethereum)" in pages["payments_paymentintent"] and "$100.00" in pages["payments_paymentintent"]
    assert str(intent.amount) not in pages["payments_paymentintent"]
    assert "12:00 UTC" in pages["orders_order"] and "$100.00" in pages["orders_order"]
    page = text_of(owner, "admin:payments_paymentintent_change", intent.pk)
    assert "ETH (Ethereum)" in page and "12:00 UTC" in page and str(intent.amount) not in page


# --- what needs a person ------------------------------------------------------------------------------------------
def fill(shop: Any, operator: Client) -> None:
    """Let one more of each thing wait for a person."""
    place = ReviewItem.objects.count()
    ReviewItem.objects.create(reason="books_differ", subject=f"networkcursor:{place}")
    settle(operator, shop.order(lots=6))
    help_me, no_stock = shop.order(), shop.order()
    ask_for_help(help_me)
    settle(operator, no_stock)
    Hold.objects.filter(order=no_stock).update(state="released", released_at=no_stock.created_at)
    RateSourceHealth.objects.create(source=f"source{place}", error="timed out")


def test_one_page_says_what_needs_a_person_at_the_same_cost_for_one_and_for_many(
    shop: Any, operator: Client, settings: Any
) -> None:
    settings.HELD_LOTS_LIMIT = 100
    shop.offer.lots = 100
    shop.offer.save(update_fields=["lots"])
    page = text_of(operator, "admin:index")
    assert "Few receiving addresses are ready" in page and "Price sources with errors" not in page
    fill(shop, operator)
    page = text_of(operator, "admin:index")
    for told in ("Review items", "second person", "took back", "wait for stock", "Price sources with errors"):
        assert told in page
    costs = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            text_of(operator, "admin:index")
        costs.append(len(queries))
        fill(shop, operator)
        fill(shop, operator)
    assert costs[0] == costs[1] <= 40


def test_a_stopped_network_and_one_that_was_not_read_lately_are_named(shop: Any, operator: Client) -> None:
    shop.network.watch()
    assert "Ethereum</a>" not in text_of(operator, "admin:index").partition("Few receiving")[0]
    NetworkCursor.objects.filter(pk="ethereum").update(state="stopped", error="another chain")
    assert "stopped: another chain" in text_of(operator, "admin:index")
    NetworkCursor.objects.filter(pk="ethereum").update(state="watching", error="")
    shop.wait(60)
    assert "no complete pass lately" in text_of(operator, "admin:index")


def test_lists_of_decisions_cost_the_same_for_one_and_for_many(shop: Any, operator: Client) -> None:
    much_usdt(shop)
    costs = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            text_of(operator, "admin:payments_reviewitem_changelist")
        costs.append(len(queries))
        intent = shop.ask(shop.order())
        shop.network.chain.pay(intent.address.address, 5, contract="0x" + "f" * 40)
        shop.block(4)
    assert costs[0] == costs[1]
