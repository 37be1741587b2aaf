from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache

from accounts.models import User

PASSWORD = "correct horse battery staple"


@pytest.fixture(autouse=True)
def fresh_throttles() -> Iterator[None]:
    """Throttles count in the cache: no test pays for another one's guesses."""
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def password() -> str:
    return PASSWORD


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user("ada@example.com", PASSWORD, first_name="Ada", last_name="Lovelace")


@pytest.fixture
def person() -> dict[str, Any]:
    """What somebody types who registers."""
    return {"first_name": "Grace", "last_name": "Hopper", "email": "grace@example.com", "password1": PASSWORD}
