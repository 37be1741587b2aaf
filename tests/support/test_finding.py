"""OPS-3, ORD-4, A11: one box finds a thing by what people have at hand, also with a slip, and says how it read it."""

import uuid
from itertools import pairwise
from typing import Any

import pytest
from desk import text_of
from hypothesis import given
from hypothesis import strategies as st
from story import make_customer, save_order

from accounts.models import User
from orders import numbers
from orders.models import Order
from payments.actions.intents import open_topup_intent
from payments.actions.topups import make_topup
from payments.models import ChainTransfer, ReservedAddress
from support import finders

pytestmark = pytest.mark.django_db
bodies = st.text(numbers.ALPHABET, min_size=7, max_size=7)


def whole(body: str) -> str:
    return body + numbers.ALPHABET[numbers.checksum(body)]


def with_number(order: Order, symbols: str) -> Order:
    Order.objects.filter(pk=order.pk).update(symbols=symbols)
    order.refresh_from_db()
    return order


SPELLINGS = [
    "GL-7K0M-19{}", "gl 7kom i9{}", "7k0ml9{}", "7K0M-I9{}", " gl7K0M19{} ", "GI-7KOM-L9{}",
    "https://shop.example/orders/GL-7K0M-19{}/",
]  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a11_an_order_is_found_in_any_spelling(shop: Any, desk: Any, spelling: str) -> None:
    symbols = whole("7K0M19Q")
    order = with_number(shop.order(), symbols)
    html = desk.look_up(spelling.format(symbols[6:]))
    assert order.number in text_of(html) and "The whole story" in html
    assert desk.last.subject == f"order:{order.pk}" and desk.last.kind == "order"


def test_ops_3_a_top_up_is_found_by_its_reference(shop: Any, desk: Any) -> None:
    topup = make_topup(shop.customer, 50_000, form_key=uuid.uuid4())
    for spelling in (topup.number, topup.number.lower().replace("-", " "), topup.symbols):
        assert topup.number in text_of(desk.look_up(spelling))
        assert desk.last.subject == f"topup:{topup.pk}"


