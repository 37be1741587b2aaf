"""Sign-in takes as long for nobody as for somebody (ACC-4, cases A3 and A4)."""

import statistics
import time

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from accounts.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.cases]
ROUNDS = 15


@pytest.fixture
def people(settings: Settings, password: str) -> dict[str, tuple[str, str]]:
    """Return what is typed for each kind of failure, with the real hash."""
    settings.PASSWORD_HASHERS = ["accounts.hashers.Argon2"]
    settings.ACCOUNT_RATE_LIMITS = dict.fromkeys(settings.ACCOUNT_RATE_LIMITS, "")  # a throttled attempt is not hashed
    for email, active in (("ada@example.com", True), ("closed@example.com", False)):
        User.objects.create_user(email, password, first_name="A", last_name="B", is_active=active)
    return {
        "unknown": ("nobody@example.com", password),
        "wrong": ("ada@example.com", "wrong horse battery staple"),
        "disabled": ("closed@example.com", password),
    }


def seconds(page: str, login: str, password: str) -> float:
    """Return the processor time of one attempt: what others do on this machine meanwhile is not in it."""
    client = Client()
    began = time.thread_time()
    client.post(reverse(page), {"login": login, "password": password, "code": "000000"})
    return time.thread_time() - began


@pytest.mark.parametrize("page", ["account_login", "account_login_with_code"])
@pytest.mark.parametrize("case", ["case-A3", "case-A4"])
def test_unknown_wrong_and_disabled_take_as_long(people: dict[str, tuple[str, str]], page: str, case: str) -> None:
    """The medians of interleaved attempts lie within a third of each other; without a hash it is less than half."""
    for typed in people.values():
        seconds(page, *typed)  # whatever is loaded at first use is loaded now
    taken: dict[str, list[float]] = {kind: [] for kind in people}
    for _ in range(ROUNDS):
        for kind, typed in people.items():
            taken[kind].append(seconds(page, *typed))
    medians = {kind: statistics.median(times) for kind, times in taken.items()}
    assert max(medians.values()) < 1.33 * min(medians.values()), medians


@pytest.mark.parametrize("case", ["case-A3"])
def test_unknown_wrong_and_disabled_read_alike(people: dict[str, tuple[str, str]], case: str) -> None:
    pages = set()
    for login, password in people.values():
        cache.clear()
        answer = Client().post(reverse("account_login"), {"login": login, "password": password})
        text = answer.content.decode().replace(login, "…")
        token = answer.context["csrf_token"]
        pages.add((answer.status_code, text.replace(str(token), "…")))
    assert len({status for status, _text in pages}) == 1
    assert len({len(text) for _status, text in pages}) == 1


@pytest.mark.parametrize("case", ["case-A1"])
def test_registration_takes_as_long_for_a_taken_address(
    people: dict[str, tuple[str, str]], case: str, password: str
) -> None:
    """The hash is made first in both; making the account and its codes costs a little on top, which any site pays."""
    facts = {"first_name": "G", "last_name": "H", "password1": password}
    times: dict[str, list[float]] = {"taken": [], "free": []}
    for number in range(ROUNDS):
        for kind, email in (("taken", "ada@example.com"), ("free", f"free{number}@example.com")):
            client = Client()
            began = time.thread_time()
            answer = client.post(reverse("account_signup"), facts | {"email": email})
            times[kind].append(time.thread_time() - began)
            assert answer.status_code == 200
    assert statistics.median(times["free"]) < 2 * statistics.median(times["taken"]), times


@pytest.mark.parametrize("case", ["case-A1"])
def test_registration_tells_of_no_more_taken_addresses_an_hour_than_the_settings_say(
    case: str, password: str, settings: Settings, db: None
) -> None:
    """Whoever asks from wherever: then registration pauses for everybody alike, and sign-in goes on."""
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"signup_refused": "3/h/key"}
    ada = User.objects.create_user("ada@example.com", password, first_name="A", last_name="B")
    facts = {"first_name": "G", "last_name": "H", "password1": password}
    page = reverse("account_signup")

    def register(email: str, number: int) -> int:
        return Client(REMOTE_ADDR=f"203.0.113.{number}").post(page, facts | {"email": email}).status_code

    assert [register(ada.email, number) for number in range(4)] == [200, 200, 200, 429]
    assert register("free@example.com", 50) == 429
    assert not User.objects.filter(email="free@example.com").exists()
    signed_in = Client().post(reverse("account_login"), {"login": ada.email, "password": password})
    assert signed_in.status_code == 302
    changing = Client(REMOTE_ADDR="203.0.113.60")
    changing.force_login(ada)
    assert changing.post(reverse("account_change_email"), {"email": "x@example.com"}).status_code in (302, 429)
