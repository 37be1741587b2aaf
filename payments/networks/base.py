"""The network interface: facts of a chain in, values out, nothing of Gridlot known.

Every network has two halves. The *family* half (`networks/<family>.py`) is pure: assets, finality, payment URIs,
address checks, explorer links; the web process may load it. The *node* half (`networks/<family>_node.py`) talks to
nodes and imports chain libraries; only workers load it, by dotted path.

Amounts are `int` base units. Identifiers (addresses, transaction ids, hashes) are normalised before they leave an
adapter: equal things are equal strings. No module here imports Django.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol


class Unavailable(Exception):
    """Try again: the node did not answer, is behind, is rate limited, or no longer knows a block we asked about."""


class BadAnswer(Exception):
    """Tell someone: the node answered something that can't be right. Nothing of the pass may be kept."""


class ForeignChain(BadAnswer):
    """Stop and alarm: another genesis or chain id than this installation was born with, or no common ancestor."""


@dataclass(frozen=True, slots=True)
class Asset:
    """A coin or token on one network. `contract` is none for the network's own coin."""

    method: str  # the customer's choice, e.g. "usdt-ethereum"; unique over all networks
    symbol: str  # "USDT"
    name: str  # "Tether USD"
    decimals: int  # base units per whole unit = 10 ** decimals
    due_decimals: int  # due amounts are rounded up to this many decimals: people type them
    stable: bool  # stablecoins have their own window and tolerance
    minimum_cents: int  # smallest intent in USD cents
    contract: str | None = None
    minimum_amount: int = 0  # smallest intent in base units, where the network refuses to move less


@dataclass(frozen=True, slots=True)
class Finality:
    """What a transfer needs to be final: so many confirmations, or the network's own finality if `finalized`."""

    confirmations: int
    finalized: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A block's place: height, hash and time (aware, UTC)."""

    height: int
    hash: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a network was read: `recent` holds (height, hash) of the last blocks read, oldest first, the last one
    being the tip. Empty `recent` = start at the node's head. `genesis` is "" before the first pass."""

    genesis: str
    recent: tuple[tuple[int, str], ...] = ()

    @property
    def height(self) -> int | None:
        return self.recent[-1][0] if self.recent else None


@dataclass(frozen=True, slots=True)
class Transfer:
    """One payment of one asset to one address. `(txid, position)` names it for ever, also after a reorg.

    `position` is the place *within the transaction*: "value" for the coin itself, "log:N" for the N-th log of its own
    receipt, "call:0.1" for an internal call, "out:N" for an output, "account:N" for an account of a Solana transaction.
    `block` is none while the network may still forget it: in the pool, or not solid yet.
    """

    txid: str
    position: str
    address: str
    amount: int
    method: str | None  # none: an unknown token; then `contract` says which
    contract: str | None
    block: Block | None
    spends: tuple[str, ...] = ()  # "txid:n" of each output it spends, where that tells what replaces what
    explained: bool = True  # false: a balance grew and no transaction says why; then `txid` is the block's hash


@dataclass(frozen=True, slots=True)
class Held:
    """What one of our addresses held when it was last looked at, for networks that must look at each: base units of the
    coin, and a mark of the adapter's own, such as the newest signature read. `balance` none: never looked at."""

    address: str
    balance: int | None = None
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """What one pass read. Writing it twice is harmless; a pass may repeat, it never skips.

    `rewound_to`: height of the common ancestor if a reorg was seen (blocks above it that we had read are gone), else
    none. `cursor` is the new cursor. `watched_until`: every block with a time up to this one was read. `head`: the
    node's head height. `more`: the head was not reached yet, call again at once. `held`: what addresses hold now, for
    those handed in that were looked at; kept with the facts and handed in again next time.
    """

    cursor: Cursor
    transfers: tuple[Transfer, ...]
    watched_until: datetime
    head: int
    rewound_to: int | None = None
    more: bool = False
    held: tuple[Held, ...] = ()


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What the network says about a transfer now. `confirmations` 1 = in the head block. `finalized`: the network's own
    finality reached it. `amount` and `address` were read again and equal the transfer's."""

    block: Block | None
    confirmations: int
    finalized: bool


@dataclass(frozen=True, slots=True)
class Replaced:
    """The transfer is gone because its sender spent the same money otherwise; `by` is that transaction, "" if the node
    can't name it."""

    by: str = ""


