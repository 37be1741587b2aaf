"""Every test here kills a process at a chosen step of its work and starts it again."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from killing import Ended, in_a_child
from together import Work, own_connections

InAChild = Callable[..., Ended]


@pytest.fixture(autouse=True)
def _own_connections(transactional_db: None) -> Iterator[None]:
    """Give each child a connection of its own."""
    with own_connections():
        yield


@pytest.fixture
def child(tmp_path: Path) -> InAChild:
    """Return a function that does work in a process of its own, killed before a step if one is named."""

    def run(work: Work, killed_before: int | None = None) -> Ended:
        return in_a_child(work, tmp_path / "steps", killed_before=killed_before)

    return run
