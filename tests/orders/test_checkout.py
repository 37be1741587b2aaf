"""The customer's way from a choice to a saved order, as pages."""

import re
import uuid
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.urls import reverse
from story import PASSWORD, make_customer, make_offer, save_order

from accounts.models import User
from catalog.models import Offer
from orders.models import Hold, Order

pytestmark = pytest.mark.django_db
QUERY = {"offer": "h100-sxm", "term": "7", "lots": "2", "environment": "other", "environment_other": "JAX & ünïcode"}


@pytest.fixture
def ada(db: None) -> User:
    customer: User = make_customer()
    return customer


@pytest.fixture
def h100(db: None) -> Offer:
    from orders.actions import ensure_environments

    ensure_environments()
    offer: Offer = make_offer()
    return offer


def hidden(html: str) -> dict[str, str]:
    """Return the hidden fields of the order form as the browser would send them."""
    inputs = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', html)
    return {name: value.replace("&amp;", "&") for name, value in inputs if name != "csrfmiddlewaretoken"}


def filled(client: Any, **changed: str) -> dict[str, str]:
    """Open the check step and return what the form would send."""
    html = client.get(reverse("orders:checkout"), QUERY, follow=True).content.decode()
    contact = {"first_name": "Ada", "last_name": "King", "email": "ada@work.example"}
    return hidden(html) | contact | changed


def test_ord_1_a_choice_survives_the_way_through_sign_in(ada: User, h100: Offer, client: Any) -> None:
    page = client.get(reverse("orders:checkout"), QUERY, follow=True).content.decode()
    login = re.search(r'href="(/accounts/login/\?next[^"]*)"', page)
    assert login
    there = login.group(1).replace("&amp;", "&")
    back = parse_qs(urlsplit(there).query)["next"][0]
    response = client.post(there, {"login": ada.email, "password": PASSWORD, "next": back})
    assert (response.status_code, response.headers["Location"]) == (302, back)
    html = client.get(back, follow=True).content.decode()
    sent = hidden(html)
    assert {name: sent[name] for name in QUERY} == QUERY
    assert "$200.00" in html
    assert 'value="Lovelace"' in html  # ACC-2: filled in with the account's data, to be checked


def test_ord_1_a_choice_survives_the_way_through_registration(h100: Offer, client: Any) -> None:
    page = client.get(reverse("orders:checkout"), QUERY, follow=True).content.decode()
    signup = re.search(r'href="(/accounts/signup/\?next[^"]*)"', page)
    assert signup
    back = parse_qs(urlsplit(signup.group(1).replace("&amp;", "&")).query)["next"][0]
    assert parse_qs(urlsplit(back).query)["environment_other"] == [QUERY["environment_other"]]
    assert parse_qs(urlsplit(back).query)["lots"] == ["2"]


def test_ord_1_and_3_the_check_step_saves_what_it_showed(ada: User, h100: Offer, client: Any) -> None:
    client.force_login(ada)
    assert not Order.objects.exists()
    data = filled(client)
    response = client.post(reverse("orders:checkout"), data)
    order = Order.objects.get()
    assert response.headers["Location"] == reverse("orders:detail", args=[order.number])
    assert (order.last_name, order.email, order.lots, order.total_cents) == ("King", "ada@work.example", 2, 20_000)
    assert (order.environment, order.environment_wish) == ("Other", "JAX & ünïcode")
    again = client.post(reverse("orders:checkout"), data)
    assert again.headers["Location"] == response.headers["Location"]
    assert Order.objects.count() == 1


def kept(html: str) -> None:
    for text in ('value="King"', 'value="ada@work.example"', 'name="lots" value="2"', "JAX &amp; ünïcode"):
        assert text in html, text


def test_case_s4_sold_out_meanwhile_comes_back_with_everything_entered(ada: User, h100: Offer, client: Any) -> None:
    client.force_login(ada)
    data = filled(client)
    Offer.objects.update(lots=1)
    response = client.post(reverse("orders:checkout"), data)
    html = response.content.decode()
    assert response.status_code == 409
    assert "Only 1 lot is left, so the order was not saved. Choose fewer lots or another card." in html
    kept(html)
    assert (Order.objects.count(), Hold.objects.count()) == (0, 0)


def test_cat_10_a_price_that_changed_is_said_and_the_second_click_saves_the_new_one(
    ada: User, h100: Offer, client: Any
) -> None:
    client.force_login(ada)
    data = filled(client)
    h100.prices.update(unit_price_cents=12_345)
    response = client.post(reverse("orders:checkout"), data)
    html = response.content.decode()
    assert response.status_code == 409
    assert "The price has changed since you opened this page. Check the new total and save again." in html
    assert "$246.90" in html
    kept(html)
    assert not Order.objects.exists()
    client.post(reverse("orders:checkout"), data | hidden(html))
    assert Order.objects.get().total_cents == 24_690


def test_the_limit_of_held_lots_is_said_with_everything_entered(ada: User, h100: Offer, client: Any) -> None:
    Offer.objects.update(lots=100)
    save_order(ada, h100, lots=10)
    save_order(ada, h100, lots=9)
    client.force_login(ada)
    response = client.post(reverse("orders:checkout"), filled(client))
    html = response.content.decode()
    assert response.status_code == 409
    sentence = "You already hold unpaid lots; with this order they would exceed 20. Pay or cancel one first."
    assert sentence in html
    kept(html)


@pytest.mark.parametrize(
    "changed",
    [
        {"email": "no address"},
        {"first_name": ""},
        {"form_key": "x"},
        {"expected_total_cents": "-1"},
        {"first_name": "x" * 151},
    ],
)
def test_a_form_that_is_wrong_saves_nothing(ada: User, h100: Offer, client: Any, changed: dict[str, str]) -> None:
    client.force_login(ada)
    assert client.post(reverse("orders:checkout"), filled(client) | changed).status_code == 409
    assert not Order.objects.exists()


