"""Types of the tests in `attacks/`."""

from collections.abc import Callable

from django.test import Client

from accounts.models import User

Browse = Callable[[User | None], Client]
