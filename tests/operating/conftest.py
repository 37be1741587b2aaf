"""People of the staff in their browsers."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from story import make_customer

from accounts.actions.roles import set_role
from accounts.models import User

Staff = Callable[..., Client]


@pytest.fixture
def staff(settings: Any, db: None) -> Staff:
    """Return a way to open a browser of somebody with a role: `staff("operator", time_zone="Europe/Warsaw")`."""
    settings.STAFF_SECOND_FACTOR = False

    def start(role: str, *, email: str = "", **facts: Any) -> Client:
        user: User = make_customer(email or f"{role}@example.com")
        set_role(user, role, actor=None)
        User.objects.filter(pk=user.pk).update(**facts)
        client = Client()
        client.force_login(User.objects.get(pk=user.pk))
        return client

    return start
