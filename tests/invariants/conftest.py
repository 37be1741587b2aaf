"""The base of all worlds: made once per test, in memory where the machine has a folder for that."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from invariants.world import Base
from pytest_django.fixtures import Settings

MEMORY = Path("/dev/shm")  # noqa: S108


@pytest.fixture
def base(settings: Settings, db: None) -> Iterator[Base]:
    """Return the base, in a folder of its own."""
    place = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="gridlot-", dir=place) as folder:
        yield Base.make(Path(folder), settings)
