"""A Solana cluster of one for tests: the real runtime (LiteSVM), with slots, forks and commitment levels around it.

Signatures, fees, rent, balances and the system and token programs are the network's own. A slot is made by each
transaction, and by `advance`. What lies within `finalized_lag` slots of the newest can be forked away.
"""

import hashlib
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import base58
from solders.account import Account
from solders.address_lookup_table_account import AddressLookupTable
from solders.keypair import Keypair
from solders.litesvm import LiteSVM
from solders.message import MessageV0
from solders.pubkey import Pubkey
from solders.system_program import ID as SYSTEM
from solders.transaction import VersionedTransaction
from solders.transaction_metadata import FailedTransactionMetadata

TOKEN_PROGRAM = Pubkey.from_string("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
TOKEN_ACCOUNT_SIZE = 165
BLOCKHASH_SLOTS = 150  # a transaction must name one of the last so many blocks
Json = dict[str, Any]


class Refusal(Exception):
    """The node says no, with the code of its JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class Slot:
    """A slot with its block. `undo`: what each account was before it."""

    number: int
    blockhash: str
    time: int
    signatures: list[str] = field(default_factory=list)
    undo: list[tuple[Pubkey, Account | None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Landed:
    """A transaction in a block, with what the node says about it."""

    slot: int
    transaction: VersionedTransaction
    meta: Json
    keys: tuple[str, ...]

    @property
    def version(self) -> int | str:
        return 0 if isinstance(self.transaction.message, MessageV0) else "legacy"


class SolanaChain:
    """The cluster. `name` makes its genesis."""

    def __init__(self, name: str = "chain", confirmed_lag: int = 0, finalized_lag: int = 1) -> None:
        self.lags = {"processed": 0, "confirmed": confirmed_lag, "finalized": finalized_lag}
        self.genesis = digest(f"genesis of {name}")
        self.runtime = LiteSVM().with_transaction_history(0).with_blockhash_check(False)
        self.slots: dict[int, Slot] = {}
        self.landed: dict[str, Landed] = {}
        self.named: dict[str, list[str]] = {}  # address → signatures, oldest first
        self.newest = -1
        self.first = 0  # older slots are cleaned up
        self.time_shift = 0
        self.advance()

    # --- what tests do to it --------------------------------------------------------------------------------------
    def advance(self, slots: int = 1) -> Slot:
        """Make blocks and return the newest."""
        for _ in range(slots):
            self.newest += 1
            seconds = int(time.time()) + self.time_shift
            self.slots[self.newest] = Slot(self.newest, digest(f"{time.time_ns()}/{self.newest}"), seconds)
            clock = self.runtime.get_clock()
            clock.slot, clock.unix_timestamp = self.newest, seconds
            self.runtime.set_clock(clock)
        return self.slots[self.newest]

    def skip(self, slots: int = 1) -> None:
        """Let slots go by without a block."""
        self.newest += slots

    def fork(self, slots: int) -> None:
        """Take the last slots back, with their transactions; another block follows. Finalized ones stay."""
        for number in range(self.newest, self.newest - slots, -1):
            assert number > self.top("finalized"), "finalized slots stay"
            self._take_back(self.slots.pop(number))
        self.advance()

    def prune(self, slot: int) -> None:
        """Forget everything before a slot, as nodes do after about two days."""
        self.first = slot

    def give(self, address: Pubkey, lamports: int) -> None:
        """Let an address hold this much without any transaction."""
        self.slots[self.newest].undo.append((address, self.runtime.get_account(address)))
        self.runtime.set_account(address, Account(lamports, b"", SYSTEM))

    def put(self, address: Pubkey, data: bytes, owner: Pubkey, lamports: int = 10**9) -> None:
        """Put an account of a program on the chain."""
        self.runtime.set_account(address, Account(lamports, data, owner))

    def submit(self, transaction: VersionedTransaction) -> str:
        """Run a signed transaction in a block of its own; one that fails lands too, as it does without preflight."""
        signature = str(transaction.signatures[0])
        recent = {slot.blockhash for slot in self.slots.values() if slot.number > self.newest - BLOCKHASH_SLOTS}
        if str(transaction.message.recent_blockhash) not in recent:
            raise Refusal(-32002, "Transaction simulation failed: Blockhash not found")
        if signature in self.landed:
            raise Refusal(-32002, "Transaction simulation failed: This transaction has already been processed")
        if not all(transaction.verify_with_results()):
            raise Refusal(-32003, "Transaction signature verification failure")
        self._land(signature, transaction)
        return signature

    # --- what it says ---------------------------------------------------------------------------------------------
    def top(self, level: str) -> int:
        """Return the newest slot with a block that has reached a commitment level."""
        reached = [number for number in self.slots if number <= self.newest - self.lags[level]]
        return max(reached, default=min(self.slots))

    def level_of(self, slot: int) -> str:
        return next(level for level in ("finalized", "confirmed", "processed") if slot <= self.top(level))

    def accounts_at(self, level: str) -> Callable[[Pubkey], Account | None]:
        """Return how accounts were at a commitment level: as they were before the first change above it."""
        before: dict[Pubkey, Account | None] = {}
        for number in sorted(number for number in self.slots if number > self.top(level)):
            for key, account in self.slots[number].undo:
                before.setdefault(key, account)
        return lambda key: before[key] if key in before else self.runtime.get_account(key)

    def block(self, slot: int, level: str = "finalized") -> Slot:
        if slot < self.first:
            raise Refusal(-32001, f"Block {slot} cleaned up, does not exist on node.")
        if slot > self.top(level):
            raise Refusal(-32004, f"Block not available for slot {slot}")
        if slot not in self.slots:
            raise Refusal(-32007, f"Slot {slot} was skipped, or missing due to ledger jump to recent snapshot")
        return self.slots[slot]

    def transaction(self, signature: str, level: str) -> Landed | None:
        found = self.landed.get(signature)
        return found if found and self.first <= found.slot <= self.top(level) else None

    def history(self, address: str, level: str) -> list[str]:
        """Return the signatures that name an address, newest first."""
        return [one for one in reversed(self.named.get(address, [])) if self.transaction(one, level)]

    # --- landing --------------------------------------------------------------------------------------------------
    def _land(self, signature: str, transaction: VersionedTransaction) -> None:
        loaded = self._loaded(transaction.message)
        keys = [*transaction.message.account_keys, *loaded["writable"], *loaded["readonly"]]
        undo = [(key, self.runtime.get_account(key)) for key in keys if key != SYSTEM]
        before, tokens_before = self._lamports(keys), self._tokens(keys)
        result = self.runtime.send_transaction(transaction)
        meta = {
            "err": str(result.err()) if isinstance(result, FailedTransactionMetadata) else None,
            "preBalances": before,
            "postBalances": self._lamports(keys),
            "preTokenBalances": tokens_before,
            "postTokenBalances": self._tokens(keys),
            "loadedAddresses": {kind: [str(key) for key in found] for kind, found in loaded.items()},
        }
        slot = self.advance()
        slot.signatures.append(signature)
        slot.undo += undo
        names = tuple(dict.fromkeys(str(key) for key in keys))
        self.landed[signature] = Landed(slot.number, transaction, meta, names)
        for name in names:
            self.named.setdefault(name, []).append(signature)

    def _take_back(self, slot: Slot) -> None:
        for key, account in reversed(slot.undo):
            self.runtime.set_account(key, account or Account(0, b"", SYSTEM))
        for signature in slot.signatures:
            for name in self.landed.pop(signature).keys:
                self.named[name].remove(signature)

    def _loaded(self, message: Any) -> dict[str, list[Pubkey]]:
        """Return the accounts that a version 0 message names through lookup tables."""
        found: dict[str, list[Pubkey]] = {"writable": [], "readonly": []}
        for one in message.address_table_lookups if isinstance(message, MessageV0) else []:
            account = self.runtime.get_account(one.account_key)
            addresses = AddressLookupTable.deserialize(bytes(account.data)).addresses if account else []
            found["writable"] += [addresses[place] for place in one.writable_indexes]
            found["readonly"] += [addresses[place] for place in one.readonly_indexes]
        return found

    def _lamports(self, keys: Sequence[Pubkey]) -> list[int]:
        return [self.runtime.get_balance(key) or 0 for key in keys]

    def _tokens(self, keys: Sequence[Pubkey]) -> list[Json]:
        found = []
        for place, key in enumerate(keys):
            account = self.runtime.get_account(key)
            if account and account.owner == TOKEN_PROGRAM and len(account.data) == TOKEN_ACCOUNT_SIZE:
                data = bytes(account.data)
                mint, owner, amount = Pubkey(data[:32]), Pubkey(data[32:64]), struct.unpack("<Q", data[64:72])[0]
                found.append(
                    {
                        "accountIndex": place,
                        "mint": str(mint),
                        "owner": str(owner),
                        "uiTokenAmount": {"amount": str(amount)},
                    }
                )
        return found


def digest(text: str) -> str:
    """Return base58 of 32 bytes made from a text."""
    return base58.b58encode(hashlib.sha256(text.encode()).digest()).decode()


def keypair(name: str) -> Keypair:
    """Return a keypair made from a text, the same each time."""
    return Keypair.from_seed(hashlib.sha256(name.encode()).digest())
