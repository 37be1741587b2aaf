"""What a person changes about themselves (ACC-11)."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings
from story import make_offer, save_order

from accounts.models import Acceptance, User

pytestmark = pytest.mark.django_db
Enter = Callable[..., Client]
PROFILE = {"first_name": "Augusta", "last_name": "King", "language": "ru", "time_zone": "Europe/Warsaw"}


def test_names_language_and_time_zone_are_changed_and_orders_keep_their_names(ada: User, enter: Enter) -> None:
    order = save_order(ada, make_offer())
    client = enter(ada)
    client.post(reverse("account_profile"), PROFILE)
    ada.refresh_from_db()
    assert {name: getattr(ada, name) for name in PROFILE} == PROFILE
    order.refresh_from_db()
    assert order.first_name == "Ada"


@pytest.mark.parametrize(("field", "value"), [("time_zone", "Mars/Olympus"), ("language", "tlh"), ("first_name", "")])
def test_nonsense_is_refused(ada: User, enter: Enter, field: str, value: str) -> None:
    assert enter(ada).post(reverse("account_profile"), PROFILE | {field: value}).context["form"].errors[field]


def test_the_language_is_that_of_every_browser_of_the_person(ada: User, enter: Enter) -> None:
    here = enter(ada)
    here.post(reverse("set_language"), {"language": "ru", "next": "/"})
    there = enter(ada)
    assert '<html lang="ru"' in there.get("/").content.decode()
    assert '<html lang="en"' in Client().get("/").content.decode()


def test_a_guest_switches_the_language_of_this_browser(client: Client) -> None:
    client.post(reverse("set_language"), {"language": "ru", "next": "/"})
    assert '<html lang="ru"' in client.get("/").content.decode()


def test_times_are_shown_in_the_chosen_zone_with_utc_beside(ada: User, enter: Enter) -> None:
    order = save_order(ada, make_offer())
    client = enter(ada)
    page = reverse("orders:detail", args=[order.number])
    assert "UTC</time>" in client.get(page).content.decode()
    User.objects.filter(pk=ada.pk).update(time_zone="Asia/Tokyo")
    shown = client.get(page).content.decode()
    assert f'JST <span class="nowrap">({order.created_at:%H:%M} UTC)' in shown
    assert "JST" not in Client().get("/").content.decode()


def test_the_email_is_changed_after_the_password_and_signs_in(ada: User, enter: Enter, password: str) -> None:
    client, page = enter(ada), reverse("account_change_email")
    new = {"email": " Countess@Example.COM "}
    assert client.post(page, new)["Location"].startswith(reverse("account_reauthenticate"))
    enter(ada, client, sure=True)
    client.post(page, new)
    ada.refresh_from_db()
    assert ada.email == "countess@example.com"
    assert enter(ada).session["_auth_user_id"] == str(ada.pk)
    before: Any = Client().post(reverse("account_login"), {"login": "ada@example.com", "password": password})
    assert before.status_code == 200


def test_a_taken_email_is_refused_and_nothing_changes(ada: User, enter: Enter, password: str) -> None:
    User.objects.create_user("eve@example.com", password, first_name="E", last_name="M")
    client = enter(ada, sure=True)
    answer = client.post(reverse("account_change_email"), {"email": "EVE@example.com"})
    assert "cannot be changed to this one" in answer.content.decode()
    ada.refresh_from_db()
    assert ada.email == "ada@example.com"


def test_nobody_asks_quietly_which_addresses_are_free(ada: User, enter: Enter) -> None:
    """Each answer tells as much as a registration does, and leaves no account behind."""
    client, page = enter(ada, sure=True), reverse("account_change_email")
    for number in range(10):
        assert client.post(page, {"email": f"somebody{number}@example.com"}).status_code == 302
    assert client.post(page, {"email": "somebody10@example.com"}).status_code == 429
    ada.refresh_from_db()
    assert ada.email == "somebody9@example.com"


@pytest.mark.parametrize("place", ["nowhere", "https://evil.example/", "//evil.example/", "/balance/"])
@pytest.mark.parametrize("page", ["account_terms", "account_bring_along"])
def test_what_leads_on_leads_to_a_page_of_this_site_or_nowhere(ada: User, enter: Enter, page: str, place: str) -> None:
    answer = enter(ada).post(reverse(page), {"next": place})
    ours = reverse("account" if page == "account_terms" else "orders:list")
    assert answer["Location"] == (place if place == "/balance/" else ours)


def test_registration_keeps_which_terms_were_accepted(
    client: Client, person: dict[str, Any], settings: Settings
) -> None:
    client.post(reverse("account_signup"), person)
    grace = User.objects.get()
    assert grace.terms_version == settings.TERMS_VERSION
    assert Acceptance.objects.get().version == settings.TERMS_VERSION


def test_new_terms_are_asked_for_and_both_versions_are_kept(
    client: Client, person: dict[str, Any], settings: Settings
) -> None:
    client.post(reverse("account_signup"), person)
    first = settings.TERMS_VERSION
    assert "The terms have changed" not in client.get("/").content.decode()
    settings.TERMS_VERSION = "2027-01-01"
    assert "The terms have changed" in client.get("/").content.decode()
    client.post(reverse("account_terms"), {"next": "/"})
    client.post(reverse("account_terms"), {"next": "/"})
    assert "The terms have changed" not in client.get("/").content.decode()
    assert list(Acceptance.objects.order_by("id").values_list("version", flat=True)) == [first, "2027-01-01"]


@pytest.mark.parametrize("name", ["terms", "refunds", "privacy"])
def test_everybody_may_read_what_applies_and_what_is_stored(client: Client, name: str) -> None:
    assert client.get(reverse(name)).status_code == 200


def test_acc_9_and_10_the_page_of_what_is_stored_promises_neither_absence_nor_anonymity(client: Client) -> None:
    page = client.get(reverse("privacy")).content.decode()
    assert "never read, list or copy" in page
    assert "visible to everybody for ever" in page
    assert "payment and technical data" in page
