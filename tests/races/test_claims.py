"""Two tabs of one guest register, or bring along, at the same moment: the work goes to one account, once (ACC-6)."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from story import PASSWORD, make_customer, make_offer
from together import at_once

from accounts.actions import codes
from accounts.models import Holder, RecoveryCode, User
from events.models import Event
from journal.models import Card
from orders.models import Draft

pytestmark = pytest.mark.races
Register = Callable[[str], Callable[[], bool]]


@pytest.fixture
def tab() -> Callable[[], Client]:
    """Return a way to open a further tab of one guest, who has kept a choice and written two cards."""
    make_offer()
    first = Client()
    first.post(reverse("orders:keep"), {"offer": "h100-sxm", "term": "7", "lots": "2"})
    for question in ("Does it fit?", "Is FP8 enough?"):
        first.post(reverse("journal:new"), {"question": question})

    def open_tab() -> Client:
        client = Client()
        client.cookies.load(first.cookies.output(header="", sep=";"))
        return client

    return open_tab


def register(client: Client, email: str) -> bool:
    facts = {"first_name": "Grace", "last_name": "Hopper", "email": email, "password1": PASSWORD}
    return b'class="codes"' in client.post(reverse("account_signup"), facts).content


@pytest.mark.parametrize("emails", [("one@example.com", "one@example.com"), ("one@example.com", "two@example.com")])
def test_two_tabs_register_together_and_the_work_is_there_exactly_once(
    tab: Callable[[], Client], emails: tuple[str, str]
) -> None:
    tabs = [tab(), tab()]
    outcomes = at_once([lambda c=c, e=e: register(c, e) for c, e in zip(tabs, emails, strict=True)])
    assert sum(bool(outcome.value) for outcome in outcomes) == len(set(emails)), outcomes
    winner = Holder.objects.get().user
    assert winner and winner.email in emails
    assert (Draft.objects.count(), Card.objects.count()) == (1, 2)
    assert Event.objects.filter(kind="guest_work.claimed").count() == 1
    client = Client()
    client.force_login(winner)
    assert len(client.get(reverse("journal:list")).context["cards"]) == 2
    for other in User.objects.exclude(pk=winner.pk):
        client.force_login(other)
        assert not client.get(reverse("journal:list")).context["cards"]


def test_two_tabs_bring_along_together_and_it_comes_once(tab: Callable[[], Client]) -> None:
    ada = make_customer()
    here = tab()
    here.post(reverse("account_login"), {"login": ada.email, "password": PASSWORD})

    def bring() -> int:
        client = Client()
        client.cookies.load(here.cookies.output(header="", sep=";"))
        return client.post(reverse("account_bring_along"), {"bring": "yes"}).status_code

    assert [outcome.value for outcome in at_once([bring, bring])] == [302, 302]
    assert Holder.objects.get().user == ada
    assert Event.objects.filter(kind="guest_work.claimed").count() == 1


def test_one_recovery_code_used_twice_at_once_sets_one_password() -> None:
    ada = make_customer()
    code, *_ = codes.new_set(ada, actor=ada)

    def use(password: str) -> str:
        codes.use_code(email=ada.email, code=code, password=password)
        return password

    outcomes = at_once([lambda p=p: use(p) for p in ("the first new passphrase", "the second new passphrase")])
    won = [str(outcome.value) for outcome in outcomes if not outcome.error]
    assert len(won) == 1 and {outcome.error for outcome in outcomes} == {"", "WrongCode"}
    ada.refresh_from_db()
    assert ada.check_password(won[0])
    assert RecoveryCode.objects.exclude(used_at=None).count() == 1
