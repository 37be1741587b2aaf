from typing import Any

import pytest

from accounts.models import User

PASSWORD = "correct horse battery staple"


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
