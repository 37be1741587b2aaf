"""Making, declaring and ending payment instructions, and every reason why they can't be made."""

import re
import uuid
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from story import ask, kinds, make_customer, make_offer, save_order

from orders.models import Hold
from payments import errors, queries
from payments.actions import intents
from payments.actions.reserve import add_addresses
from payments.models import LastRate, NetworkCursor, PaymentIntent, RateSample, ReservedAddress, ReviewItem
from payments.pages import page_of
from payments.registry import method, methods

pytestmark = pytest.mark.django_db


def columns(intent: PaymentIntent) -> dict[str, Any]:
    return dict(PaymentIntent.objects.filter(pk=intent.pk).values().get())


def refused_on_page(client: Any, shop: Any, order: Any, code: str = "eth", *, status: int = 409) -> str:
    """Ask on the page as the customer does, and return it: nothing was promised and no address is on it."""
    client.force_login(shop.customer)
    before = PaymentIntent.objects.count()
    url = reverse("payments:choose", args=[order.number])
    response = client.post(url, {"method": code, "form_key": uuid.uuid4()})
    assert response.status_code == status
    assert PaymentIntent.objects.count() == before
    html = str(response.content.decode())
    for address in ReservedAddress.objects.values_list("address", flat=True):
        assert address not in html
    return html


# --- PAY-2, PAY-3 -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("code", "amount", "minutes"), [("eth", 33_671 * 10**12, 15), ("usdt-ethereum", 100_310_000, 60)]
)
def test_pay_2_instructions_state_amount_rate_source_address_network_and_end(
    shop: Any, code: str, amount: int, minutes: int
) -> None:
    order = shop.order()
    intent = shop.ask(order, code)
    assert (intent.amount, intent.usd_cents, intent.network) == (amount, 10_000, "ethereum")
    assert (intent.expires_at - intent.created_at).total_seconds() == minutes * 60
    assert ReservedAddress.objects.get(intent=intent).issued_at == intent.created_at
    assert intent.rate_evidence["samples"][0]["source"] == "fixed"
    market = int(intent.rate_evidence["market_e8"])
    assert intent.rate_e8 == market * (10_000 - intent.rate_evidence["markup_basis_points"]) // 10_000
    assert intent.born_height is not None


def test_pay_2_the_page_says_all_of_it_and_what_if(shop: Any, client: Any, settings: Any) -> None:
    settings.TOLERANCE_VOLATILE, settings.SUPPORT_CONTACT = (25, 150), "help@shop.example"
    intent = shop.ask(shop.order())
    client.force_login(shop.customer)
    url = reverse("payments:intent", args=[intent.pk])
    html = client.get(url).text
    for said in (
        "0.033671",
        "ETH on Ethereum",
        "2970 USD for one ETH",
        "markup of 1 %",
        f"{intent.expires_at:%H:%M}",
    ):
        assert said in html, said
    assert f"Price from the operator, {intent.created_at:%H:%M} UTC." in html
    assert "Short by up to 0.25 % (at most $1.50) counts as whole" in html
    shop.wait(minutes=16)
    html = client.get(url).text
    assert f"Name {intent.order.number} and the instructions {intent.pk}." in html
    assert "0.033671" not in html


def test_pay_3_new_instructions_have_the_rate_of_their_moment_and_the_old_ones_stay(shop: Any, settings: Any) -> None:
    order = shop.order()
    first = shop.ask(order)
    frozen = columns(first)
    shop.wait(16)
    shop.block()
    settings.FIXED_RATES = {"ETH": "6000"}
    second = shop.ask(order)
    assert second.amount < first.amount
    assert second.address_id != first.address_id
    first.refresh_from_db()
    changed = {name for name, value in columns(first).items() if frozen[name] != value}
    assert changed == {"quote", "ended_at"}
    assert order.intents.count() == 2


