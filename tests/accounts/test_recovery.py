"""No reset by e-mail: recovery codes, and the owner's procedure for who has lost everything (ACC-3, case A9)."""

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts.actions import codes, lost, tokens
from accounts.actions.roles import set_role
from accounts.keys import read_code
from accounts.models import Recovery, RecoveryCode, User
from events.actions import subject_of
from events.models import Event

pytestmark = pytest.mark.django_db
Enter = Callable[..., Client]
NEW = "another long passphrase"


def recover(email: str, code: str, password: str = NEW) -> Any:
    return Client().post(reverse("account_recover"), {"email": email, "code": code, "password1": password})


def kinds(user: User) -> list[str]:
    return list(Event.objects.filter(thread=subject_of(user)).order_by("id").values_list("kind", flat=True))


@pytest.mark.parametrize("case", ["case-A9"])
@pytest.mark.cases
def test_registration_shows_recovery_codes_once_and_keeps_only_digests(
    client: Client, person: dict[str, Any], case: str
) -> None:
    page = client.post(reverse("account_signup"), person)
    shown = page.context["codes"]
    assert len(shown) == len(set(shown)) == codes.CODES
    assert all(code in page.content.decode() for code in shown)
    kept = "".join(RecoveryCode.objects.values_list("digest", flat=True))
    assert not any(code in kept or read_code(code) in kept for code in shown)
    for name in ("account", "account_recovery_codes", "account_export"):
        assert not any(code in client.get(reverse(name), follow=True).content.decode() for code in shown)


def test_a_recovery_code_sets_a_new_password_once_and_ends_every_session(
    ada: User, password: str, enter: Enter
) -> None:
    code, *_ = codes.new_set(ada, actor=ada)
    _token, secret = tokens.create_token(ada, name="script", scopes=["account:read"])
    there = enter(ada)
    assert recover(ada.email, code.lower().replace("-", " "))["Location"] == reverse("account_login")
    ada.refresh_from_db()
    assert ada.check_password(NEW) and not ada.check_password(password)
    assert there.get(reverse("account")).status_code == 302
    assert Client().get("/api/v1/me", headers={"authorization": f"Bearer {secret}"}).status_code == 401
    again = recover(ada.email, code, "a third long passphrase")
    assert "do not fit together" in again.content.decode()
    ada.refresh_from_db()
    assert ada.check_password(NEW)
    inside = Client()
    inside.force_login(ada)
    assert "A recovery code set a new password" in inside.get(reverse("account")).content.decode()


def test_a_wrong_code_reads_like_an_unknown_address_and_like_somebody_elses_code(ada: User, password: str) -> None:
    eve = User.objects.create_user("eve@example.com", password, first_name="Eve", last_name="M")
    foreign, *_ = codes.new_set(eve, actor=eve)
    pages = [recover(ada.email, "A" * 24), recover("nobody@example.com", "A" * 24), recover(ada.email, foreign)]
    assert {page.status_code for page in pages} == {200}
    assert len({str(page.context["form"].errors) for page in pages}) == 1
    ada.refresh_from_db()
    assert ada.check_password(password)


def test_the_new_password_of_a_recovery_keeps_to_the_rules_and_the_code_stays_good(ada: User) -> None:
    code, *_ = codes.new_set(ada, actor=ada)
    for refused in ("too short", "x" * 129, "lovelace-ada-1815-12-10!"):
        assert recover(ada.email, code, refused).context["form"].errors["password1"]
    assert recover(ada.email, code).status_code == 302


def test_a_recovery_code_does_not_go_round_a_second_factor(ada: User) -> None:
    TOTP.activate(ada, generate_totp_secret())
    code, *_ = codes.new_set(ada, actor=ada)
    recover(ada.email, code)
    client = Client()
    answer = client.post(reverse("account_login"), {"login": ada.email, "password": NEW})
    assert answer["Location"] == reverse("mfa_authenticate")
    assert "_auth_user_id" not in client.session


def test_a_new_set_asks_for_the_password_again_and_replaces_the_old_one(ada: User, enter: Enter) -> None:
    old, *_ = codes.new_set(ada, actor=ada)
    client = enter(ada)
    page = reverse("account_recovery_codes")
    assert client.post(page)["Location"].startswith(reverse("account_reauthenticate"))
    assert ada.recovery_codes.count() == codes.CODES and recover(ada.email, "A" * 24).status_code == 200
    enter(ada, client, sure=True)
    made = client.post(page).context["codes"]
    assert "do not fit together" in recover(ada.email, old).content.decode()
    assert recover(ada.email, made[0]).status_code == 302
    assert ada.recovery_codes.filter(used_at=None).count() == codes.CODES - 1


def test_guessing_codes_is_throttled_per_client(ada: User) -> None:
    answers = [recover(ada.email, "A" * 24).status_code for _ in range(11)]
    assert answers == [200] * 10 + [429]


