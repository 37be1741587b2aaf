"""Roles: groups that each migrate makes, and who gives them (ACC-8)."""

from io import StringIO

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from accounts.actions.roles import ensure_roles
from accounts.models import User
from config import after_migrate
from config.roles import ROLES
from events.models import Event

pytestmark = pytest.mark.django_db


def held(role: str) -> set[str]:
    permissions = Group.objects.get(name=role).permissions.select_related("content_type")
    return {f"{permission.content_type.app_label}.{permission.codename}" for permission in permissions}


@pytest.mark.parametrize("role", ROLES)
def test_a_fresh_database_has_every_role_with_its_permissions(role: str) -> None:
    assert held(role) == set(ROLES[role])


def test_the_step_after_migrate_puts_right_what_somebody_changed_and_runs_again() -> None:
    group = Group.objects.get(name="support")
    group.permissions.add(Permission.objects.get(codename="change_rental"))
    Group.objects.get(name="operator").delete()
    for _ in range(2):
        after_migrate.run(connection.alias)
    assert {role: held(role) for role in ROLES} == {role: set(codes) for role, codes in ROLES.items()}


def test_a_permission_that_does_not_exist_is_named() -> None:
    with pytest.raises(LookupError, match="fly_order"):
        ensure_roles({"support": ["orders.fly_order"]})


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-A13"])
def test_support_changes_no_money_and_sees_no_access(case: str) -> None:
    ours = {code for code in ROLES["support"] if ".view_" not in code}
    assert ours == {"support.use_desk", "conversations.answer"}
    assert not [
        code for codes in ROLES.values() for code in codes if code.startswith("balance.") and ".view_" not in code
    ]


def test_the_command_makes_the_first_owner(ada: User) -> None:
    out = StringIO()
    call_command("setrole", "owner", email="Ada@example.com", stdout=out)
    ada.refresh_from_db()
    assert ada.is_superuser and ada.is_staff and out.getvalue() == "ada@example.com: owner.\n"
    assert Event.objects.get(kind="role.set").data == {"role": "owner"}
    call_command("setrole", "none", email=ada.email, stdout=out)
    again = User.objects.get(pk=ada.pk)
    assert not again.is_superuser and not again.is_staff and not again.groups.exists()
    for wrong in (["king", "ada@example.com"], ["owner", "nobody@example.com"]):
        with pytest.raises(CommandError):
            call_command("setrole", wrong[0], email=wrong[1])


def test_an_owner_gives_roles_in_the_admin_and_never_loses_their_own(
    admin_client: Client, admin_user: User, ada: User
) -> None:
    page = reverse("admin:accounts_user_changelist")
    for action, role in (("make_support", "support"), ("make_operator", "operator"), ("take_role", None)):
        admin_client.post(page, {"action": action, "_selected_action": [ada.pk, admin_user.pk]})
        ada.refresh_from_db()
        assert list(ada.groups.values_list("name", flat=True)) == ([role] if role else [])
        assert ada.is_staff is bool(role)
    admin_user.refresh_from_db()
    assert admin_user.is_superuser
    assert set(Event.objects.filter(kind="role.set").values_list("actor", flat=True)) == {admin_user.pk}


@pytest.mark.parametrize("role", ["support", "operator"])
def test_nobody_below_an_owner_gives_roles(client: Client, ada: User, password: str, role: str) -> None:
    call_command("setrole", role, email=ada.email, stdout=StringIO())
    eve = User.objects.create_user("eve@example.com", password, first_name="E", last_name="M")
    client.force_login(ada)
    for action in ("make_owner", "make_operator", "take_role", "end_sessions"):
        answer = client.post(
            reverse("admin:accounts_user_changelist"), {"action": action, "_selected_action": [eve.pk, ada.pk]}
        )
        assert answer.status_code == 403
    assert not User.objects.filter(is_superuser=True).exists()
