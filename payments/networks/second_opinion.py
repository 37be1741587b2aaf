"""Addresses of Bitcoin and Litecoin derived once more, by a library that shares no code with ours.

The library checks neither the checksum of an extended key nor that it is public, so it never sees the text: it is built
from the public key that `payments.hd` decoded and checked.
"""

from functools import lru_cache

from bitcoinlib.keys import HDKey

from payments.hd import SCRIPTS, ExtendedKey, Script

WITNESS_TYPES = {Script.P2PKH: "legacy", Script.P2SH_P2WPKH: "p2sh-segwit", Script.P2WPKH: "segwit"}


def main_address(account: ExtendedKey, network: str, index: int) -> str:
    """Return the address with this index as it is written on the main chain of "bitcoin" or "litecoin"."""
    return str(
        _receiving(account.public.format(), account.chain_code, account.version, network).child_public(index).address()
    )


@lru_cache(maxsize=16)
def _receiving(public: bytes, chain_code: bytes, version: bytes, network: str) -> HDKey:
    return HDKey(
        key=public,
        chain=chain_code,
        depth=3,
        is_private=False,
        network=network,
        witness_type=WITNESS_TYPES[SCRIPTS[version]],
    ).child_public(0)
