"""Roles: groups with permissions (ACC-8). Which role may do what stands in `config/roles.py`."""

from collections.abc import Iterable

from django.apps import apps
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission
from django.db import transaction

from events.actions import record

from ..models import User
from .people import end_sessions

OWNER = "owner"


def ensure_role(name: str, permissions: Iterable[str]) -> None:
    """Make a group and give it exactly these permissions ("app.codename"); LookupError names one that is not there."""
    wanted = set(permissions)
    found = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in Permission.objects.select_related("content_type")
    }
    if missing := wanted - found.keys():
        raise LookupError(f"The role {name} names permissions that do not exist: {', '.join(sorted(missing))}")
    group, _made = Group.objects.get_or_create(name=name)
    chosen = {found[code] for code in wanted}
    if set(group.permissions.all()) != chosen:
        group.permissions.set(chosen)


def ensure_permissions(using: str) -> None:
    """Make the permissions of every app now: Django makes those of the last app only after our own step."""
    for config in apps.get_app_configs():
        create_permissions(config, verbosity=0, using=using)


def set_role(user: User, role: str | None, *, actor: User | None) -> None:
    """Make a person support, operator or owner, or none of them, and end their sessions: the next one has the rights.

    An owner is a superuser too: what no table names yet must still have somebody who may do it.
    """
    with transaction.atomic():
        person = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        person.groups.set(Group.objects.filter(name=role) if role else [])
        person.is_staff, person.is_superuser = role is not None, role == OWNER
        person.save(update_fields=["is_staff", "is_superuser"])
        end_sessions(person)
        record("role.set", subject=person, actor=actor, role=role or "")
