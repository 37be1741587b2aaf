"""Check networks, prices and addresses and say it so that an operator understands. For workers and commands only: it
asks nodes. `hush.py` keeps secrets out of what is said."""

from collections.abc import Iterator

from ..findings import Finding
from .addresses import reserves
from .nodes import networks
from .prices import prices


def findings() -> Iterator[Finding]:
    """Yield everything about money's way in."""
    yield from networks()
    yield from prices()
    yield from reserves()
