"""Every test here is a race: real threads on PostgreSQL, real processes on SQLite."""

from collections.abc import Iterator

import pytest
from together import own_connections


@pytest.fixture(autouse=True)
def _own_connections(transactional_db: None) -> Iterator[None]:
    """Give each thread and process of a race a connection of its own."""
    with own_connections():
        yield