@pytest.mark.parametrize(
    "changed",
    [{"lots": "0"}, {"lots": "11"}, {"lots": "-1"}, {"lots": "²"}, {"lots": "1e1"}, {"lots": "9" * 50}, {"lots": ""},
     {"term": "5"}, {"term": "7.0"}, {"offer": "nothing"}, {"offer": ""}],
)  # fmt: skip
def test_a_choice_that_cannot_be_leads_back_to_the_catalog(
    ada: User, h100: Offer, client: Any, changed: dict[str, str]
) -> None:
    client.force_login(ada)
    data = filled(client) | changed
    assert client.post(reverse("orders:checkout"), data).headers["Location"] == reverse("catalog:list")
    response = client.get(reverse("orders:checkout"), QUERY | changed, follow=True)
    assert "Choose a card, a term and 1 to 10 lots first." in response.content.decode()
    assert not Order.objects.exists()


def test_a_guest_cannot_save(h100: Offer, client: Any) -> None:
    data = QUERY | {"first_name": "A", "last_name": "B", "email": "a@b.example", "expected_total_cents": "20000"}
    client.post(reverse("orders:checkout"), data | {"form_key": str(uuid.uuid4())})
    assert not Order.objects.exists()


def test_case_a10_other_people_s_orders_are_the_same_as_none(ada: User, h100: Offer, client: Any) -> None:
    order = save_order(ada, h100)
    client.force_login(make_customer("eve@example.com"))
    for number in (order.number, "GL-0000-0001", "x"):
        for name in ("detail", "status"):
            assert client.get(reverse(f"orders:{name}", args=[number])).status_code == 404
        assert client.post(reverse("orders:cancel", args=[number])).status_code == 404
    order.refresh_from_db()
    assert order.state == "open"
    assert order.number not in client.get(reverse("orders:list")).content.decode()


def test_ord_4_a_number_typed_in_any_way_leads_to_the_order(ada: User, h100: Offer, client: Any) -> None:
    order = save_order(ada, h100)
    client.force_login(ada)
    typed = order.symbols.lower().replace("0", "o").replace("1", "l")
    response = client.get(reverse("orders:detail", args=[typed]))
    assert response.headers["Location"] == reverse("orders:detail", args=[order.number])


def test_ord_5_and_8_the_list_shows_three_facts_separately(ada: User, h100: Offer, client: Any) -> None:
    order = save_order(ada, h100, lots=2)
    client.force_login(ada)
    html = client.get(reverse("orders:list")).content.decode()
    for text in (order.number, "H100 SXM", "2 lots", "$200.00", "Not paid", "Not started", "Not set yet"):
        assert text.lower() in html.lower(), text


def test_ord_9_the_page_cancels_and_says_so(ada: User, h100: Offer, client: Any) -> None:
    order = save_order(ada, h100)
    client.force_login(ada)
    assert client.get(reverse("orders:cancel", args=[order.number])).status_code == 405
    html = client.post(reverse("orders:cancel", args=[order.number]), follow=True).content.decode()
    assert "The order is cancelled and its lots are free again." in html
    assert h100.prices.exists()
    h100.refresh_from_db()
    assert h100.available_lots == 10


def test_ord_6_the_page_says_when_nothing_is_reserved(ada: User, h100: Offer, client: Any) -> None:
    order = save_order(ada, h100)
    client.force_login(ada)
    url = reverse("orders:detail", args=[order.number])
    assert "Not reserved" not in client.get(url).content.decode()
    from orders.actions import release

    release(Hold.objects.get())
    assert "Not reserved" in client.get(url).content.decode()


def test_ord_7_back_after_saving_leads_to_the_order_and_makes_no_second_one(
    ada: User, h100: Offer, client: Any
) -> None:
    client.force_login(ada)
    there = client.get(reverse("orders:checkout"), QUERY).headers["Location"]
    form = hidden(client.get(there).content.decode()) | {"first_name": "A", "last_name": "B", "email": "a@b.example"}
    saved = client.post(reverse("orders:checkout"), form).headers["Location"]
    again = client.get(there, follow=True)  # what the browser asks for at "back": the page may not be kept
    assert again.redirect_chain[-1][0] == saved
    assert "This order is saved already" in again.content.decode()
    assert client.get(reverse("orders:checkout"), QUERY).headers["Location"] != there  # a new choice is a new order


def test_the_key_of_another_customers_order_shows_nothing_of_it(ada: User, h100: Offer, client: Any) -> None:
    order = save_order(ada, h100)
    client.force_login(make_customer("eve@example.com"))
    answer = client.get(reverse("orders:checkout"), QUERY | {"form_key": str(order.form_key)})
    assert answer.status_code == 200
    assert order.number not in answer.content.decode()


def test_ord_6_the_pages_say_the_hold_that_is_set(ada: User, h100: Offer, client: Any, settings: Any) -> None:
    settings.HOLD_MINUTES = 45
    client.force_login(ada)
    assert "holds your lots for 45 minutes" in client.get(reverse("orders:checkout"), QUERY, follow=True).text
    assert "holds your lots for 45 minutes" in client.get(reverse("home")).text


def test_ord_2_the_form_leads_to_the_one_minute_check_also_for_an_unknown_architecture(
    h100: Offer, client: Any
) -> None:
    Offer.objects.update(architecture="Newest")
    html = client.get(h100.get_absolute_url()).text
    assert 'href="#one-minute-check"' in html
    assert html.count('id="one-minute-check"') == 1
