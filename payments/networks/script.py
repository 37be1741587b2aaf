"""Output scripts and the addresses that stand for them: five kinds, and each address has exactly one script."""

from dataclasses import dataclass

import base58

from . import bech32

TAPROOT = 1
BECH32_STARTS = ("bc1", "tb1", "bcrt1", "ltc1", "tltc1", "rltc1")  # no base58 address of any of them begins so


@dataclass(frozen=True, slots=True)
class Prefixes:
    """How addresses of one chain begin: letters of bech32, version bytes of base58. `old_script_hash` is read only."""

    bech32: str
    key_hash: int
    script_hash: int
    old_script_hash: int | None = None


class Foreign(ValueError):
    """An address that is in order and of another chain. `prefix` is its letters, or its version byte."""

    def __init__(self, prefix: str | int) -> None:
        super().__init__("This address is of another network.")
        self.prefix = prefix


def key_hash(digest: bytes) -> str:
    """Return the script (hex) that pays to the hash of a key: P2PKH."""
    return f"76a914{digest.hex()}88ac"


def script_hash(digest: bytes) -> str:
    """Return the script that pays to the hash of a script: P2SH."""
    return f"a914{digest.hex()}87"


def witness(version: int, program: bytes) -> str:
    """Return the script that pays to a witness program: P2WPKH, P2WSH, P2TR."""
    return f"{version and version + 0x50:02x}{len(program):02x}{program.hex()}"


def script_of(address: str, prefixes: Prefixes) -> str:
    """Return the script of an address, in hex. ValueError says what is wrong with it, Foreign if it is another chain's.

    Witness programs that nobody can spend from today are refused: money sent there is lost or anyone's.
    """
    if address.lower().startswith(BECH32_STARTS):
        return _witness_script(address, prefixes)
    return _base58_script(address, prefixes)


def _witness_script(address: str, prefixes: Prefixes) -> str:
    prefix, version, program = bech32.decode(address)
    if prefix != prefixes.bech32:
        raise Foreign(prefix)
    if version > TAPROOT or len(program) not in ((32,) if version else (20, 32)):
        raise ValueError("This kind of address can't be paid to yet.")
    return witness(version, program)


def _base58_script(address: str, prefixes: Prefixes) -> str:
    try:
        raw = base58.b58decode_check(address)
    except ValueError as error:
        raise ValueError("This address has a typing error, or a part of it is missing.") from error
    if len(raw) != 21:
        raise ValueError("This is no address: it is too long or too short.")
    if raw[0] == prefixes.key_hash:
        return key_hash(raw[1:])
    if raw[0] in (prefixes.script_hash, prefixes.old_script_hash):
        return script_hash(raw[1:])
    raise Foreign(raw[0])


def address_of(script: str, prefixes: Prefixes) -> str | None:
    """Return the one address of a script in hex; none for every other script, such as bare keys and multisig."""
    size = len(script)
    if (size == 44 and script.startswith("0014")) or (size == 68 and script.startswith(("0020", "5120"))):
        return bech32.encode(prefixes.bech32, script[0] == "5", bytes.fromhex(script[4:]))
    if size == 50 and script.startswith("76a914") and script.endswith("88ac"):
        return _base58(prefixes.key_hash, script[6:46])
    if size == 46 and script.startswith("a914") and script.endswith("87"):
        return _base58(prefixes.script_hash, script[4:44])
    return None


def _base58(version: int, digest: str) -> str:
    return base58.b58encode_check(bytes([version]) + bytes.fromhex(digest)).decode()
