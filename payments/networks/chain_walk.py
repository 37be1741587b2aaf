"""Where to read on: one answer for every network of blocks, real or simulated."""

from collections.abc import Callable
from dataclasses import dataclass

from .base import Block, Cursor, ForeignChain, Recent, Unavailable

# Blocks before the very first one read whose hashes are noted, so that an ordinary reorg right after the first start
# finds a common ancestor and is no false alarm.
SEED = 12


@dataclass(frozen=True, slots=True)
class Start:
    """`tip` is the block to read on from; none: the head is the chain's first block. `recent` ends with `tip`."""

    tip: Block | None
    recent: Recent
    rewound_to: int | None

    @property
    def next_height(self) -> int:
        return self.tip.height + 1 if self.tip else 0


def check_genesis(name: str, cursor: Cursor, genesis: str) -> None:
    """Raise ForeignChain if the node's chain is not the one the cursor was read from."""
    if cursor.genesis and cursor.genesis != genesis:
        raise ForeignChain(f"The {name} node is on another chain: its genesis is {genesis}, ours is {cursor.genesis}.")


def find_start(name: str, cursor: Cursor, head: Block, block_at: Callable[[int], Block]) -> Start:
    """Find the newest block of the cursor that is still on the chain; one call of `block_at` unless there was a reorg.

    A head below ours is a lagging node (Unavailable) as long as its blocks are the ones we know. ForeignChain if no
    block of `recent` is on the chain.
    """
    if not cursor.recent:
        return _first_start(head, block_at)
    reached = [known for known in cursor.recent if known[0] <= head.height]
    if not reached:
        raise Unavailable(_behind(name, cursor, head))
    kept = list(reached)
    while kept:
        block = block_at(kept[-1][0])
        if block.hash == kept[-1][1]:
            break
        kept.pop()
    else:
        raise ForeignChain(f"The {name} node knows none of the last {len(reached)} blocks we read.")
    replaced = len(kept) < len(reached)
    if not replaced and len(reached) < len(cursor.recent):
        raise Unavailable(_behind(name, cursor, head))
    return Start(block, Recent(kept), block.height if replaced else None)


def _first_start(head: Block, block_at: Callable[[int], Block]) -> Start:
    seeds = [block_at(height) for height in range(max(head.height - SEED, 0), head.height)]
    return Start(seeds[-1] if seeds else None, Recent([(seed.height, seed.hash) for seed in seeds]), None)


def _behind(name: str, cursor: Cursor, head: Block) -> str:
    return f"The {name} node is behind: it is at block {head.height}, we have read up to {cursor.height}."