def test_ord_7_and_pay_2_the_same_form_twice_is_one_promise(shop: Any) -> None:
    order, key = shop.order(), uuid.uuid4()
    first = ask(order, form_key=key)
    assert ask(order, "usdt-ethereum", form_key=key) == first
    assert PaymentIntent.objects.count() == 1
    assert ReservedAddress.objects.exclude(issued_at=None).count() == 1


def test_case_31_no_address_is_ever_issued_twice(shop: Any) -> None:
    addresses = [shop.ask(shop.order()).address.address for _ in range(6)]
    assert len(set(addresses)) == 6


def test_at_most_three_live_instructions_of_an_order(shop: Any) -> None:
    order = shop.order()
    first, *_ = [shop.ask(order) for _ in range(3)]
    with pytest.raises(errors.TooManyLive, match="3 live payment instructions"):
        shop.ask(order)
    shop.end_of(first)
    shop.ask(order)


@pytest.mark.parametrize(("code", "minimum"), [("eth", "$15.00"), ("usdt-ethereum", "$20.00")])
def test_case_56_a_sum_that_does_not_cover_the_cost_of_sweeping_is_refused(
    shop: Any, client: Any, code: str, minimum: str
) -> None:
    small = save_order(shop.customer, make_offer(price_cents=1_499, name="Small"))
    html = refused_on_page(client, shop, small, code)
    assert f"can&#x27;t be used for less than {minimum}. Choose another method." in html


# --- PAY-4 --------------------------------------------------------------------------------------------------------
def test_pay_4_a_declaration_changes_no_money_no_clock_and_no_hold(shop: Any) -> None:
    order = shop.order()
    first = shop.ask(order)
    second = shop.ask(order, "usdt-ethereum")
    before, hold = columns(first), Hold.objects.values().get()
    shop.wait(5)
    intents.declare(first.pk, actor=shop.customer)
    shop.network.watch()
    after = columns(first)
    assert {name for name in after if after[name] != before[name]} == {"declared_at"}
    assert Hold.objects.values().get() == hold
    order.refresh_from_db()
    assert (order.state, order.payment) == ("open", "none")
    assert shop.balance() == 0
    assert columns(second)["declared_at"] is None
    declared_at = after["declared_at"]
    shop.wait(1)
    intents.declare(first.pk, actor=shop.customer)
    assert columns(first)["declared_at"] == declared_at
    assert kinds(order).count("intent.declared") == 1


def test_case_p15_and_pay_4_a_declaration_prolongs_nothing(shop: Any) -> None:
    intent = shop.ask(shop.order())
    intents.declare(intent.pk, actor=shop.customer)
    shop.end_of(intent, plus=46)
    shop.look_at_holds()
    assert shop.free() == 10
    intent.refresh_from_db()
    assert intent.quote == "expired"


def test_pay_4_the_page_says_so_also_when_one_comes_back(shop: Any, client: Any) -> None:
    intent = shop.ask(shop.order())
    client.force_login(shop.customer)
    url = reverse("payments:intent", args=[intent.pk])
    assert "Payment declared." not in client.get(url).content.decode()
    client.post(reverse("payments:declare", args=[intent.pk]))
    for page in (url, url, reverse("orders:detail", args=[intent.purpose.number])):
        assert "Payment declared. Verification in progress." in client.get(page).content.decode()
    assert not re.search(r'name="(txid|hash|transaction)', client.get(url).content.decode())


def test_pay_3_each_of_the_earlier_instructions_has_its_own_button(shop: Any, client: Any) -> None:
    order = shop.order()
    made = [shop.ask(order), shop.ask(order, "usdt-ethereum"), shop.ask(order)]
    client.force_login(shop.customer)
    html = client.get(reverse("orders:detail", args=[order.number])).content.decode()
    for intent in made:
        assert f'action="{reverse("payments:declare", args=[intent.pk])}"' in html


