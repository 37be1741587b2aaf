"""Addresses from the operator's extended public key (BIP32): nothing here can spend. Only workers load it."""

import hashlib
import hmac
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import base58
from coincurve import PublicKey
from Crypto.Hash import keccak

ACCOUNT_DEPTH = 3  # m/44'/60'/0'
HARDENED = 1 << 31
PUBLIC = bytes.fromhex("0488b21e")  # xpub
OTHER_PUBLIC = {
    bytes.fromhex(version): name
    for version, name in {
        "049d7cb2": "a ypub (Bitcoin, BIP49)",
        "04b24746": "a zpub (Bitcoin or Litecoin, BIP84)",
        "043587cf": "a tpub (a test network)",
        "044a5262": "a upub (a test network)",
        "045f1cf6": "a vpub (a test network)",
        "019da462": "an Ltub (Litecoin)",
        "01b26ef6": "an Mtub (Litecoin)",
    }.items()
}
PRIVATE = {
    bytes.fromhex("0488ade4"),  # xprv
    bytes.fromhex("049d7878"),  # yprv
    bytes.fromhex("04b2430c"),  # zprv
    bytes.fromhex("04358394"),  # tprv
    bytes.fromhex("044a4e28"),  # uprv
    bytes.fromhex("045f18bc"),  # vprv
    bytes.fromhex("019d9cfe"),  # Ltpv
    bytes.fromhex("01b26792"),  # Mtpv
    bytes.fromhex("0436ef7d"),  # ttpv
}


@dataclass(frozen=True, slots=True)
class ExtendedKey:
    """An extended public key: from it come the public keys of its children, never a private one."""

    public: PublicKey
    chain_code: bytes
    depth: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an xpub. ValueError says what is wrong and never repeats the key: it may be a private one."""
        try:
            raw = base58.b58decode(text.strip())
        except ValueError as error:
            raise ValueError("The extended key has letters that no such key has.") from error
        version, payload = raw[:4], raw[:-4]
        if version in PRIVATE or raw[45:46] == b"\0":
            raise ValueError("This is a private extended key. It must never come near a server: use the xpub.")
        if len(raw) != 82 or _checksum(payload) != raw[-4:]:
            raise ValueError("The checksum of the extended key is wrong: a letter is missing or mistyped.")
        if version != PUBLIC:
            kind = OTHER_PUBLIC.get(version, f"a key with the unknown version {version.hex()}")
            raise ValueError(f"This is {kind}. An xpub is needed.")
        try:
            return cls(PublicKey(payload[45:]), payload[13:45], payload[4])
        except ValueError as error:
            raise ValueError("The extended key holds no valid public key.") from error

    def child(self, index: int) -> Self:
        """Derive the child with this index. ValueError for hardened ones: they need the private key."""
        if not 0 <= index < HARDENED:
            raise ValueError(f"There is no public child with the index {index}.")
        digest = hmac.new(self.chain_code, self.public.format() + index.to_bytes(4, "big"), hashlib.sha512).digest()
        return type(self)(self.public.add(digest[:32]), digest[32:], self.depth + 1)


@lru_cache(maxsize=16)
def receiving(xpub: str) -> ExtendedKey:
    """Return the chain of receiving addresses (m/44'/60'/0'/0) of an account. ValueError if it is no account's key."""
    account = ExtendedKey.parse(xpub)
    if account.depth != ACCOUNT_DEPTH:
        raise ValueError(
            f"The extended key must be an account's (depth {ACCOUNT_DEPTH}, like m/44'/60'/0'), "
            f"this one has depth {account.depth}."
        )
    return account.child(0)


def destination(xpub: str, index: int) -> str:
    """Return the Ethereum address m/44'/60'/0'/0/index in lower case."""
    public = receiving(xpub).child(index).public.format(compressed=False)[1:]
    return "0x" + keccak.new(digest_bits=256, data=public).hexdigest()[-40:]


def fingerprint(xpub: str) -> str:
    """Return a short name of the account's key, safe to show and to store."""
    key = receiving(xpub)
    return hashlib.sha256(key.public.format() + key.chain_code).hexdigest()[:16]


def _checksum(payload: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4]
