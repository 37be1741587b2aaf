"""A node in memory: it answers at once, so that what is measured is our side alone."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from payments.networks.base import Batch, Block, Confirmation, Cursor, Finding, Held, Key, Match, Replaced, Transfer

GENESIS = "in memory"


@dataclass
class MemoryNode:
    """A chain that grows when it is told to. Three confirmations are final."""

    blocks: list[Block] = field(default_factory=list)
    paid: dict[int, list[Transfer]] = field(default_factory=dict)
    known: dict[tuple[str, str], Transfer] = field(default_factory=dict)

    def mine(self, payments: Sequence[tuple[str, int, str]] = ()) -> None:
        """Add a block with these payments: address, amount and method of each."""
        block = Block(len(self.blocks), secrets.token_hex(32), datetime.now(UTC))
        found = [
            Transfer(secrets.token_hex(32), "value", address, amount, method, None, block)
            for address, amount, method in payments
        ]
        self.blocks.append(block)
        self.paid[block.height] = found
        self.known |= {(one.txid, one.position): one for one in found}

    def genesis(self) -> str:
        return GENESIS

    def head(self) -> Block:
        return self.blocks[-1]

    def scan(self, cursor: Cursor, match: Match, held: Sequence[Held] = ()) -> Batch:
        known = [height for height, _ in cursor.recent]
        fresh = self.blocks[known[-1] + 1 if known else 0 :]
        sent = [one for block in fresh for one in self.paid[block.height]]
        ours = match({one.address for one in sent}) if sent else set()
        recent = (*cursor.recent, *((block.height, block.hash) for block in fresh))[-128:]
        head = self.head()
        return Batch(Cursor(GENESIS, recent), tuple(t for t in sent if t.address in ours), head.time, head.height)

    def confirm(self, keys: Sequence[Key]) -> list[Confirmation | Replaced | None]:
        return [self._confirm(key) for key in keys]

    def _confirm(self, key: Key) -> Confirmation | None:
        found = self.known.get((key.txid, key.position))
        if found is None or found.block is None:
            return None
        return Confirmation(found.block, self.head().height - found.block.height + 1, finalized=False)

    def look_up(self, txid: str) -> Finding | None:
        return None

    def used(self, addresses: Sequence[str]) -> set[str]:
        return set()

    def destination(self, index: int) -> str:
        return "0x" + hashlib.sha256(f"memory:{index}".encode()).hexdigest()[:40]

    def key_fingerprint(self) -> str:
        return "memory"

    def check(self) -> None:
        """There are no contracts."""