@dataclass(frozen=True, slots=True)
class Key:
    """Names a transfer to `confirm`: what was stored about it. `block` is the hash of the block that it was last in, ""
    for none: a node without an index of transactions finds it there also when it is old."""

    txid: str
    position: str
    address: str
    amount: int
    contract: str | None = None
    spends: tuple[str, ...] = ()
    block: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What the network says about a transaction that somebody asks about.

    `failed`: it is in a block and moved nothing. `payments`: everything it pays, to anybody, unknown tokens included.
    `low_fee`: it waits in the pool and offers less than the next blocks take.
    """

    txid: str
    block: Block | None
    failed: bool
    payments: tuple[Transfer, ...]
    low_fee: bool = False


Match = Callable[[Iterable[str]], set[str]]
"""Asked with the addresses of one block or range; answers which of them are ours."""


class Family(Protocol):
    """The pure half of a network."""

    @property
    def network(self) -> str:
        """Return the code of the network: "ethereum"."""

    @property
    def name(self) -> str:
        """Return its name: "Ethereum"."""

    @property
    def assets(self) -> Sequence[Asset]:
        """Return what can be paid on it."""

    @property
    def block_seconds(self) -> float:
        """Return the usual time between blocks."""

    @property
    def pool_slack_seconds(self) -> int:
        """Return by how much a block's time may be later than the payment, where the pool was not watched: 600 for
        networks whose blocks are minutes apart and whose pool is watched, else 0."""

    @property
    def looks_per_pass(self) -> int:
        """Return how many addresses a pass can look at one by one; 0 where blocks tell everything."""

    @property
    def looks_decide(self) -> bool:
        """Return whether an address that was not looked at was not watched: blocks tell nothing."""

    def finality(self, usd_cents: int) -> Finality:
        """Return what a transfer worth this much needs."""

    def payment_uri(self, address: str, asset: Asset, amount: int) -> str:
        """Return the text for the QR code: safe by default (tokens: the bare address, wallets misread the rest)."""

    def wallet_uri(self, address: str, asset: Asset, amount: int) -> str | None:
        """Return the full payment link with asset and amount, for people who know that their wallet reads it; none if
        the network has no such form, or `payment_uri` is it already."""

    def check_address(self, text: str) -> str:
        """Return the normalised address; ValueError says what is wrong with it."""

    def check_transaction(self, text: str) -> str:
        """Return the normalised transaction id; ValueError if it can't be one of this network (by its shape)."""

    def display(self, address: str) -> str:
        """Return the normalised address as people read and copy it (Ethereum: with the capitals of EIP-55)."""

    def transaction_url(self, txid: str) -> str | None:
        """Return a public explorer's page of the transaction, if there is one."""


class Node(Protocol):
    """The half that talks to a node. Every verb may raise Unavailable or BadAnswer."""

    def genesis(self) -> str:
        """Return the identity of the chain (genesis hash, joined with the chain id where there is one)."""

    def head(self) -> Block:
        """Return the newest block."""

    def scan(self, cursor: Cursor, match: Match, held: Sequence[Held] = ()) -> Batch:
        """Read on from the cursor, at most a bounded number of blocks. ForeignChain if the genesis differs or no
        block of `recent` is on the chain. `held`: up to `looks_per_pass` of our addresses, those of live promises
        first, with what was kept about them."""

    def confirm(self, keys: Sequence[Key]) -> list[Confirmation | Replaced | None]:
        """Read each transfer again, in order. None = the network no longer knows it (reverted, dropped); Replaced = and
        it can never come, since the same money went elsewhere."""

    def look_up(self, txid: str) -> Finding | None:
        """Return what the network says about a transaction; none if it does not know it."""

    def used(self, addresses: Sequence[str]) -> set[str]:
        """Return those that hold something or have a history, as far as the node can tell."""

    def destination(self, index: int) -> str:
        """Derive the address with this index from the operator's public key."""

    def key_fingerprint(self) -> str:
        """Return a short public name of the key that `destination` derives from."""

    def check(self) -> None:
        """Check the pinned token contracts (code, decimals) once at start; BadAnswer names the one that is wrong."""


@dataclass(slots=True)
class Recent:
    """The window of recent blocks that a node half keeps while scanning."""

    blocks: list[tuple[int, str]] = field(default_factory=list)
    limit: int = 128

    def add(self, height: int, block_hash: str) -> None:
        self.blocks.append((height, block_hash))
        del self.blocks[: -self.limit]
