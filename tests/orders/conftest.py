from collections.abc import Iterator

import pytest
from django.utils import translation


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Give each test its own active language: a page in another one leaves it behind."""
    with translation.override("en"):
        yield
