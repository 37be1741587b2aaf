"""A guest's work: claimed from the same session, exactly once, and from nowhere else (ACC-6)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings
from story import make_offer, save_order

from accounts.actions import guests
from accounts.models import Holder, User
from events.models import Event
from journal.models import Card
from orders.models import Draft, Order

pytestmark = pytest.mark.django_db
Enter = Callable[..., Client]
CHOICE = {"offer": "h100-sxm", "term": "7", "lots": "2", "environment": "pytorch"}


@pytest.fixture
def guest(db: None) -> Client:
    """Return the browser of a guest who has kept one choice and written two journal cards."""
    make_offer()
    client = Client()
    assert client.post(reverse("orders:keep"), CHOICE)["Location"] == reverse("orders:kept")
    for question in ("Does it fit?", "Is FP8 enough?"):
        assert client.post(reverse("journal:new"), {"question": question}).status_code == 302
    return client


def holds(client: Client) -> tuple[int, int]:
    """Return how many kept choices and journal cards a browser shows."""
    kept = client.get(reverse("orders:kept")).context["drafts"]
    return len(kept), len(client.get(reverse("journal:list")).context["cards"])


def test_a_guest_sees_and_edits_their_own_work_in_this_browser_alone(guest: Client) -> None:
    assert holds(guest) == (1, 2)
    card = Card.objects.first()
    assert card
    guest.post(reverse("journal:edit", args=[card.pk]), {"question": "Changed"})
    assert "Changed" in guest.get(card.get_absolute_url()).content.decode()
    stranger = Client()
    assert holds(stranger) == (0, 0)
    page = reverse("journal:edit", args=[card.pk])
    for answer in (
        stranger.get(card.get_absolute_url()),
        stranger.get(page),
        stranger.post(page, {"question": "mine"}),
    ):
        assert answer["Location"].startswith(reverse("account_login"))
    stranger.post(reverse("orders:discard", args=[Draft.objects.get().pk]))
    assert holds(guest) == (1, 2)


def test_looking_around_makes_no_holder(client: Client) -> None:
    for name in ("journal:list", "journal:new", "orders:kept", "home"):
        client.get(reverse(name))
    assert not Holder.objects.exists()


def test_registration_from_the_same_session_brings_everything_exactly_once(
    guest: Client, person: dict[str, Any]
) -> None:
    guest.post(reverse("account_signup"), person)
    grace = User.objects.get(email="grace@example.com")
    assert holds(guest) == (1, 2)
    assert (Draft.objects.count(), Card.objects.count()) == (1, 2)
    assert set(Holder.objects.values_list("user", flat=True)) == {grace.pk}
    assert Event.objects.filter(kind="guest_work.claimed", actor=grace).count() == 1
    elsewhere = Client()
    elsewhere.post(reverse("account_login"), {"login": person["email"], "password": person["password1"]})
    assert holds(elsewhere) == (1, 2)


def test_the_kept_choice_goes_on_to_an_order_and_is_then_gone(guest: Client, person: dict[str, Any]) -> None:
    guest.post(reverse("account_signup"), person)
    page = guest.get(reverse("orders:list")).content.decode()
    assert "offer=h100-sxm&amp;term=7&amp;lots=2&amp;environment=pytorch" in page
    check = guest.get(reverse("orders:checkout"), CHOICE, follow=True).context["form"].initial
    guest.post(reverse("orders:checkout"), CHOICE | check)
    assert Order.objects.get().lots == 2
    assert holds(guest) == (0, 2)


def test_another_browser_with_the_same_email_gets_nothing(guest: Client, person: dict[str, Any]) -> None:
    elsewhere = Client()
    elsewhere.post(reverse("account_signup"), person)
    assert holds(elsewhere) == (0, 0)
    assert holds(guest) == (1, 2)
    refused = guest.post(reverse("account_signup"), person)  # a second registration with that address
    assert "cannot be created" in refused.content.decode()
    assert holds(elsewhere) == (0, 0) and holds(guest) == (1, 2)


def test_an_expired_guest_session_brings_nothing(guest: Client, person: dict[str, Any], settings: Settings) -> None:
    with time_machine.travel(timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE + 1)):
        assert holds(guest) == (0, 0)
        guest.post(reverse("account_signup"), person)
        assert holds(guest) == (0, 0)
        assert guests.forget_guests() == 1
    assert not Card.objects.exists() and not Draft.objects.exists()


def test_a_session_that_lives_longer_than_its_holder_brings_nothing(guest: Client, person: dict[str, Any]) -> None:
    """A session is prolonged by whatever writes to it; the guest's work is not."""
    Holder.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    guest.post(reverse("account_signup"), person)
    assert holds(guest) == (0, 0)


