"""Addresses of Solana from the operator's public key, or from a list that the operator brings. Nothing here can spend.

Solana has no extended public keys. What it has is addresses made of a public key and a text, the *seed*: money on them
moves with the signature of that key alone. Only workers load this module.
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import base58
from solders.pubkey import Pubkey
from solders.system_program import ID as SYSTEM

from .base import Unavailable

FILE = "file:"
PRIVATE = "This is a private key. It must never come near a server: use the public key."


class ListUsedUp(Unavailable):
    """The operator's list has no address with this index: the reserve can't grow until the list does."""


class Source(Protocol):
    """Where addresses come from."""

    def destination(self, index: int) -> str:
        """Return the address with this index."""

    def fingerprint(self) -> str:
        """Return a short public name of the source."""


@dataclass(frozen=True, slots=True)
class SeedSource:
    """Addresses made of the operator's public key and counted seeds."""

    key: Pubkey

    def destination(self, index: int) -> str:
        return str(self._made(index)[1])

    def seed(self, index: int) -> str:
        """Return the seed that moves the money of the address with this index."""
        return self._made(index)[0]

    def fingerprint(self) -> str:
        return _fingerprint(str(self.key))

    def _made(self, index: int) -> tuple[str, Pubkey]:
        """Count up until the address is a point of the curve, as those of wallets are: some wallets refuse others."""
        for attempt in range(256):
            seed = f"gridlot:{index}:{attempt}"
            address = Pubkey.create_with_seed(self.key, seed, SYSTEM)
            if address.is_on_curve():
                return seed, address
        raise ValueError(f"No seed gives an address with the index {index}.")  # one in 2^256 indexes


@dataclass(frozen=True, slots=True)
class ListSource:
    """Addresses from the operator's file, in its order. The first one names it: a list may only grow at its end."""

    addresses: tuple[str, ...]

    def destination(self, index: int) -> str:
        """Return the address with this index. ListUsedUp if the list ends before it."""
        if not 0 <= index < len(self.addresses):
            raise ListUsedUp(f"The list of Solana addresses ends at number {len(self.addresses)}: add more at its end.")
        return self.addresses[index]

    def fingerprint(self) -> str:
        return _fingerprint(self.addresses[0])


def source(text: str) -> Source:
    """Return what a setting names: a public key in base58, or `file:` and the path of a list.

    ValueError says what is wrong and never repeats what was given: it may be a private key.
    """
    text = text.strip()
    if text.startswith(FILE):
        path = Path(text.removeprefix(FILE))
        try:
            stat = path.stat()
            return _read_list(path, stat.st_mtime_ns, stat.st_size)
        except OSError as error:
            raise ValueError(f"The list of Solana addresses can't be read: {error.strerror}.") from error
    return SeedSource(_public_key(text))


@lru_cache(maxsize=4)
def _read_list(path: Path, changed: int, size: int) -> ListSource:
    """Read a list once for each state of its file: one address a line; empty lines and those with # are left out."""
    lines: dict[str, int] = {}
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            address = str(_public_key(text))
        except ValueError as error:
            raise ValueError(f"Line {number} of the list of Solana addresses: {error}") from error
        if address in lines:
            raise ValueError(f"Line {number} of the list of Solana addresses repeats line {lines[address]}.")
        lines[address] = number
    if not lines:
        raise ValueError("The list of Solana addresses is empty.")
    return ListSource(tuple(lines))


def _public_key(text: str) -> Pubkey:
    if text.startswith("[") or len(text.split()) >= 12:
        raise ValueError(PRIVATE)
    try:
        raw = base58.b58decode(text)
    except ValueError as error:
        raise ValueError("It has letters that no Solana address has.") from error
    if len(raw) == 64:
        raise ValueError(PRIVATE)
    if len(raw) != 32:
        raise ValueError("A Solana address is 32 bytes in base58: a letter is missing or mistyped.")
    key = Pubkey(raw)
    if not any(raw) or not key.is_on_curve():
        raise ValueError("It is no wallet's address: a program, a token account, or a typing error.")
    return key


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
