"""Sessions: what ends them, and that their id changes with every new right (ACC-5, case A6)."""

from collections.abc import Callable

import pytest
from allauth.usersessions.models import UserSession
from django.test import Client
from django.urls import reverse

from accounts.actions.roles import set_role
from accounts.models import User
from accounts.sessions import device

pytestmark = pytest.mark.django_db
Enter = Callable[..., Client]
Dead = Callable[[str | None], bool]


def test_a6_proving_to_be_there_gives_the_session_a_new_id_and_the_old_one_is_dead(
    ada: User, enter: Enter, dead: Dead
) -> None:
    client = enter(ada)
    before = client.session.session_key
    client.post(reverse("account_reauthenticate"), {"password": "correct horse battery staple"})
    assert client.session.session_key != before
    assert dead(before) and not dead(client.session.session_key)
    listed = client.get(reverse("usersessions_list")).context["sessions"]
    assert [session.session_key for session in listed] == [client.session.session_key]


def test_a6_a_new_password_gives_the_session_a_new_id(ada: User, enter: Enter, dead: Dead, password: str) -> None:
    client = enter(ada)
    before = client.session.session_key
    client.post(reverse("account_change_password"), {"oldpassword": password, "password1": "a brand new passphrase"})
    assert client.get(reverse("account")).status_code == 200
    assert client.session.session_key != before and dead(before)


def test_a6_a_role_ends_the_sessions_that_began_without_it(ada: User, enter: Enter, dead: Dead) -> None:
    client = enter(ada)
    set_role(ada, "operator", actor=None)
    assert client.get(reverse("account")).status_code == 302
    assert dead(client.session.session_key)
    operator = enter(ada)
    set_role(ada, None, actor=None)
    assert operator.get("/admin/").status_code == 302


def test_acc_5_one_session_of_another_browser_is_ended(ada: User, enter: Enter) -> None:
    here, there, third = enter(ada), enter(ada), enter(ada)
    session = UserSession.objects.get(session_key=there.session.session_key)
    assert here.get(reverse("account_end_session", args=[session.pk])).status_code == 405
    here.post(reverse("account_end_session", args=[session.pk]))
    assert there.get(reverse("account")).status_code == 302
    assert here.get(reverse("account")).status_code == third.get(reverse("account")).status_code == 200


def test_acc_5_ending_ones_own_session_signs_out(ada: User, enter: Enter) -> None:
    here = enter(ada)
    session = UserSession.objects.get(session_key=here.session.session_key)
    assert here.post(reverse("account_end_session", args=[session.pk]))["Location"] == reverse("home")
    assert here.get(reverse("account")).status_code == 302


def test_acc_5_nobody_ends_a_strangers_session(ada: User, enter: Enter, password: str) -> None:
    eve = User.objects.create_user("eve@example.com", password, first_name="Eve", last_name="M")
    there = enter(ada)
    session = UserSession.objects.get(session_key=there.session.session_key)
    assert enter(eve).post(reverse("account_end_session", args=[session.pk])).status_code == 404
    assert Client().post(reverse("account_end_session", args=[session.pk])).status_code == 302
    assert there.get(reverse("account")).status_code == 200


def test_acc_5_all_others_end_at_once_and_this_one_stays(ada: User, enter: Enter) -> None:
    here, there, third = enter(ada), enter(ada), enter(ada)
    here.post(reverse("usersessions_list"))
    assert here.get(reverse("account")).status_code == 200
    assert there.get(reverse("account")).status_code == third.get(reverse("account")).status_code == 302


def test_an_owner_ends_every_session_of_a_person(ada: User, enter: Enter, admin_client: Client) -> None:
    there = enter(ada)
    page = reverse("admin:accounts_user_changelist")
    admin_client.post(page, {"action": "end_sessions", "_selected_action": [ada.pk]})
    assert there.get(reverse("account")).status_code == 302


def test_a_closed_account_has_no_session(ada: User, enter: Enter) -> None:
    client = enter(ada)
    User.objects.filter(pk=ada.pk).update(is_active=False)
    assert client.get(reverse("account")).status_code == 302


@pytest.mark.parametrize(
    ("user_agent", "words"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1", "Safari, iOS"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0", "Edge, Windows"),
        ("curl/8.5", "Unknown browser"),
    ],
)
def test_a_session_is_named_as_people_know_it(user_agent: str, words: str) -> None:
    assert device(user_agent) == words
