"""Which passwords are taken, on every page that sets one, and that a refused one is never hashed (ACC-1, case A8)."""

import unicodedata
from collections.abc import Callable
from typing import Any, Literal

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from accounts.actions import codes
from accounts.models import User

pytestmark = pytest.mark.django_db
Enter = Callable[..., Client]
Form = Literal["NFC", "NFD"]
FORMS: tuple[Form, Form] = ("NFC", "NFD")
ACUTE = "\N{COMBINING ACUTE ACCENT}"
EMOJI = "\N{GRINNING FACE}"
# Each text with its length in code points as it is hashed: in NFC a letter with its mark is one.
LENGTHS = [
    ("ab3 ef-hij lmno"[:14], False),
    ("ab3 ef-hij lmno", True),
    ("pass phrase " * 10 + "12345678", True),
    ("pass phrase " * 10 + "123456789", False),
    (EMOJI * 14, False),
    (EMOJI * 15, True),
    (EMOJI * 128, True),
    (EMOJI * 129, False),
    (f"e{ACUTE}" * 14, False),
    (f"e{ACUTE}" * 15, True),
    (f"e{ACUTE}" * 128, True),
    (f"e{ACUTE}" * 129, False),
    (f"x{ACUTE}" * 7, False),  # no letter of its own: two code points each
    (f"x{ACUTE}" * 8, True),
    (" leading and trailing spaces count ", True),
    ("\u202fжьфß 漢字 كلمة ไทย ok", True),
    ("nul \0 in the middle of it", False),
    ("x" * 1_000_000, False),
]
COMMON = ["1q2w3e4r5t6y7u8i9o0p", "passwordpassword", "Sunshine1butterfly", "qwertyuiop123456789"]
OWN = ["gracehoppergrace!", "GRACE@EXAMPLE.COM", "hopper.grace.1906.12.09", "gridlotgridlotgridlot"]


def register(password: str) -> Any:
    facts = {"first_name": "Grace", "last_name": "Hopper", "email": "grace@example.com", "password1": password}
    return Client().post(reverse("account_signup"), facts)


def grace() -> User:
    return User.objects.create_user("grace@example.com", "x" * 20, first_name="Grace", last_name="Hopper")


def change(password: str) -> Any:
    client = Client()
    client.force_login(grace())
    facts = {"oldpassword": "x" * 20, "password1": password}
    return client.post(reverse("account_change_password"), facts)


def recover(password: str) -> Any:
    person = grace()
    code, *_ = codes.new_set(person, actor=person)
    facts = {"email": person.email, "code": code, "password1": password}
    return Client().post(reverse("account_recover"), facts)


WAYS = [register, change, recover]


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the texts that are hashed from now on."""
    from django.contrib.auth.hashers import get_hasher

    seen: list[str] = []
    hasher = type(get_hasher())
    original = hasher.encode

    def note(self: Any, password: str, *rest: Any) -> str:
        seen.append(password)
        return str(original(self, password, *rest))

    monkeypatch.setattr(hasher, "encode", note)
    return seen


@pytest.mark.cases
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("text", "taken"), [pytest.param(*row, id=f"case-A8-{number}") for number, row in enumerate(LENGTHS)]
)
def test_lengths_are_counted_in_code_points_and_what_is_refused_is_not_hashed(
    way: Callable[[str], Any], text: str, taken: bool, hashed: list[str]
) -> None:
    answer = way(text)
    known = list(hashed)
    person = User.objects.filter(email="grace@example.com").first()
    assert bool(person and person.check_password(text)) is taken
    if not taken:
        assert answer.context["form"].errors["password1"]
        assert not [one for one in known if text[:100] in one]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text", [*COMMON, *OWN])
def test_common_passwords_and_own_data_are_refused(way: Callable[[str], Any], text: str) -> None:
    assert way(text).context["form"].errors["password1"]


@pytest.mark.parametrize("text", ["correct horse battery staple", "grace under pressure and wind", "zqj" * 5])
def test_what_nobody_would_guess_is_taken(text: str) -> None:
    register(text)
    assert User.objects.get().check_password(text)


@pytest.mark.parametrize("sets", FORMS)
def test_a_password_typed_on_another_system_signs_in_to_the_same_account(sets: Form) -> None:
    text = "Ångström würde Brücken bauen"
    register(unicodedata.normalize(sets, text))
    for form in FORMS:
        client = Client()
        typed = unicodedata.normalize(form, text)
        client.post(reverse("account_login"), {"login": "grace@example.com", "password": typed})
        assert client.session["_auth_user_id"] == str(User.objects.get().pk)


def test_changing_the_password_asks_for_the_present_one(settings: Settings) -> None:
    client = Client()
    client.force_login(grace())
    facts = {"oldpassword": "not it at all", "password1": "a brand new passphrase"}
    assert client.post(reverse("account_change_password"), facts).context["form"].errors["oldpassword"]
    assert User.objects.get().check_password("x" * 20)


@pytest.mark.parametrize("name", ["account_signup", "account_login", "account_recover", "account_login_with_code"])
def test_a_password_field_hides_and_lets_a_manager_paste(client: Client, name: str) -> None:
    page = client.get(reverse(name)).content.decode()
    field = page.split('type="password"')[1].split(">")[0]
    assert "maxlength" not in field and "onpaste" not in page
    assert 'autocomplete="new-password"' in field or 'autocomplete="current-password"' in field
