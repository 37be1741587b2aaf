"""Roles: groups with permissions (ACC-8). Which role may do what stands in `config/roles.py`."""

from collections.abc import Iterable, Mapping

from django.contrib.auth.models import Group, Permission
from django.db import transaction

from events.actions import record

from ..models import User
from .people import end_sessions

OWNER = "owner"


def ensure_roles(roles: Mapping[str, Iterable[str]]) -> None:
    """Make each group and give it exactly its permissions ("app.codename"); LookupError names one that is not there."""
    found = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in Permission.objects.select_related("content_type")
    }
    if missing := {code for codes in roles.values() for code in codes} - found.keys():
        raise LookupError(f"Roles name permissions that do not exist: {', '.join(sorted(missing))}")
    for name, codes in roles.items():
        group, _made = Group.objects.get_or_create(name=name)
        chosen = {found[code] for code in codes}
        if set(group.permissions.all()) != chosen:
            group.permissions.set(chosen)


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
