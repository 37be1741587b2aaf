"""Accounting for the balance of one address: what it held last time, what its transactions say, what it holds now.

Each transaction begins with what the one before left. Where it does not, or where the node lists a transaction and does
not show it, the node is not ready: the address waits, and with it the time up to which the network counts as watched.
After five minutes a person is told how much came without a transaction that says why.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple, Self

from .base import Block, Held, Transfer
from .solana_read import Change, Lamports, Listed, Told

COIN = "sol"
BALANCE = "balance"
PATIENCE = 300  # seconds that a node may take to show the transaction behind a balance


@dataclass(frozen=True, slots=True)
class Mark:
    """What is kept about an address besides its balance: the newest signature that is accounted for; the slot through
    which a person was told the rest; and since when (Unix time) something of it waits. At most 112 letters."""

    signature: str = ""
    through: int = 0
    since: int = 0

    @classmethod
    def read(cls, text: str) -> Self:
        if not text:
            return cls()
        signature, through, since = text.split(",")
        return cls(signature, int(through), int(since))

    def __str__(self) -> str:
        return f"{self.signature},{self.through},{self.since}" if self != Mark() else ""

    @property
    def waits_since(self) -> datetime | None:
        return datetime.fromtimestamp(self.since, UTC) if self.since else None


@dataclass(frozen=True, slots=True)
class Shown:
    """A transaction with the block that holds it."""

    told: Told
    block: Block


class Look(NamedTuple):
    """What came of looking at one address. `more`: its history goes on. There is one for each address in each pass."""

    held: Held
    transfers: tuple[Transfer, ...] = ()
    more: bool = False


@dataclass(frozen=True, slots=True)
class Account:
    """One address in one pass: what was kept about it and its mark, what it holds now, the newest block, and the one of
    the last pass, up to which it was accounted for."""

    kept: Held
    mark: Mark
    now: Lamports
    head: Block
    last: Block

    def new_of(self, history: Sequence[Listed]) -> list[Listed]:
        """Return what of its history (newest first) is not accounted for, oldest first. Failed transactions pay nobody;
        what is newer than the balance comes next time."""
        after, until = self.mark.through, self.now.slot
        return [line for line in reversed(history) if not line.failed and after < line.slot <= until]

    def account_for(self, lines: Sequence[Listed], shown: Sequence[Shown | None], *, more: bool) -> Look:
        """Account for the new lines of its history (oldest first) and the transactions behind them, as far as the node
        shows them. With `more` to come it ends where the last of these left it."""
        told = [one.told for one in shown if one]
        balance = ends_with(self.kept, told) if more else self.now.amount
        gap = unexplained(self.kept, told, balance)
        transfers = tuple(payment for one in shown if one for payment in payments_to(self.kept.address, one))
        newest = lines[-1].signature if lines else self.mark.signature
        since = self.mark.since or int(self.last.time.timestamp())
        mark = Mark(newest, self.mark.through, since if more else 0)
        if gap or len(told) < len(lines):
            if self.head.time.timestamp() - since < PATIENCE:
                return Look(replace(self.kept, mark=str(replace(self.mark, since=since))), transfers)
            transfers += (self._unexplained(gap),) if gap else ()
            mark = replace(mark, through=self.mark.through if more else self.now.slot)
        return Look(Held(self.kept.address, balance, str(mark)), transfers, more)

    def _unexplained(self, amount: int) -> Transfer:
        """Return what came without a reason, named by the block at which it was noticed."""
        address, head = self.kept.address, self.head
        return Transfer(
            head.hash, f"{BALANCE}:{head.height}:{address}", address, amount, COIN, None, head, explained=False
        )


def is_unchanged(kept: Held, now: Lamports) -> bool:
    """Tell whether an address holds what it held and nothing of it waits: so it is with nearly all in each pass."""
    return now.amount == (kept.balance or 0) and not (kept.mark and Mark.read(kept.mark).since)


def unexplained(kept: Held, told: Sequence[Told], end: int) -> int:
    """Return how much more an address holds than its transactions say: each begins where the one before ended."""
    balance, gap = kept.balance or 0, 0
    for one in told:
        if change := one.of(kept.address):
            gap += max(change.before - balance, 0)
            balance = change.after
    return gap + max(end - balance, 0)


def ends_with(kept: Held, told: Sequence[Told]) -> int:
    """Return what the last of its transactions left an address with."""
    changes = [change for one in told if (change := one.of(kept.address))]
    return changes[-1].after if changes else kept.balance or 0


def payments_to(address: str, shown: Shown) -> list[Transfer]:
    """Return what an address received, tokens included."""
    return [transfer(shown.told, each, shown.block) for each in shown.told.payments_to(address)]


def transfer(told: Told, change: Change, block: Block | None) -> Transfer:
    """Return what one account received. Tokens have no method: none of them can be paid with."""
    method = COIN if change.mint is None else None
    return Transfer(told.signature, change.position, change.address, change.received, method, change.mint, block)
