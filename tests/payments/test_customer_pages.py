"""What customers read and can do while money is short, late, reversed, or waits for stock."""

import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from qr import read_qr
from story import ask, books_are_right, give, make_customer, save_order

from money.units import parse
from orders.actions import release
from orders.models import Order
from payments.actions import intents
from payments.models import PaymentIntent
from payments.registry import method

pytestmark = pytest.mark.django_db


def look(client: Any, name: str, *args: object, **get: str) -> str:
    """Return a page's HTML, tags left in."""
    answer = client.get(reverse(name, args=args), get)
    assert answer.status_code == 200, answer.status_code
    return str(answer.content.decode())


def part_paid(shop: Any, share: int = 60) -> tuple[Order, PaymentIntent]:
    """Return an order whose instructions expired with a share of its price credited."""
    order = shop.order()
    intent = shop.ask(order, "usdt-ethereum")
    shop.network.pay(intent, intent.amount * share // 100)
    shop.block(4)
    shop.end_of(intent, plus=1)
    shop.block(1)
    intent.refresh_from_db()
    assert intent.settlement == "credited"
    return order, intent


@pytest.fixture
def ada(shop: Any, client: Any) -> Any:
    client.force_login(shop.customer)
    return client


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-05"])
def test_after_a_part_the_pages_offer_the_rest_by_new_instructions_and_from_the_balance(
    shop: Any, ada: Any, case: str
) -> None:
    order, intent = part_paid(shop)
    shop.network.price()
    rest = f"${(10_000 - shop.balance()) / 100:.2f}"
    for html in (look(ada, "orders:detail", order.number), look(ada, "payments:intent", intent.pk)):
        assert f"New instructions for the rest of {rest}" in html
        assert "from balance" not in html
    html = look(ada, "payments:choose", order.number)
    assert rest in html
    assert f"Of $100.00, ${shop.balance() / 100:.2f} has arrived and is in your balance." in html
    give(shop.customer, 5_000)
    for name, key in (
        ("orders:detail", order.number),
        ("payments:intent", intent.pk),
        ("payments:choose", order.number),
    ):
        assert f"Pay the rest of {rest} from balance" in look(ada, name, key)
    ada.post(reverse("payments:balance", args=[order.number]))
    order.refresh_from_db()
    assert order.state == "settled"
    books_are_right()


def test_new_instructions_ask_for_the_rest_only_and_settle_the_whole(shop: Any, ada: Any) -> None:
    order, _ = part_paid(shop)
    shop.network.price()
    form = {"method": "usdt-ethereum", "form_key": str(uuid.uuid4())}
    ada.post(reverse("payments:choose", args=[order.number]), form)
    rest = order.intents.latest("created_at")
    assert rest.usd_cents == 10_000 - shop.balance()
    shop.network.pay(rest)
    shop.block(4)
    order.refresh_from_db()
    assert (order.state, shop.balance()) == ("settled", 0)


def test_a_part_that_was_spent_meanwhile_is_named_and_does_not_count(shop: Any, ada: Any) -> None:
    order, intent = part_paid(shop)
    part = shop.balance()
    give(shop.customer, 10_000 - part)
    other = save_order(shop.customer, shop.offer)
    intents.pay_from_balance(other.pk, actor=shop.customer)
    assert shop.balance() == 0
    for name, key in (
        ("orders:detail", order.number),
        ("payments:intent", intent.pk),
        ("payments:choose", order.number),
    ):
        html = look(ada, name, key)
        assert f"Of the ${part / 100:.2f} that arrived, ${part / 100:.2f} was spent meanwhile." in html
        assert "New instructions for the rest" not in html


def test_a_rest_too_small_for_every_network_leads_to_the_balance(shop: Any, ada: Any) -> None:
    order, _ = part_paid(shop, 95)
    assert "No method can carry so little." in look(ada, "payments:choose", order.number)


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-15"])
@pytest.mark.parametrize("wanted", [False, True])
def test_late_money_is_named_and_pays_the_order_only_if_that_was_asked_for(
    shop: Any, ada: Any, case: str, *, wanted: bool
) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.end_of(intent)
    url = reverse("payments:late", args=[intent.pk])
    ada.post(url, {"pay_if_late": "yes"})
    assert "Chosen: money that is too late still pays this order." in look(ada, "payments:intent", intent.pk)
    if not wanted:
        ada.post(url, {"pay_if_late": "no"})
        assert "Chosen: money that is too late stays in your balance." in look(ada, "payments:intent", intent.pk)
    shop.wait(6 * 60)
    shop.network.price()
    shop.network.pay(intent)
    shop.block(4)
    order.refresh_from_db()
    assert order.state == ("settled" if wanted else "open")
    html = look(ada, "payments:intent", intent.pk)
    assert "Paid late, credited" in html
    assert "It came too late for the promised rate" in html
    books_are_right()


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-19"])
def test_a_little_late_is_never_called_expired_and_says_when_it_is_decided(shop: Any, ada: Any, case: str) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.end_of(intent)
    shop.network.price()
    shop.network.pay(intent, intent.amount // 2)
    shop.network.watch()
    html = look(ada, "payments:intent", intent.pk)
    assert "not by more than 30 minutes" in html
    shop.block(4)
    html = look(ada, "payments:intent", intent.pk)
    assert "Late, not decided yet" in html
    assert f"{intent.expires_at + timedelta(minutes=30):%H:%M} UTC" in html
    assert "Expired" not in html
    shop.network.pay(intent, intent.amount // 2)
    shop.block(4)
    order.refresh_from_db()
    assert order.state == "settled"
    assert "Nothing more is due" in look(ada, "payments:intent", intent.pk)
    books_are_right()


def top_up(client: Any, cents: int = 50_000) -> Any:
    """Make a top-up as the balance page does."""
    from payments.models import TopUp

    answer = client.post(reverse("payments:make_topup"), {"amount_cents": cents, "form_key": str(uuid.uuid4())})
    topup = TopUp.objects.latest("pk")
    assert answer.url == reverse("payments:choose_topup", args=[topup.number])
    return topup


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-27"])
def test_three_transfers_over_two_days_are_three_credits_of_a_top_up(shop: Any, ada: Any, case: str) -> None:
    topup = top_up(ada)
    shop.network.price()
    form = {"method": "usdt-ethereum", "form_key": str(uuid.uuid4())}
    ada.post(reverse("payments:choose_topup", args=[topup.number]), form)
    intent = topup.intents.get()
    for day in range(3):
        shop.network.pay(intent, intent.amount * 36 // 100)
        shop.block(4)
        html = look(ada, "payments:topup", topup.number)
        assert ("Partly credited" if day < 2 else "Covered") in html
        assert f"${shop.balance() / 100:.2f}" in html
        shop.wait(24 * 60)
        shop.network.price()
        shop.block(1)
    assert look(ada, "balance:statement").count("USDT (Ethereum) received") == 3
    assert shop.balance() >= 50_000
    assert "Receipt" in look(ada, "payments:receipt", topup.number)
    assert "Top-up" in look(ada, "payments:intent", intent.pk)
    books_are_right()


def test_money_on_its_way_stands_apart_from_what_is_available(shop: Any, ada: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    assert "On its way" not in look(ada, "balance:statement")
    shop.network.pay(intent, intent.amount // 2)
    shop.block(1)
    html = look(ada, "balance:statement")
    assert "On its way" in html
    assert "$50.00" in html
    shop.block(3)
    shop.end_of(intent, plus=1)
    shop.block(1)
    assert "On its way" not in look(ada, "balance:statement")
    assert shop.balance() == 5_000


def test_the_same_form_twice_is_one_top_up_and_an_amount_not_listed_is_none(shop: Any, ada: Any) -> None:
    form = {"amount_cents": 10_000, "form_key": str(uuid.uuid4())}
    first, second = (ada.post(reverse("payments:make_topup"), form).url for _ in range(2))
    assert first == second
    ada.post(reverse("payments:make_topup"), form | {"amount_cents": 123, "form_key": str(uuid.uuid4())})
    assert shop.customer.topups.count() == 1
    assert "Choose one of the amounts shown." in look(ada, "balance:statement")


def test_a_part_of_a_top_up_leaves_the_missing_amount_to_send(shop: Any, ada: Any) -> None:
    topup = top_up(ada)
    intent = intents.open_topup_intent(topup.pk, "usdt-ethereum", form_key=uuid.uuid4(), actor=shop.customer)
    shop.network.pay(intent, intent.amount // 2)
    shop.block(4)
    html = look(ada, "payments:intent", intent.pk)
    assert "Amount that is missing" in html
    assert "of it is in your balance already." in html
    assert "I send later" in html
    assert "Let late money pay this order" not in html


def test_an_exchange_gets_an_hour_and_the_hint_about_its_fee(shop: Any, ada: Any) -> None:
    order = shop.order()
    shop.network.price()
    url = reverse("payments:choose", args=[order.number])
    ada.post(url, {"method": "eth", "form_key": str(uuid.uuid4()), "exchange": "on", "pay_if_late": "on"})
    intent = order.intents.get()
    assert (intent.exchange, intent.pay_if_late) == (True, True)
    assert intent.expires_at - intent.created_at == timedelta(minutes=60)
    assert "Enter so much that the exact amount arrives." in look(ada, "payments:intent", intent.pk)


def test_a_refusal_keeps_what_was_chosen(shop: Any, ada: Any, settings: Any) -> None:
    order = shop.order()
    shop.network.price()
    settings.INTENTS_PER_HOUR = 0
    form = {"method": "eth", "form_key": str(uuid.uuid4()), "exchange": "on"}
    answer = ada.post(reverse("payments:choose", args=[order.number]), form)
    assert answer.status_code == 409
    html = answer.content.decode()
    assert re.search(r'value="eth" required checked', html)
    assert re.search(r'name="exchange" checked', html)


def test_the_rules_say_the_numbers_that_decide(shop: Any, ada: Any, settings: Any) -> None:
    settings.TOLERANCE_VOLATILE, settings.OTHER_ASSET_LIMIT_CENTS = (30, 170), 4_200
    settings.UNPROMISED_LIMIT_CENTS = 123_400
    html = look(ada, "payments:intent", shop.ask(shop.order()).pk)
    for said in ("0.30 % (at most $1.70)", "up to 110 %", "Up to 30 minutes late", "99 %", "up to $42.00", "$1,234.00"):
        assert said in html, said


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-55"])
@pytest.mark.parametrize("code", ["eth", "usdt-ethereum"])
def test_the_qr_code_says_what_the_page_says(shop: Any, ada: Any, case: str, code: str) -> None:
    intent = shop.ask(shop.order(), code)
    html = look(ada, "payments:intent", intent.pk)
    amount, address = re.findall(r'data-copy="([^"]+)"', html)[:2]
    asset = method(code).asset
    assert f"{asset.symbol} on Ethereum" in html
    text = f"simulated:ethereum:{address}?asset={asset.symbol}&amount={parse(amount, asset.decimals)}"
    figure = re.search(r'<figure class="qr">(.*?</svg>)', html, re.S)
    assert figure
    assert read_qr(figure[1]) == text


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-39"])
def test_nobody_else_finds_a_page_about_money(shop: Any, ada: Any, client: Any, case: str) -> None:
    order = shop.order()
    intent = shop.ask(order)
    topup = top_up(ada)
    asked = intents.open_topup_intent(topup.pk, "usdt-ethereum", form_key=uuid.uuid4(), actor=shop.customer)
    assert {intent.pk.version, asked.pk.version} == {4}
    assert len(intent.pk.bytes) * 8 == 128
    pages = [reverse(f"payments:{name}", args=[i.pk]) for i in (intent, asked) for name in ("intent", "status")]
    pages += [reverse(f"payments:{name}", args=[topup.number]) for name in ("topup", "topup_status", "choose_topup")]
    pages += [reverse("payments:receipt", args=[number]) for number in (order.number, topup.number)]
    pages += [reverse("orders:to_balance", args=[order.number]), reverse("payments:choose", args=[order.number])]
    assert {client.get(page).status_code for page in pages} <= {200, 302}
    client.force_login(make_customer("eve@example.com"))
    assert {client.get(page).status_code for page in pages} == {404}
    writes = [reverse(f"payments:{name}", args=[intent.pk]) for name in ("late", "declare", "cancel")]
    writes += [reverse("payments:balance", args=[order.number]), reverse("orders:to_balance", args=[order.number])]
    assert {client.post(page).status_code for page in writes} == {404}


def test_paid_without_stock_says_so_and_one_confirmed_button_gives_the_sum_back(shop: Any, ada: Any) -> None:
    order = shop.order(lots=10)
    intent = shop.ask(order)
    release(order.holds.get())
    save_order(make_customer("bob@example.com"), shop.offer)  # one of its ten lots is somebody else's now
    shop.network.pay(intent)
    shop.block(4)
    url = reverse("orders:to_balance", args=[order.number])
    html = look(ada, "orders:detail", order.number)
    assert "Paid, waiting for stock." in html
    assert url in html
    assert "Move $1,000.00 to your balance?" in ada.get(url).content.decode()
    order.refresh_from_db()
    assert order.state == "settled"  # asking changes nothing
    for _ in range(2):
        ada.post(url)
    order.refresh_from_db()
    assert (order.state, shop.balance()) == ("returned", 100_000)
    html = look(ada, "orders:detail", order.number)
    assert "Given back" in html
    assert "Given back" in look(ada, "orders:list")
    assert "Order given back, its sum moved to the balance" in look(ada, "balance:statement")
    books_are_right()


def test_a_reversal_is_said_kindly_on_order_instructions_statement_and_board(shop: Any, ada: Any) -> None:
    from story import make_operator

    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent)
    shop.block(4)
    shop.network.chain.reorg(4, keep=False)
    shop.network.watch()
    shop.network.watch()
    assert "The network took your payment back after it was final." in look(ada, "orders:detail", order.number)
    assert "Paid, needs help" in look(ada, "orders:list")
    assert "so its credit was taken back too" in look(ada, "payments:intent", intent.pk)
    html = look(ada, "balance:statement")
    assert "$100.00 is missing in your balance." in html
    assert "taken back by the network" in html
    ada.force_login(make_operator())
    board = reverse("admin:provisioning_rental_changelist")
    for query, shown in (("", True), ("?payment=gone", True)):
        assert (order.number in ada.get(board + query).content.decode()) is shown
    order.needs_help_at = None
    order.save(update_fields=["needs_help_at"])
    assert order.number not in ada.get(f"{board}?payment=gone").content.decode()


def test_the_statement_leads_to_what_each_line_is_about_and_the_file_keeps_the_reference(shop: Any, ada: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent, intent.amount * 9960 // 10_000)
    shop.block(4)
    html = look(ada, "balance:statement")
    for words in ("ETH (Ethereum) received", "Shortfall within the tolerance, given by us", "Order paid"):
        assert words in html
    assert f"intent:{intent.pk}" not in html
    assert reverse("payments:intent", args=[intent.pk]) in html
    assert order.get_absolute_url() in html
    text = ada.get(reverse("payments:statement_csv")).text
    assert f"ETH (Ethereum) received: order {order.number}" in text
    assert f"intent:{intent.pk}:tolerance" in text


def test_the_wallet_of_each_network_pays_and_mines_on_it(shop: Any, ada: Any) -> None:
    topup = top_up(ada)
    intent = intents.open_topup_intent(topup.pk, "usdt-ethereum", form_key=uuid.uuid4(), actor=shop.customer)
    url = f"{reverse('payments:wallet')}?intent={intent.pk}"
    html = ada.get(url).content.decode()
    assert "USDT (Ethereum)" in html
    sent = {"method": intent.method, "address": intent.address.address, "amount": "10", "action": "pay"}
    assert ada.post(url, sent).url == reverse("payments:intent", args=[intent.pk])
    height = shop.network.chain.head().height
    ada.post(f"{reverse('payments:wallet')}?network=ethereum", {"action": "mine"})
    assert shop.network.chain.head().height == height + 1
    assert ada.get(f"{reverse('payments:wallet')}?network=nonsense").status_code == 200


def test_asking_again_through_the_action_and_the_page_is_one_promise(shop: Any, ada: Any) -> None:
    order = shop.order()
    key = uuid.uuid4()
    shop.network.price()
    first = ask(order, "eth", key)
    answer = ada.post(reverse("payments:choose", args=[order.number]), {"method": "eth", "form_key": str(key)})
    assert answer.url == reverse("payments:intent", args=[first.pk])