def test_ops_3_an_address_and_a_transaction_lead_to_their_order(shop: Any, desk: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    txid = shop.network.pay(intent)
    shop.block(1)
    for text, kind in (
        (intent.address.address, "address"),
        (txid, "transaction"),
        (txid.upper(), "transaction"),
        (f"https://explorer.example/tx/{txid}?from=mail", "transaction"),
        (f"please look: {txid} thank you", "transaction"),
    ):
        assert order.number in text_of(desk.look_up(text)), text
        assert (desk.last.subject, desk.last.kind) == (f"order:{order.pk}", kind)


def test_ops_3_an_address_of_a_top_up_leads_to_the_top_up(shop: Any, desk: Any) -> None:
    topup = make_topup(shop.customer, 50_000, form_key=uuid.uuid4())
    shop.network.watch()
    intent = open_topup_intent(topup.pk, "usdt-ethereum", form_key=uuid.uuid4(), actor=shop.customer)
    assert topup.number in text_of(desk.look_up(intent.address.address))


def test_ops_3_one_transaction_that_pays_two_orders_lists_both(shop: Any, desk: Any) -> None:
    orders = [shop.order(), shop.order()]
    for order in orders:
        shop.network.pay(shop.ask(order))
    shop.block(1)
    first, second = ChainTransfer.objects.order_by("pk")
    ChainTransfer.objects.filter(pk=second.pk).update(txid=first.txid, position="log:7")
    text = text_of(desk.look_up(first.txid))
    assert "Several things were found" in text and all(order.number in text for order in orders)
    assert desk.last.outcome == "several" and desk.last.subject == "" and desk.last.customer is None
    answer = desk.follow(f"order:{orders[1].pk}")
    assert orders[1].number in text_of(desk.page(answer["Location"]))
    assert desk.last.kind == "followed" and desk.last.customer == shop.customer


def test_ops_3_an_email_finds_the_account_in_any_case(shop: Any, desk: Any) -> None:
    assert "Ada Lovelace" in text_of(desk.look_up(" Ada@Example.COM "))
    assert desk.last.subject == f"user:{shop.customer.pk}"


def test_ops_3_an_email_finds_the_accounts_whose_orders_name_it(shop: Any, desk: Any) -> None:
    other = make_customer("office@example.com")
    Order.objects.filter(pk=save_order(other, shop.offer).pk).update(email="Ada.Work@Example.com")
    desk.look_up("ada.work@example.COM")
    assert desk.last.subject == f"user:{other.pk}"
    Order.objects.filter(pk=shop.order().pk).update(email="office@example.com")
    text = text_of(desk.look_up("office@example.com"))
    assert desk.last.outcome == "several" and "ada@example.com" in text and "office@example.com" in text


def test_ord_4_one_slip_suggests_the_order(shop: Any, desk: Any) -> None:
    """A symbol missing, wrong, too many, or two swapped, with and without the prefix."""
    symbols = whole("7K3M9QX")
    order = with_number(shop.order(), symbols)
    slipped = {
        *(symbols[:at] + symbols[at + 1 :] for at in range(8)),
        *(symbols[:at] + "W" + symbols[at + 1 :] for at in range(8)),
        *(symbols[:at] + "5" + symbols[at:] for at in range(9)),
        *(symbols[:a] + symbols[b] + symbols[a] + symbols[b + 1 :] for a, b in pairwise(range(8))),
        symbols[:3] + "U" + symbols[4:],
    } - {symbols}  # fmt: skip
    for typed in sorted(slipped):
        for prefix in ("", "GL-", "gl "):
            answer = finders.search(prefix + typed)
            assert order in answer.rows and answer.suggested, prefix + typed
    text = text_of(desk.look_up(f"gl {symbols[:7]}".lower()))
    assert "Did you mean" in text and order.number in text
    assert desk.last.outcome == "suggested" and desk.last.hits == [f"order:{order.pk}"] and not desk.last.subject
    assert desk.follow(f"order:{order.pk}").status_code == 302


def test_ord_4_one_slip_suggests_the_top_up(shop: Any, desk: Any) -> None:
    topup = make_topup(shop.customer, 50_000, form_key=uuid.uuid4())
    assert topup.number in text_of(desk.look_up(f"TU-{topup.symbols[1:]}"))
    assert desk.last.outcome == "suggested"


@given(bodies, st.integers(0, 7), st.sampled_from(numbers.ALPHABET))
def test_ord_4_what_one_slip_makes_is_near_and_little_else_is(body: str, at: int, symbol: str) -> None:
    symbols = whole(body)
    for typed in (symbols[:at] + symbols[at + 1 :], symbols[:at] + symbol + symbols[at + 1 :]):
        near = numbers.near(f"GL{typed}", "GL")
        assert symbols in near and len(near) <= 40


def test_a11_nothing_found_says_what_was_understood(shop: Any, desk: Any) -> None:
    number = numbers.pretty(whole("7K3M9QX"), "GL")
    text = text_of(desk.look_up("gl 7k3m 9qx" + number[-1]))
    assert f"Read as an order number: {number} . There is no such order." in text
    assert desk.last.outcome == "nothing" and desk.last.kind == "order" and desk.last.hits == []
    text = text_of(desk.look_up(number.replace("GL-", "")))  # without its prefix it may be either
    assert "an order number" in text and "a top-up reference" in text
    assert "Read as an email address: nobody@example.com ." in text_of(desk.look_up("Nobody@example.com"))
    assert "Read as a transaction id" in text_of(desk.look_up("ab" * 32))
    assert "Read as a receiving address" in text_of(desk.look_up("0x" + "ab" * 20))
    assert "none of the kinds" in text_of(desk.look_up("Ada Lovelace, please"))


def test_an_address_that_nobody_was_given_finds_nothing(shop: Any, desk: Any) -> None:
    free = ReservedAddress.objects.filter(issued_at=None).first()
    assert free is not None
    assert "It was given to nobody" in text_of(desk.look_up(free.address))


@pytest.mark.parametrize(
    "text", ["\x00", "' OR 1=1 --", "%", "_", "😀" * 60, "a" * 4000, "@", "a@b@c", "GL-" + "0" * 300, "<script>"]
)
def test_nonsense_finds_nothing_and_breaks_nothing(desk: Any, text: str) -> None:  # fmt: skip
    answer = desk.client.post("/support/look-up/", {"text": text}, follow=True)
    assert answer.status_code == 200
    assert "<script>alert" not in answer.content.decode() and User.objects.filter(is_staff=True).count() == 1