def test_other_people_s_instructions_do_not_exist(shop: Any, client: Any) -> None:
    intent = shop.ask(shop.order())
    client.force_login(make_customer("eve@example.com"))
    for name in ("intent", "status"):
        assert client.get(reverse(f"payments:{name}", args=[intent.pk])).status_code == 404
    for name in ("declare", "cancel"):
        assert client.post(reverse(f"payments:{name}", args=[intent.pk])).status_code == 404
    number = intent.order.number
    assert client.get(reverse("payments:choose", args=[number])).status_code == 404
    assert client.post(reverse("payments:balance", args=[intent.purpose.number])).status_code == 404
    intent.refresh_from_db()
    assert (intent.declared_at, intent.quote) == (None, "open")


def test_a_closed_order_is_led_to_its_page_with_the_reason(shop: Any, client: Any) -> None:
    from orders.actions import cancel_order

    order = shop.order()
    cancel_order(order.pk, actor=shop.customer)
    client.force_login(shop.customer)
    url = reverse("payments:choose", args=[order.number])
    for response in (client.get(url, follow=True), client.post(url, {"method": "eth"}, follow=True)):
        assert response.redirect_chain[0][0] == reverse("orders:detail", args=[order.number])
        assert "be paid any more" in response.content.decode()


def test_a_get_changes_nothing(shop: Any, client: Any, django_assert_num_queries: Any) -> None:
    intent = shop.ask(shop.order())
    client.force_login(shop.customer)
    for name in ("declare", "cancel"):
        assert client.get(reverse(f"payments:{name}", args=[intent.pk])).status_code == 405
    assert client.get(reverse("payments:balance", args=[intent.purpose.number])).status_code == 405


# --- PAY-6 --------------------------------------------------------------------------------------------------------
def test_pay_6_and_case_46_a_stale_price_is_said_with_the_time_of_the_last_one(shop: Any, client: Any) -> None:
    order = shop.order()
    earlier = shop.ask(order)
    shop.wait(3)
    shop.network.watch()
    html = refused_on_page(client, shop, order, status=503)
    said = "No current price of ETH is known; the last is from 1 May 2026, 12:00 UTC. Nothing is lost: try again soon."
    assert said in html, re.findall(r"[^<>]*price[^<>]*", html)
    order.refresh_from_db()
    assert order.state == "open"
    earlier.refresh_from_db()
    assert earlier.quote == "open"


def test_pay_6_and_case_78_no_price_at_all_is_never_a_price_of_one(shop: Any, client: Any) -> None:
    order = shop.order()
    RateSample.objects.all().delete()
    LastRate.objects.all().delete()
    html = refused_on_page(client, shop, order, status=503)
    assert "No price of ETH is known yet. Nothing is lost: try again soon." in html


def test_pay_6_one_asset_without_a_price_leaves_the_other_usable(shop: Any, client: Any) -> None:
    order = shop.order()
    RateSample.objects.filter(symbol="ETH").delete()
    LastRate.objects.filter(symbol="ETH").delete()
    client.force_login(shop.customer)
    html = client.get(reverse("payments:choose", args=[order.number])).content.decode()
    assert "No price of ETH is known yet." in html
    assert 'value="usdt-ethereum"' in html
    assert 'value="eth"' not in html


def test_pay_6_and_case_18_an_empty_reserve_is_said(shop: Any, client: Any) -> None:
    order = shop.order()
    earlier = shop.ask(order)
    ReservedAddress.objects.filter(issued_at=None).delete()
    html = refused_on_page(client, shop, order, status=503)
    assert "No receiving address on Ethereum is ready. Nothing is lost: try again soon." in html
    earlier.refresh_from_db()
    assert earlier.quote == "open"


