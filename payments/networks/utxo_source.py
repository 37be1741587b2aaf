"""What is asked of a node of Bitcoin's kind, whichever way it speaks: values in one shape for Core and for Esplora."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from .base import BadAnswer, Block, Replaced, Transfer

HASH = re.compile(r"[0-9a-f]{64}")
REMEMBERED = 10_000  # searches without a result that are remembered, so that they begin where they ended
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Output:
    """One output of a transaction: its place, its script in hex, base units."""

    n: int
    script: str
    amount: int


@dataclass(frozen=True, slots=True)
class Tx:
    """One transaction. `spends` holds "txid:n" of each output it spends; a coinbase spends none."""

    txid: str
    spends: tuple[str, ...]
    outputs: tuple[Output, ...]
    coinbase: bool


Written = tuple[str, str | None, int]
"""An output of a block as its node writes it: its script, its address if the node says one, and the place of its
transaction in the block. A tuple, since a block holds ten thousand of them."""


@dataclass(frozen=True, slots=True)
class Contents:
    """A whole block; `parent` is the hash of the one before it, "" for the first.

    `outputs` are all of it; `read` reads the transaction at a place: few of thousands are ours, and only these are.
    """

    block: Block
    parent: str
    outputs: Sequence[Written]
    read: Callable[[int], Tx]


def contents_of(block: Block, parent: str, txs: Sequence[Tx]) -> Contents:
    """Return a block whose transactions were read already."""
    outputs = [(output.script, None, place) for place, tx in enumerate(txs) for output in tx.outputs]
    return Contents(block, parent, outputs, txs.__getitem__)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an output stands now. `depth` 1 = in the head block, 0 = in the pool, and `block` is none then."""

    output: Output
    coinbase: bool
    block: Block | None
    depth: int


class Source(Protocol):
    """A node. Every verb may raise Unavailable or BadAnswer."""

    node: str
    pool_limit: int  # how many transactions of the pool one pass may read

    @property
    def calls(self) -> int:
        """Return how many calls were made."""

    def genesis(self) -> str:
        """Return the hash of the first block. ForeignChain if the node says that it is on another chain."""

    def head(self) -> Block:
        """Return the newest block."""

    def block_at(self, height: int) -> Block:
        """Return the block at this height of the best chain."""

    def contents(self, height: int) -> Contents:
        """Return the block at this height with its transactions."""

    def pool(self) -> list[str]:
        """Return the ids of all transactions in the pool."""

    def read(self, txids: Sequence[str]) -> list[Tx | None]:
        """Return transactions of the pool, in order; none for those that left it meanwhile."""

    def places(self, outputs: Sequence[tuple[str, int]], blocks: Mapping[str, str]) -> list[Place | None]:
        """Return where each output (txid, n) stands on the best chain or in the pool; none if nowhere. `blocks`: in
        which block a transaction was last, by its id."""

    def replaced(self, txid: str, spends: Sequence[str]) -> Replaced | None:
        """Tell whether one of these outputs is spent by another transaction than `txid`, which is gone."""

    def transaction(self, txid: str) -> tuple[Tx, Block | None] | None:
        """Return a transaction and its block, if there is one."""

    def low_fee(self, txid: str) -> bool:
        """Tell whether a transaction of the pool offers less than the next blocks take."""

    def used(self, addresses: Sequence[str]) -> set[str]:
        """Return those addresses that hold something or have a history, as far as the node knows."""


@dataclass(slots=True)
class Memory:
    """What this process has read of one node's pool, so that each transaction is read once.

    Losing it costs a second reading, nothing else.
    """

    read: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    ours: dict[str, list[Transfer]] = field(default_factory=dict)
    searched: dict[str, str] = field(default_factory=dict)  # what was looked for in vain → the head at that time

    def unread(self, pool: Iterable[str], limit: int) -> list[str]:
        """Return what to read now: what is new since the last pass first, then what was left over."""
        new = set(pool) - self.read
        fresh = new - self.listed
        return [*fresh, *(new - fresh)][:limit]

    def keep(self, pool: Iterable[str], read: Iterable[str], ours: Iterable[Transfer]) -> None:
        """Note what was read of this pool and what of it is ours; forget what left the pool."""
        self.listed = set(pool)
        self.read = (self.read | set(read)) & self.listed
        self.ours = {txid: transfers for txid, transfers in self.ours.items() if txid in self.listed}
        for transfer in ours:
            self.ours.setdefault(transfer.txid, []).append(transfer)

    def remember_search(self, wanted: Iterable[str], head: str) -> None:
        if len(self.searched) > REMEMBERED:
            self.searched.clear()
        self.searched.update(dict.fromkeys(wanted, head))


@cache
def memory_of(url: str, fingerprint: str) -> Memory:
    """Return this process's memory of a node: adapters come and go with each pass."""
    return Memory()


@contextmanager
def reading(node: str, what: str) -> Iterator[None]:
    """Turn an answer of another shape than agreed into BadAnswer."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise BadAnswer(f"{node} gave {what} in a shape that can't be right: {error!r:.200}") from error


def a_hash(value: Any) -> str:
    """Return a block's or transaction's id; ValueError if it is none."""
    if not isinstance(value, str) or not HASH.fullmatch(value):
        raise ValueError(f"{value!r:.80} is no hash")
    return value


def a_number(value: Any) -> int:
    """Return a whole number that is not negative."""
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r:.80} is no whole number")
    return value


def a_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r:.80} is no list")
    return value
