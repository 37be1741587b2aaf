"""Addresses from the operator's extended public key (BIP32): nothing here can spend. Only workers load it."""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Self

import base58
from coincurve import PublicKey
from Crypto.Hash import RIPEMD160, keccak

from .networks import script

ACCOUNT_DEPTH = 3  # m/44'/60'/0'
HARDENED = 1 << 31


class Script(Enum):
    """What kind of output a key's addresses stand for. The key's version bytes say it, so that a wallet that shows
    the key finds the money."""

    P2PKH = "p2pkh"
    P2SH_P2WPKH = "p2sh-p2wpkh"
    P2WPKH = "p2wpkh"


XPUB, YPUB, ZPUB = (bytes.fromhex(version) for version in ("0488b21e", "049d7cb2", "04b24746"))
TPUB, UPUB, VPUB = (bytes.fromhex(version) for version in ("043587cf", "044a5262", "045f1cf6"))
LTUB, MTUB, TTUB = (bytes.fromhex(version) for version in ("019da462", "01b26ef6", "0436f6e1"))
NAMES = {
    XPUB: "an xpub",
    YPUB: "a ypub (BIP49)",
    ZPUB: "a zpub (BIP84)",
    TPUB: "a tpub (a test network)",
    UPUB: "a upub (a test network)",
    VPUB: "a vpub (a test network)",
    LTUB: "an Ltub (Litecoin)",
    MTUB: "an Mtub (Litecoin)",
    TTUB: "a ttub (a Litecoin test network)",
}
SCRIPTS = {
    **dict.fromkeys((XPUB, TPUB, LTUB, TTUB), Script.P2PKH),
    **dict.fromkeys((YPUB, UPUB, MTUB), Script.P2SH_P2WPKH),
    **dict.fromkeys((ZPUB, VPUB), Script.P2WPKH),
}
# Which keys are taken: those that wallets of the network show. Some of Litecoin show a ypub or a zpub, but a plain
# xpub of Bitcoin would give addresses that no Litecoin wallet looks at.
ETHEREUM = (XPUB,)
BITCOIN = (XPUB, YPUB, ZPUB)
LITECOIN = (LTUB, MTUB, YPUB, ZPUB)
TEST = (TPUB, UPUB, VPUB)
LITECOIN_TEST = (*TEST, TTUB)
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
    version: bytes = XPUB

    @classmethod
    def parse(cls, text: str, versions: Sequence[bytes] = ETHEREUM) -> Self:
        """Read an extended key of one of these versions. ValueError says what is wrong and never
        repeats the key: it may be a private one."""
        try:
            raw = base58.b58decode(text.strip())
        except ValueError as error:
            raise ValueError("The extended key has letters that no such key has.") from error
        version, payload = raw[:4], raw[:-4]
        if version in PRIVATE or raw[45:46] == b"\0":
            raise ValueError("This is a private extended key. It must never come near a server: use the public one.")
        if len(raw) != 82 or _checksum(payload) != raw[-4:]:
            raise ValueError("The checksum of the extended key is wrong: a letter is missing or mistyped.")
        if version not in versions:
            kind = NAMES.get(version, f"a key with the unknown version {version.hex()}")
            raise ValueError(f"This is {kind}. What is needed is {' or '.join(NAMES[one] for one in versions)}.")
        try:
            return cls(PublicKey(payload[45:]), payload[13:45], payload[4], version)
        except ValueError as error:
            raise ValueError("The extended key holds no valid public key.") from error

    def child(self, index: int) -> Self:
        """Derive the child with this index. ValueError for hardened ones: they need the private key."""
        if not 0 <= index < HARDENED:
            raise ValueError(f"There is no public child with the index {index}.")
        digest = hmac.new(self.chain_code, self.public.format() + index.to_bytes(4, "big"), hashlib.sha512).digest()
        return type(self)(self.public.add(digest[:32]), digest[32:], self.depth + 1, self.version)


@lru_cache(maxsize=16)
def account(text: str, versions: Sequence[bytes] = ETHEREUM) -> ExtendedKey:
    """Return an account's key, such as that of m/84'/0'/0'. ValueError if it is none."""
    key = ExtendedKey.parse(text, versions)
    if key.depth != ACCOUNT_DEPTH:
        raise ValueError(
            f"The extended key must be an account's (depth {ACCOUNT_DEPTH}, like m/44'/60'/0'), "
            f"this one has depth {key.depth}."
        )
    return key


@lru_cache(maxsize=16)
def receiving(xpub: str, versions: Sequence[bytes] = ETHEREUM) -> ExtendedKey:
    """Return the chain of receiving addresses (m/44'/60'/0'/0) of an account. ValueError if it is no account's key."""
    return account(xpub, versions).child(0)


def destination(xpub: str, index: int) -> str:
    """Return the Ethereum address m/44'/60'/0'/0/index in lower case."""
    public = receiving(xpub).child(index).public.format(compressed=False)[1:]
    return "0x" + keccak.new(digest_bits=256, data=public).hexdigest()[-40:]


def output_script(key: ExtendedKey, index: int) -> str:
    """Return the output script (hex) of the child with this index of a receiving chain; the key's version says which
    kind. The network's pure half makes the address of it."""
    digest = hash160(key.child(index).public.format())
    match SCRIPTS[key.version]:
        case Script.P2PKH:
            return script.key_hash(digest)
        case Script.P2SH_P2WPKH:
            return script.script_hash(hash160(bytes.fromhex(script.witness(0, digest))))
        case Script.P2WPKH:
            return script.witness(0, digest)


def hash160(data: bytes) -> bytes:
    """Return RIPEMD160 of SHA256, the short hash of keys and scripts. Not hashlib's: OpenSSL 3 may lack it."""
    return RIPEMD160.new(hashlib.sha256(data).digest()).digest()


def fingerprint(xpub: str, versions: Sequence[bytes] = ETHEREUM) -> str:
    """Return a short name of the account's key, safe to show and to store. The version counts where several are taken:
    it changes the addresses."""
    key = receiving(xpub, versions)
    kind = key.version if len(versions) > 1 else b""
    return hashlib.sha256(kind + key.public.format() + key.chain_code).hexdigest()[:16]


def _checksum(payload: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4]
