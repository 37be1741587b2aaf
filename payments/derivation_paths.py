"""Where a wallet finds an address: the derivation path from its seed."""

from .registry import is_simulated

PATHS = {
    "bitcoin": "m/{purpose}'/0'/0'/0/{index}",
    "litecoin": "m/{purpose}'/2'/0'/0/{index}",
    "ethereum": "m/44'/60'/0'/0/{index}",
    "tron": "m/44'/195'/0'/0/{index}",
    "solana": "seed gridlot:{index}",
}
# The first letters of each kind of address, on the main and the test networks, by the purpose of its branch.
PURPOSES = {("bc1", "tb1", "bcrt1", "ltc1", "tltc1", "rltc1"): 84, ("3", "2", "M", "Q"): 49}
PLAIN = 44


def derivation_path(network: str, address: str, index: int) -> str:
    """Return the path of a receiving address; on Bitcoin and Litecoin its own form says which branch it is of."""
    if is_simulated():
        return "simulated"
    purpose = next((number for starts, number in PURPOSES.items() if address.startswith(starts)), PLAIN)
    return PATHS.get(network, "{index}").format(purpose=purpose, index=index)