def test_a_lost_account_is_recovered_only_after_a_week_in_which_it_is_warned(
    ada: User, password: str, enter: Enter, settings: Settings
) -> None:
    owner = User.objects.create_superuser("owner@example.com", password, first_name="O", last_name="W")
    TOTP.activate(ada, generate_totp_secret())
    step = {"email": ada.email, "actor": owner.email}
    call_command("recoveraccount", "open", **step, proof="GL-7K3M-9QX2, tx 0xabc", stdout=StringIO())
    inside = Client()
    inside.force_login(ada)
    for name in ("account", "orders:list", "home"):
        assert "Somebody says that you have lost this account" in inside.get(reverse(name)).content.decode()
    with pytest.raises(CommandError, match="too early"):
        call_command("recoveraccount", "complete", **step)
    out = StringIO()
    with time_machine.travel(timezone.now() + timedelta(hours=settings.RECOVERY_HOURS, seconds=1)):
        call_command("recoveraccount", "complete", **step, stdout=out)
        code = out.getvalue().split()[-1]
        ada.refresh_from_db()
        assert not ada.has_usable_password() and not Authenticator.objects.exists()
        assert recover(ada.email, code).status_code == 302
    assert kinds(ada) == ["recovery.opened", "recovery.completed", "recovery_codes.made", "recovery_code.used"]
    assert list(Event.objects.filter(kind__startswith="recovery.").values_list("actor", flat=True)) == [owner.pk] * 2


def test_whoever_is_in_the_account_cancels_a_recovery(ada: User, password: str, settings: Settings) -> None:
    owner = User.objects.create_superuser("owner@example.com", password, first_name="O", last_name="W")
    lost.open_recovery(ada, proof="a story", actor=owner)
    inside = Client()
    inside.force_login(ada)
    assert inside.get(reverse("account_cancel_recovery")).status_code == 405
    inside.post(reverse("account_cancel_recovery"))
    with time_machine.travel(timezone.now() + timedelta(days=30)), pytest.raises(lost.CannotRecover):
        lost.complete_recovery(ada, actor=owner)
    ada.refresh_from_db()
    assert ada.check_password(password) and ada.recovery_due_at is None
    assert Recovery.objects.get().state == "cancelled"
    lost.open_recovery(ada, proof="another story", actor=owner)  # a cancelled one does not stand in the way


def test_one_recovery_at_a_time_and_none_without_a_proof(ada: User, password: str) -> None:
    User.objects.create_superuser("owner@example.com", password, first_name="O", last_name="W")
    step = {"email": ada.email, "actor": "owner@example.com"}
    with pytest.raises(CommandError, match="--proof"):
        call_command("recoveraccount", "open", **step)
    call_command("recoveraccount", "open", **step, proof="x", stdout=StringIO())
    with pytest.raises(CommandError, match="open already"):
        call_command("recoveraccount", "open", **step, proof="x")
    out = StringIO()
    call_command("recoveraccount", "show", **step, stdout=out)
    assert "open, due" in out.getvalue()


def test_only_owners_recover_accounts(ada: User, password: str, client: Client) -> None:
    operator = User.objects.create_user("op@example.com", password, first_name="O", last_name="P")
    set_role(operator, "operator", actor=None)
    with pytest.raises(CommandError, match="may not recover"):
        call_command("recoveraccount", "open", email=ada.email, actor=operator.email, proof="x")
    recovery = lost.open_recovery(ada, proof="x", actor=None)
    client.force_login(operator)
    page = reverse("admin:accounts_recovery_changelist")
    assert client.post(page, {"action": "complete", "_selected_action": [recovery.pk]}).status_code == 403


def test_an_owner_opens_a_recovery_in_the_admin_with_a_proof(ada: User, admin_client: Client) -> None:
    page = reverse("admin:accounts_user_changelist")
    act = {"action": "open_recovery", "_selected_action": [ada.pk]}
    assert "what shows that the account is theirs" in admin_client.post(page, act, follow=True).content.decode()
    both = act | {"_selected_action": [user.pk for user in User.objects.all()], "proof": "x"}
    assert "choose one" in admin_client.post(page, both, follow=True).content.decode()
    assert not Recovery.objects.exists()
    admin_client.post(page, act | {"proof": "GL-7K3M-9QX2, tx 0xabc"})
    assert Recovery.objects.get(user=ada).proof == "GL-7K3M-9QX2, tx 0xabc"


def test_an_owner_completes_a_recovery_in_the_admin(ada: User, admin_client: Client, settings: Settings) -> None:
    recovery = lost.open_recovery(ada, proof="x", actor=None)
    page = reverse("admin:accounts_recovery_changelist")
    act = {"action": "complete", "_selected_action": [recovery.pk]}
    assert "too early" in admin_client.post(page, act, follow=True).content.decode()
    with time_machine.travel(timezone.now() + timedelta(hours=settings.RECOVERY_HOURS, seconds=1)):
        admin_client.force_login(User.objects.get(is_superuser=True))
        answer = admin_client.post(page, act, follow=True).content.decode()
    code = answer.partition("shown only now: ")[2][:29]
    assert recover(ada.email, code).status_code == 302