def test_many_guests_are_forgotten_a_few_at_a_time(db: None) -> None:
    made = [guests.begin_guest() for _ in range(5)]
    Holder.objects.exclude(pk=made[0].pk).update(expires_at=timezone.now())
    assert guests.forget_guests(at_once=2) == 4
    assert Holder.objects.get() == made[0]


def test_what_is_claimed_is_not_forgotten(guest: Client, person: dict[str, Any], settings: Settings) -> None:
    guest.post(reverse("account_signup"), person)
    with time_machine.travel(timezone.now() + timedelta(days=365)):
        assert guests.forget_guests() == 0
    assert Card.objects.count() == 2


def test_after_signing_in_the_work_is_offered_and_never_merged_unasked(
    guest: Client, ada: User, enter: Enter, password: str
) -> None:
    answer = guest.post(
        reverse("account_login"), {"login": ada.email, "password": password, "next": reverse("journal:list")}
    )
    assert answer["Location"] == f"{reverse('account_bring_along')}?next=%2Fjournal%2F"
    page = guest.get(answer["Location"]).content.decode()
    assert all(text in page for text in ("Does it fit?", "Is FP8 enough?", "H100 SXM, 7 days, 2 lots"))
    assert holds(guest) == (0, 0)
    brought = guest.post(reverse("account_bring_along"), {"bring": "yes", "next": reverse("journal:list")})
    assert brought["Location"] == reverse("journal:list")
    assert holds(guest) == (1, 2)
    again = guest.post(reverse("account_bring_along"), {"bring": "yes"})
    assert again["Location"] == reverse("orders:list") and holds(guest) == (1, 2)


def test_work_that_is_left_stays_out_of_the_account(guest: Client, ada: User, password: str) -> None:
    guest.post(reverse("account_login"), {"login": ada.email, "password": password})
    guest.post(reverse("account_bring_along"), {"bring": "no"})
    guest.post(reverse("account_bring_along"), {"bring": "yes"})
    assert holds(guest) == (0, 0)
    assert not Holder.objects.filter(user=ada).exists()


def test_signing_out_forgets_what_was_not_brought_along(guest: Client, ada: User, password: str) -> None:
    guest.post(reverse("account_login"), {"login": ada.email, "password": password})
    guest.post(reverse("account_logout"))
    assert holds(guest) == (0, 0)


def test_a_guest_keeps_no_more_than_there_is_room_for(client: Client, settings: Settings) -> None:
    settings.GUEST_ITEMS_LIMIT = 2
    make_offer()
    for number in range(4):
        client.post(reverse("journal:new"), {"question": f"Question {number}"})
        client.post(reverse("orders:keep"), CHOICE | {"lots": str(number + 1)})
    assert holds(client) == (2, 2)


def test_guests_are_throttled_per_client(client: Client) -> None:
    answers = [client.post(reverse("journal:new"), {"question": "Q"}).status_code for _ in range(31)]
    assert answers == [302] * 30 + [429]


def test_a_guest_names_no_order(guest: Client, ada: User) -> None:
    order = save_order(ada, make_offer(name="B200"))
    guest.post(reverse("journal:new"), {"question": "Whose?", "order": order.pk})
    assert Card.objects.get(question="Whose?").order is None
