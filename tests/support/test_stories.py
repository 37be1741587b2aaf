"""OPS-3, ORD-5, ACC-8: the whole story on one page, in the words that the customer reads, and no secret in it."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from desk import text_of
from django.urls import reverse
from django.utils.html import escape
from story import books_are_right, give, make_operator

from accounts.actions import lost
from accounts.models import User
from events.relay import drain
from orders.actions import cancel_order
from orders.models import Order
from payments.actions import inquiries, intents
from payments.actions.by_hand import settle_by_hand
from payments.actions.deciding import decide
from payments.actions.topups import make_topup
from payments.answering import answer
from payments.models import ReviewItem
from provisioning import actions as provisioning
from provisioning.access import Access
from provisioning.models import Rental
from support.templatetags.desk import sentences

pytestmark = pytest.mark.django_db
BUTTONS = re.compile(r"<(?:a|button)\b[^>]*>(?:<svg.*?</svg>)?([^<]*)<", re.S)


def main_of(html: str) -> str:
    return html[html.index("<main") : html.index("</main>")]


def customer_reads(shop: Any, client: Any, order: Order) -> str:
    client.force_login(shop.customer)
    text: str = text_of(client.get(order.get_absolute_url()).content.decode())
    return text


def test_ops_3_the_answer_is_what_the_customer_reads(shop: Any, desk: Any, client: Any) -> None:
    order = shop.order()
    assert "Not paid" in text_of(desk.look_up(order.number))
    intent = shop.ask(order)
    steps: list[Callable[[], object]] = [
        lambda: None,
        lambda: intents.declare(intent.pk, actor=shop.customer),
        lambda: (shop.network.pay(intent), shop.network.watch()),
        lambda: shop.block(1),
        lambda: shop.block(3),
    ]
    for step in steps:
        step()
        html = desk.look_up(order.number)
        words = re.search(r'class="answer-title">(?:.*?)<span>(.*?)</span>', html, re.S)
        assert words is not None
        assert words[1] in escape(customer_reads(shop, client, order))
        for part in re.findall(r'class="answer-text">(.*?)</p>', html):
            assert all(
                one in escape(customer_reads(shop, client, order)) for one in re.findall(r"[^.]+\.", part.strip())
            )
    assert "Confirming, 1 of 3" not in text_of(html) and "An operator prepares your machine" in text_of(html)


def test_ops_3_a_confirming_payment_is_told_with_its_count(shop: Any, desk: Any) -> None:
    order = shop.order()
    shop.network.pay(shop.ask(order))
    shop.block(1)
    text = text_of(desk.look_up(order.number))
    assert "Confirming, 1 of 3" in text and "You need not do anything" in text
    assert "Confirmations 1 of 3" in text


def test_ops_3_the_whole_story_of_an_order_stands_on_one_page_in_order_of_time(shop: Any, desk: Any) -> None:
    order = shop.order(lots=2)
    shop.wait(1)
    intent = shop.ask(order)
    shop.wait(1)
    txid = shop.network.pay(intent, intent.amount // 2)
    inquiry = inquiries.ask(txid, intent=intent, actor=shop.customer)
    shop.block(4)
    answer(inquiry.pk)
    shop.end_of(intent)
    second = shop.ask(order, "usdt-ethereum")
    shop.network.pay(second)
    shop.block(4)
    shop.wait(1)
    desk.look_up(order.number)
    shop.wait(1)
    html = desk.look_up(order.number)
    text = text_of(html)
    order.refresh_from_db()
    assert order.state == "settled"
    told = [
        "Order saved", "ETH (Ethereum)", intent.address.address, "To the payment doctor", txid,
        "Payment instructions expired", "+$100.00", "USDT (Ethereum)", second.address.address, "−$200.00", "Order paid",
        "Rental queued", "Looked up at the support desk",
    ]  # fmt: skip
    story = text[text.index("The whole story") :]
    assert not [one for one in told if one not in story]
    places = [story.index(one) for one in ("Order saved", "Payment instructions expired", "Order paid.", "Looked up")]
    assert places == sorted(places)
    assert "2 × $100.00 = $200.00" in text and "Ada Lovelace" in text and shop.customer.email in text
    times = re.findall(r'<time datetime="([^"]+)"', html[html.index('class="story"') :])
    lines = [line for line in html.split('<li class="story-line')[1:]]
    firsts = [re.search(r'<time datetime="([^"]+)"', line)[1] for line in lines]  # type: ignore[index]
    assert firsts == sorted(firsts) and len(times) >= len(lines) > 12
    books_are_right()


def test_prv_no_access_information_is_on_any_page_of_the_desk(shop: Any, desk: Any, desk_of: Any) -> None:
    order = shop.order()
    shop.network.pay(shop.ask(order))
    shop.block(4)
    operator = make_operator("hands@example.com")
    rental = Rental.objects.get()
    for state in (Rental.State.PREPARING, Rental.State.READY):
        provisioning.move(rental.pk, state, actor=operator)
    provisioning.hand_over(
        rental.pk, Access(ssh_host="192.0.2.7", ssh_user="root", notes="password hunter2"), actor=operator
    )
    for someone in (desk, desk_of("operator"), desk_of("owner")):
        for text in (order.number, shop.customer.email):
            html = someone.look_up(text)
            assert "hunter2" not in html and "192.0.2.7" not in html
    text = text_of(desk.look_up(order.number))
    assert "Handed over: the rental period runs." in text and "Active" in text


def test_ops_3_a_decision_is_told_with_its_reason_and_operators_get_to_it(shop: Any, desk: Any, desk_of: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.chain.pay(intent.address.address, 5_000_000_000, method="usdt-ethereum", contract=None)
    inquiry = inquiries.ask("ab" * 32, intent=intent, actor=shop.customer)
    item = ReviewItem.objects.create(reason="claim", subject=f"inquiry:{inquiry.pk}", facts={"note": "please"})
    text = text_of(desk.look_up(order.number))
    assert "a customer claims a payment" in text.lower() and "Waits for a person" in text
    link = f"/admin/payments/reviewitem/{item.pk}/change/"
    assert link not in desk.look_up(order.number)
    operator = desk_of("operator")
    assert link in operator.look_up(order.number)
    decide(item.pk, ReviewItem.Outcome.NOTED, reason="found on another chain", actor=operator.person)
    text = text_of(desk.look_up(order.number))
    assert "found on another chain" in text and "by operator@example.com" in text


def test_a13_support_has_no_button_of_money_and_operators_only_links(shop: Any, desk: Any, desk_of: Any) -> None:
    order = shop.order()
    shop.ask(order)
    words = " ".join(BUTTONS.findall(main_of(desk.look_up(order.number)))).lower()
    assert not [word for word in ("settle", "credit", "pay ", "cancel", "refund", "administration") if word in words]
    html = desk_of("operator").look_up(order.number)
    assert f'href="{reverse("admin:order_settle", args=[order.pk])}"' in html and "Settle by hand" in html
    assert 'action="/admin' not in html


def test_ops_3_a_settlement_by_hand_is_told_with_who_and_why(shop: Any, desk: Any) -> None:
    order = shop.order()
    settle_by_hand(order.pk, reason="paid by wire", evidence="statement 7", actor=make_operator())
    drain()
    text = text_of(desk.look_up(order.number))
    assert "An operator settled the order by hand. paid by wire by op@example.com" in text
    assert "+$100.00" in text and "−$100.00" in text


def test_ops_3_the_story_of_a_top_up(shop: Any, desk: Any) -> None:
    topup = make_topup(shop.customer, 10_000, form_key=uuid.uuid4())
    shop.network.watch()
    intent = intents.open_topup_intent(topup.pk, "usdt-ethereum", form_key=uuid.uuid4(), actor=shop.customer)
    shop.network.pay(intent)
    shop.block(4)
    text = text_of(desk.look_up(topup.number))
    for one in ("Covered", "What arrived is in your balance", intent.address.address, "+$100.00", "Top-up covered."):
        assert one in text, one


def test_ops_3_the_story_of_a_customer(shop: Any, desk: Any) -> None:
    orders = [shop.order() for _ in range(3)]
    make_topup(shop.customer, 10_000, form_key=uuid.uuid4())
    give(shop.customer, 12_345)
    html = desk.look_up(shop.customer.email)
    text = text_of(html)
    assert all(order.number in text for order in orders) and "$123.45" in text and "a gift" in text
    assert "In order" in text and "TU-" in text
    lost.open_recovery(shop.customer, proof="passport of a stranger", actor=None)
    text = text_of(desk.look_up(shop.customer.email))
    assert "A recovery is open" in text and "passport of a stranger" not in text
    User.objects.filter(pk=shop.customer.pk).update(closed_at="2026-05-01T12:00Z", is_active=False)
    assert "Nobody can sign in" in text_of(desk.look_up(shop.customer.email))


def test_ops_3_many_orders_are_paged_within_one_look_up(shop: Any, desk: Any) -> None:
    first = shop.order()
    for _ in range(25):
        copy = shop.order()
        cancel_order(copy.pk, actor=shop.customer)
    page = desk.post(shop.customer.email)
    assert first.number not in desk.page(page) and first.number in desk.page(f"{page}?page=2")
    assert desk.page(f"{page}?topups=7&page=x")


def test_the_words_are_given_in_the_customers_language_too(shop: Any, desk: Any) -> None:
    User.objects.filter(pk=shop.customer.pk).update(language="ru")
    order = shop.order()
    shop.network.pay(shop.ask(order))
    shop.block(1)
    html = desk.look_up(order.number)
    said = re.search(r'<q lang="ru">(.*?)</q>', html)
    assert said is not None and "1\xa0из\xa03" in said[1] and "Confirming, 1 of 3" in html
    assert "The whole story" in html


def test_what_a_customer_writes_is_shown_as_text(shop: Any, desk: Any) -> None:
    order = shop.order()
    Order.objects.filter(pk=order.pk).update(environment_wish="<script>alert(1)</script>", first_name="<b>x")
    inquiries.ask("<img src=x onerror=alert(1)>", intent=shop.ask(order), actor=shop.customer)
    html = desk.look_up(order.number)
    assert "<script>alert" not in html and "<img src=x" not in html and "<b>x" not in html


def test_sentences_say_nothing_twice() -> None:
    assert sentences("Paid", "", "Paid. An operator prepares it.", None) == "Paid. An operator prepares it."
    assert sentences("Seen", "Not in a block yet.") == "Seen. Not in a block yet."
