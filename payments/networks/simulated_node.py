"""A simulated network: the half that reads the chain file. It keeps the same promises as a real node's half."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from .base import (
    Asset,
    Batch,
    Block,
    Confirmation,
    Cursor,
    Finding,
    Held,
    Key,
    Match,
    Replaced,
    Transfer,
    Unavailable,
)
from .chain_walk import Start, check_genesis, find_start
from .simulated import Simulated
from .simulated_chain import GROWN, SPENT, Payment, Sent, SimulatedChain

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
HEX = "0123456789abcdefABCDEF"
# How an address of each network looks: what it begins with, then so many letters of an alphabet. They look real and
# are not: the checksums are wrong (Ethereum: the capitals, Solana: a number too big), so a real wallet refuses them
# and nobody can send real money into the demo.
LOOKS = {
    "ethereum": ("0x", 40, HEX),
    "bitcoin": ("bc1q", 38, BECH32),
    "litecoin": ("ltc1q", 38, BECH32),
    "tron": ("T", 33, BASE58),
    "solana": ("z", 43, BASE58),
}
OTHER_LOOK = ("sim", 40, BECH32)


class SimulatedNode:
    """Reads the chain at `path`; `identity` stands for the operator's public key. `second`: as the second provider."""

    def __init__(
        self, family: Simulated, path: Path | str, identity: str, max_blocks: int = 500, second: bool = False
    ) -> None:
        self.family = family
        self.chain = SimulatedChain(path)
        self.identity = identity
        self.max_blocks = max_blocks
        self.second = second

    def genesis(self) -> str:
        """Return the hash of the chain's first block."""
        return self.chain.genesis()

    def head(self) -> Block:
        """Return the newest block."""
        return self.chain.head()

    def scan(self, cursor: Cursor, match: Match, held: Sequence[Held] = ()) -> Batch:
        """Read on from the cursor, and the pool; at most `max_blocks` blocks."""
        if not self.second and self.chain.first_is_refused():
            raise Unavailable("The first simulated provider refuses to tell what is in blocks.")
        genesis = self.genesis()
        check_genesis(self.family.name, cursor, genesis)
        head = self.head()
        start = find_start(self.family.name, cursor, head, self._block_at)
        transfers, watched = self._read_blocks(start, head, match)
        transfers += self._ours(self.chain.pool(), match)
        reached = start.recent.blocks[-1][0]
        return Batch(
            cursor=Cursor(genesis, tuple(start.recent.blocks)),
            transfers=tuple(transfers),
            watched_until=watched,
            head=head.height,
            rewound_to=start.rewound_to,
            more=reached < head.height,
        )

    def confirm(self, keys: Sequence[Key]) -> list[Confirmation | Replaced | None]:
        """Read each transfer again."""
        mood = self.chain.second_mood() if self.second else "agrees"
        if mood == "down":
            raise Unavailable("The second simulated provider does not answer.")
        if mood == "disagrees":
            return [None for _ in keys]
        head = self.head()
        return [self._confirm_one(key, head) for key in keys]

    def look_up(self, txid: str) -> Finding | None:
        """Return everything that the transaction pays."""
        found = self.chain.transaction(txid)
        return Finding(txid, found[0].block, False, tuple(map(self._transfer, found))) if found else None

    def used(self, addresses: Sequence[str]) -> set[str]:
        """Return those that were ever paid."""
        return self.chain.paid(addresses)

    def destination(self, index: int) -> str:
        """Make up the address with this index, the same for the same identity."""
        prefix, length, alphabet = LOOKS.get(self.family.network, OTHER_LOOK)
        seed = hashlib.sha256(f"{self.identity}:{self.family.network}:{index}".encode()).digest()
        return prefix + "".join(alphabet[byte % len(alphabet)] for byte in hashlib.shake_256(seed).digest(length))

    def key_fingerprint(self) -> str:
        """Return a short name of the identity."""
        return hashlib.sha256(self.identity.encode()).hexdigest()[:16]

    def check(self) -> None:
        """Ask for the head: there are no contracts to check."""
        self.head()

    def _block_at(self, height: int) -> Block:
        block = self.chain.block(height)
        if block is None:
            raise Unavailable(f"The simulated node does not know block {height}.")
        return block

    def _read_blocks(self, start: Start, head: Block, match: Match) -> tuple[list[Transfer], datetime]:
        tip, transfers = start.tip, []
        for height in range(start.next_height, min(head.height, start.next_height + self.max_blocks - 1) + 1):
            block = self._block_at(height)
            if tip and self.chain.parent(block) != tip.hash:
                raise Unavailable(f"The simulated chain changed at block {height} while it was read.")
            transfers += self._ours(self.chain.payments_in(block), match)
            start.recent.add(block.height, block.hash)
            tip = block
        return transfers, tip.time if tip else head.time

    def _ours(self, sent: list[Sent], match: Match) -> list[Transfer]:
        ours = match({one.payment.address for one in sent}) if sent else set()
        return [self._transfer(one) for one in sent if one.payment.address in ours]

    def _transfer(self, sent: Sent) -> Transfer:
        payment, asset = sent.payment, self._asset(sent.payment)
        method = asset.method if asset else None
        contract = asset.contract if asset else payment.contract or payment.method
        return Transfer(
            sent.txid,
            sent.position,
            payment.address,
            payment.amount,
            method,
            contract,
            sent.block,
            spent_by(sent.txid),
            explained=not sent.position.startswith(GROWN),
        )

    def _asset(self, payment: Payment) -> Asset | None:
        for asset in self.family.assets:
            if payment.method == asset.method or (payment.method is None and payment.contract == asset.contract):
                return asset
        return None

    def _confirm_one(self, key: Key, head: Block) -> Confirmation | Replaced | None:
        sent = self.chain.find(key.txid, key.position)
        if sent is None:
            by = self.chain.spender(key.txid)
            return Replaced(by) if by and by != key.txid else None
        if replace(key, spends=(), block="") != self._key(sent):
            return None
        if sent.block is None:
            return Confirmation(None, 0, finalized=False)
        confirmations = head.height - sent.block.height + 1
        return Confirmation(sent.block, confirmations, finalized=confirmations >= self.family.confirmations)

    def _key(self, sent: Sent) -> Key:
        transfer = self._transfer(sent)
        return Key(transfer.txid, transfer.position, transfer.address, transfer.amount, transfer.contract)


def spent_by(txid: str) -> tuple[str, ...]:
    """Return the output that a transaction of this chain spends."""
    return (f"{txid[:SPENT]}:0",)