def test_case_37_a_reserve_that_runs_low_is_an_alarm_and_below_the_last_level_nothing_is_promised(
    shop: Any, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    from payments.tasks import fill_reserves

    settings.RESERVE_SIZE, settings.RESERVE_LOW, settings.RESERVE_EMPTY = 20, 5, 3
    order = shop.order()
    fill_reserves()
    assert not caplog.records
    ready = ReservedAddress.objects.filter(network="ethereum", issued_at=None)
    kept = ready.order_by("index").values_list("pk", flat=True)[:4]
    ReservedAddress.objects.exclude(pk__in=list(kept)).delete()
    settings.RESERVE_SIZE = 0  # as if the key could not be reached
    fill_reserves()
    assert "ethereum: only 4 addresses are ready; below 3 none is given" in caplog.text
    shop.ask(order)
    shop.ask(order)
    with pytest.raises(errors.NoAddress):
        shop.ask(order)


def test_addresses_of_another_key_are_not_handed_out(shop: Any) -> None:
    order = shop.order()
    NetworkCursor.objects.update(fingerprint="another key")
    with pytest.raises(errors.NoAddress):
        shop.ask(order)


@pytest.mark.parametrize("changed", ["address", "index", "seal", "swapped", "network"])
def test_pay_6_a_reserved_row_that_was_changed_is_not_handed_out_and_comes_before_a_person(
    shop: Any, client: Any, changed: str
) -> None:
    order = shop.order()
    first, second = ReservedAddress.objects.filter(issued_at=None).order_by("index")[:2]
    rows = ReservedAddress.objects.filter(pk=first.pk)
    if changed == "address":
        rows.update(address="0x" + "a" * 40)
    elif changed == "index":
        rows.update(index=99_999)
        ReservedAddress.objects.exclude(pk=first.pk).delete()
    elif changed == "seal":
        rows.update(seal=second.seal)
    elif changed == "swapped":
        rows.update(address="0x")
        ReservedAddress.objects.filter(pk=second.pk).update(address=first.address)
        rows.update(address=second.address)
    else:
        rows.update(network="bitcoin")
        NetworkCursor.objects.create(
            network="bitcoin", fingerprint=first.fingerprint, genesis=first.genesis, state="watching"
        )
        from payments.actions.reserve import issue

        with pytest.raises(errors.BrokenSeal):
            issue(NetworkCursor.objects.get(pk="bitcoin"), "Bitcoin")
        return
    html = refused_on_page(client, shop, order)
    assert "The next address on Ethereum failed our check and is not shown. Nothing is lost: ask support." in html
    assert not ReservedAddress.objects.exclude(issued_at=None).exists()
    refused_on_page(client, shop, order)
    assert ReviewItem.objects.get().subject == f"reservedaddress:{first.pk}"


def test_an_address_sealed_for_another_installation_is_refused(shop: Any, settings: Any) -> None:
    order = shop.order()
    settings.ADDRESS_SEAL_KEY = "another key"
    with pytest.raises(errors.BrokenSeal):
        shop.ask(order)


def test_case_32_and_37_the_reserve_goes_on_after_the_highest_index_and_a_pair_twice_is_one(shop: Any) -> None:
    before = ReservedAddress.objects.count()
    row = ReservedAddress.objects.order_by("-index").first()
    assert row
    add_addresses("ethereum", genesis=row.genesis, fingerprint=row.fingerprint, derived=[(row.index, row.address)])
    assert ReservedAddress.objects.count() == before
    shop.ask(shop.order())
    from payments.watcher import fill_reserve

    fill_reserve("ethereum", 20)
    assert ReservedAddress.objects.filter(issued_at=None).count() == 20
    assert sorted(ReservedAddress.objects.values_list("index", flat=True)) == list(range(21))


# --- PAY-9 --------------------------------------------------------------------------------------------------------
def whole_page(client: Any, intent: PaymentIntent) -> str:
    """Return the page, the fragment that replaces parts of it, and the order's page with the history."""
    url, status = (reverse(f"payments:{name}", args=[intent.pk]) for name in ("intent", "status"))
    number = intent.purpose.number
    order = reverse("orders:detail", args=[number])
    parts = [client.get(url), client.get(status, headers={"hx-request": "true"}), client.get(order)]
    parts.append(client.get(reverse("orders:status", args=[number]), headers={"hx-request": "true"}))
    assert {part.status_code for part in parts} == {200}
    return "\n".join(part.content.decode() for part in parts)


def offered(html: str, intent: PaymentIntent) -> set[str]:
    """Return which of amount, address and QR code stand anywhere in the HTML, in whole or in groups."""
    page = page_of(intent)
    bare = re.sub(r"<[^>]+>|\s", "", html)
    found = set()
    if page.amount_text in html or (page.missing and page.missing_text in html):
        found.add("amount")
    if page.address_text in html or page.address_text in bare or page.address_text.lower() in html.lower():
        found.add("address")
    if "<path" in html and "Scan with a wallet" in html:
        found.add("qr")
    return found


def test_pay_9_open_instructions_offer_amount_address_and_qr(shop: Any, client: Any) -> None:
    intent = shop.ask(shop.order())
    client.force_login(shop.customer)
    assert offered(whole_page(client, intent), intent) == {"amount", "address", "qr"}


@pytest.mark.parametrize("how", ["expired", "clock only", "cancelled", "superseded", "paid by another"])
def test_pay_9_and_p11_from_the_end_nothing_offers_amount_address_or_qr(shop: Any, client: Any, how: str) -> None:
    order = shop.order()
    intent = shop.ask(order)
    client.force_login(shop.customer)
    if how == "expired":
        shop.end_of(intent)
    elif how == "clock only":
        shop.clock.move_to(intent.expires_at)
    elif how == "cancelled":
        intents.cancel(intent.pk, actor=shop.customer)
    elif how == "superseded":
        shop.ask(order, "usdt-ethereum")
    else:
        other = shop.ask(order, "usdt-ethereum")
        shop.network.pay(other)
        shop.block(3)
    intent = PaymentIntent.objects.select_related("order").get(pk=intent.pk)
    html = whole_page(client, intent)
    assert offered(html, intent) == set()
    assert "Do not send now." in html
    if how in ("expired", "clock only", "superseded"):
        assert f'action="{reverse("payments:declare", args=[intent.pk])}"' in html


def test_pay_9_superseded_instructions_say_until_when_they_are_honoured(shop: Any, client: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.wait(5)
    shop.ask(order, "usdt-ethereum")
    client.force_login(shop.customer)
    html = client.get(reverse("payments:intent", args=[intent.pk])).content.decode()
    assert "Newer instructions exist: use those. These are honoured until 1 May 2026, 12:15 UTC." in html
    assert "Transfer seen" not in html


def test_case_54_the_qr_code_of_a_demo_is_useless_to_a_real_wallet(shop: Any) -> None:
    intent = shop.ask(shop.order(), "usdt-ethereum")
    page = page_of(intent)
    uri = page.method.family.payment_uri(intent.address.address, page.asset, intent.amount)
    assert uri.startswith("simulated:")


@pytest.mark.parametrize("language", ["en", "ru"])
def test_case_85_what_is_copied_is_plain_in_every_language(shop: Any, client: Any, language: str) -> None:
    intent = shop.ask(shop.order())
    client.force_login(shop.customer)
    client.cookies["django_language"] = language
    html = client.get(reverse("payments:intent", args=[intent.pk])).content.decode()
    copied = re.findall(r'data-copy="([^"]*)"', html)
    assert page_of(intent).amount_text in copied
    assert all(re.fullmatch(r"\d+(\.\d+)?|0x[0-9a-fA-F]{40}", text) for text in copied)


def test_case_66_less_than_an_address_must_hold_is_not_asked_for(shop: Any) -> None:
    """At $1,000.00 a coin $1.50 is 0.0015 SOL: the network itself would refuse a first payment that small."""
    shop.network.price({"SOL": "1000"})
    found = queries.market(method("sol"), 150, NetworkCursor.objects.get(pk="ethereum"), None, timezone.now())
    assert "less than 0.002 SOL" in str(found)


def test_case_56_every_method_has_a_minimum_that_covers_the_cost_of_sweeping() -> None:
    minimums = {known.code: known.asset.minimum_cents for known in methods()}
    assert minimums == {
        "btc": 1_000,
        "ltc": 200,
        "eth": 1_500,
        "usdt-ethereum": 2_000,
        "usdc-ethereum": 2_000,
        "trx": 200,
        "usdt-tron": 500,
        "sol": 100,
    }
