"""What a Solana node says, read strictly. Every function raises KeyError, TypeError or ValueError on another shape.

What an account received is what it held afterwards less what it held before, never what an instruction says: so
transfers of any program and of any depth count alike.
"""

from base64 import b64decode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import repeat
from typing import Any, NamedTuple

from solders.message import MessageV0
from solders.pubkey import Pubkey
from solders.signature import Signature
from solders.transaction import VersionedTransaction

from .base import Block

Json = dict[str, Any]
FINALIZED = "finalized"


class Lamports(NamedTuple):
    """What an address held, and the slot of which that was said. There is one for each address in each pass."""

    slot: int
    amount: int


class Listed(NamedTuple):
    """A transaction in the history of an address."""

    signature: str
    slot: int
    failed: bool
    final: bool


class Change(NamedTuple):
    """What a transaction did to the account at this place. `mint` is none for SOL; tokens belong to `address`."""

    position: str
    address: str
    before: int
    after: int
    mint: str | None = None

    @property
    def received(self) -> int:
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Told:
    """A transaction as the node tells it."""

    signature: str
    slot: int
    failed: bool
    changes: tuple[Change, ...]

    def of(self, address: str) -> Change | None:
        """Return what it did to the SOL of this address; none if it does not name the address."""
        return next((one for one in self.changes if one.address == address and one.mint is None), None)

    def payments(self) -> list[Change]:
        """Return what anybody received; nothing if it failed, for then only the fee moved."""
        return [] if self.failed else [one for one in self.changes if one.received > 0]

    def payments_to(self, address: str) -> list[Change]:
        """Return what this address received, tokens included."""
        return [one for one in self.payments() if one.address == address]


def number(value: Any) -> int:
    """Return a whole number that fits a balance or a slot."""
    if type(value) is not int or not 0 <= value < 1 << 64:
        raise ValueError(f"{value!r:.80} is no number")
    return value


def text_of(value: Any, size: int) -> str:
    """Return base58 of so many bytes: a key or hash (32), a signature (64)."""
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.100} is no text")
    (Pubkey if size == 32 else Signature).from_string(value)  # ValueError for anything else
    return value


def items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r:.80} is no list")
    return value


def block(slot: int, raw: Json | None) -> Block | None:
    """Return a block; its height is its slot, the number that everything on Solana is counted by. None if the node has
    no such block, or does not know its time yet."""
    if raw is None or raw["blockTime"] is None:
        return None
    time = datetime.fromtimestamp(number(raw["blockTime"]), UTC)
    return Block(slot, text_of(raw["blockhash"], 32), time)


def amounts(raw: Json, expected: int) -> tuple[int, list[int]]:
    """Return the slot of a `getMultipleAccounts`, and what each account holds; those that do not exist hold nothing."""
    slot, values = number(raw["context"]["slot"]), items(raw["value"])
    if len(values) != expected:
        raise ValueError(f"{len(values)} accounts instead of {expected}")
    held = [0 if one is None else one["lamports"] for one in values]
    if set(map(type, held)) - {int} or (held and not 0 <= min(held) <= max(held) < 1 << 64):
        raise ValueError("a balance is no number")
    return slot, held


def balances(raw: Json, expected: int) -> list[Lamports]:
    """Return what each account of a `getMultipleAccounts` holds, with the slot of which that was said."""
    slot, held = amounts(raw, expected)
    return list(map(Lamports._make, zip(repeat(slot), held, strict=False)))


def listed(raw: Json) -> Listed:
    """Return one line of a `getSignaturesForAddress`."""
    final = raw["confirmationStatus"] == FINALIZED
    return Listed(text_of(raw["signature"], 64), number(raw["slot"]), raw["err"] is not None, final)


def told(raw: Json, signature: str) -> Told:
    """Return a transaction from `getTransaction` in base64.

    Its signatures are checked: a node can't show the message of another transaction under this name.
    """
    transaction = VersionedTransaction.from_bytes(b64decode(items(raw["transaction"])[0], validate=True))
    if str(transaction.signatures[0]) != signature or not all(transaction.verify_with_results()):
        raise ValueError(f"it is not the transaction {signature}")
    meta = raw["meta"]
    keys = [str(key) for key in transaction.message.account_keys] + _loaded(transaction.message, meta)
    changes = (*_coins(keys, meta), *_tokens(keys, meta))
    return Told(signature, number(raw["slot"]), meta["err"] is not None, changes)


def _loaded(message: Any, meta: Json) -> list[str]:
    """Return the accounts that a version 0 transaction names through lookup tables, in the order of the balances."""
    loaded = meta.get("loadedAddresses") or {"writable": [], "readonly": []}
    found = [items(loaded["writable"]), items(loaded["readonly"])]
    tables = message.address_table_lookups if isinstance(message, MessageV0) else []
    named = [sum(len(one.writable_indexes) for one in tables), sum(len(one.readonly_indexes) for one in tables)]
    if [len(one) for one in found] != named:
        raise ValueError(f"{[len(one) for one in found]} loaded accounts, while the transaction names {named}")
    return [text_of(one, 32) for one in found[0] + found[1]]


def _coins(keys: Sequence[str], meta: Json) -> Iterator[Change]:
    before, after = items(meta["preBalances"]), items(meta["postBalances"])
    for place, (key, old, new) in enumerate(zip(keys, before, after, strict=True)):
        yield Change(f"account:{place}", key, number(old), number(new))


def _tokens(keys: Sequence[str], meta: Json) -> Iterator[Change]:
    """Yield what token accounts received, for those who own them. Old transactions name no owner and are left out."""
    before = {one["accountIndex"]: _units(one) for one in items(meta.get("preTokenBalances") or [])}
    for one in items(meta.get("postTokenBalances") or []):
        place = number(one["accountIndex"])
        if place >= len(keys):
            raise ValueError(f"there is no account {place}")
        if one.get("owner"):
            owner, mint = text_of(one["owner"], 32), text_of(one["mint"], 32)
            yield Change(f"account:{place}", owner, before.get(place, 0), _units(one), mint)


def _units(balance: Json) -> int:
    amount = balance["uiTokenAmount"]["amount"]
    if not isinstance(amount, str) or not amount.isdecimal():
        raise ValueError(f"{amount!r:.80} is no amount")
    return number(int(amount[:40]))
