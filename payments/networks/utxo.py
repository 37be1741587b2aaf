"""Bitcoin and Litecoin, the pure half. No chain library: web processes load it too.

Inside, an address is what the chain's own software writes: lower-case bech32, or base58; on Litecoin "M…", never the
old "3…" for the same script.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from money.units import plain

from . import script
from .base import Asset, Finality
from .script import Prefixes

TRANSACTION = re.compile(r"[0-9a-f]{64}")
LIMITS_CENTS = (10_000, 100_000, 1_000_000)  # up to $100, $1,000, $10,000, and above
MAIN, TEST, REGTEST = "main", "test", "regtest"
# What a foreign address is, by its letters or its version byte.
OWNERS: Mapping[str | int, str] = {
    "bc": "a Bitcoin address",
    0: "a Bitcoin address",
    5: "a Bitcoin address",
    "ltc": "a Litecoin address",
    48: "a Litecoin address",
    50: "a Litecoin address",
    **dict.fromkeys(["tb", "bcrt", "tltc", "rltc", 111, 196, 58], "an address of a test network"),
}


@dataclass(frozen=True, slots=True)
class Chain:
    """One chain: its prefixes, its first block, a public explorer's pages of transactions. "" = none."""

    prefixes: Prefixes
    genesis: str
    explorer: str = ""


@dataclass(frozen=True, slots=True)
class Coin:
    """One coin and its chains. `depths` are the confirmations that the limits above ask for."""

    network: str
    name: str
    asset: Asset
    block_seconds: float
    depths: tuple[int, int, int, int]
    chains: Mapping[str, Chain]
    private_prefixes: tuple[str, ...] = ()  # addresses of a kind that our adapter can't see paid


def _asset(method: str, symbol: str, name: str, minimum_cents: int) -> Asset:
    return Asset(method, symbol, name, decimals=8, due_decimals=8, stable=False, minimum_cents=minimum_cents)


BITCOIN = Coin(
    "bitcoin",
    "Bitcoin",
    _asset("btc", "BTC", "Bitcoin", 1000),
    600.0,
    (1, 2, 3, 6),
    {
        MAIN: Chain(
            Prefixes("bc", 0, 5),
            "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f",
            "https://mempool.space/tx/",
        ),
        TEST: Chain(
            Prefixes("tb", 111, 196),
            "000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943",
            "https://mempool.space/testnet/tx/",
        ),
        REGTEST: Chain(Prefixes("bcrt", 111, 196), "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"),
    },
)
LITECOIN = Coin(
    "litecoin",
    "Litecoin",
    _asset("ltc", "LTC", "Litecoin", 200),
    150.0,
    (3, 6, 12, 24),
    {
        MAIN: Chain(
            Prefixes("ltc", 48, 50, 5),
            "12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2",
            "https://litecoinspace.org/tx/",
        ),
        TEST: Chain(
            Prefixes("tltc", 111, 58, 196),
            "4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0",
            "https://litecoinspace.org/testnet/tx/",
        ),
        REGTEST: Chain(
            Prefixes("rltc", 111, 58, 196), "530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9"
        ),
    },
    ("ltcmweb1", "tmweb1"),
)


class Utxo:
    """One chain of Bitcoin's kind: money lies in outputs, and each is spent once, whole."""

    def __init__(self, coin: Coin, *, chain: str = MAIN) -> None:
        if chain not in coin.chains:
            raise ValueError(f"The {coin.name} chain is one of {', '.join(coin.chains)}, not {chain!r:.40}.")
        self.coin = coin
        self.chain = chain
        self.prefixes = coin.chains[chain].prefixes
        self.first_block = coin.chains[chain].genesis
        self.network = coin.network
        self.name = coin.name
        self.assets: Sequence[Asset] = (coin.asset,)
        self.block_seconds = coin.block_seconds
        self.deepest = coin.depths[-1]
        self.pool_slack_seconds = 600
        self.looks_per_pass = 0
        self.looks_decide = False

    def finality(self, usd_cents: int) -> Finality:
        """Return the confirmations that a transfer worth this much needs: they grow with what an attack could win."""
        return Finality(self.coin.depths[sum(usd_cents > limit for limit in LIMITS_CENTS)])

    def payment_uri(self, address: str, asset: Asset, amount: int) -> str:
        """Return BIP21: the amount in whole coins, plain ASCII digits and a dot."""
        return f"{self.network}:{address}?amount={plain(amount, asset.decimals)}"

    def wallet_uri(self, address: str, asset: Asset, amount: int) -> str | None:
        """Return none: every wallet reads `payment_uri`."""
        return None

    def check_address(self, text: str) -> str:
        """Return the address as the chain's own software writes it; ValueError says what is wrong with it."""
        address = text.strip()
        if address.lower().startswith(self.coin.private_prefixes or ("\0",)):
            raise ValueError("This is a private (MWEB) address. Take one that begins with ltc1, L or M.")
        try:
            found = self.address_of(self.script_of(address))
        except script.Foreign as error:
            raise ValueError(self._foreign(error.prefix)) from error
        assert found is not None  # noqa: S101 - `script_of` gives only scripts that have an address
        return found

    def _foreign(self, prefix: str | int) -> str:
        what = OWNERS.get(prefix, "an address of another network")
        wanted = "" if self.chain == MAIN else " test"
        return f"This is {what}. A {self.name}{wanted} address is needed."

    def script_of(self, address: str) -> str:
        """Return the output script of an address, in hex. ValueError if it is none of this chain."""
        return script.script_of(address, self.prefixes)

    def address_of(self, output_script: str) -> str | None:
        """Return the address of an output script in hex, none if it has none: the inverse of `script_of`."""
        return script.address_of(output_script, self.prefixes)

    def check_transaction(self, text: str) -> str:
        """Return the transaction id in lower case; ValueError if it is none."""
        txid = text.strip().lower()
        if not TRANSACTION.fullmatch(txid):
            raise ValueError(f"A {self.name} transaction is 64 letters and digits from 0-9 and a-f.")
        return txid

    def display(self, address: str) -> str:
        """Return the address as it is: people read the same."""
        return address

    def transaction_url(self, txid: str) -> str | None:
        """Return the page of a public explorer; none on a local test chain."""
        explorer = self.coin.chains[self.chain].explorer
        return explorer + txid if explorer else None


def bitcoin(chain: str = MAIN) -> Utxo:
    """Return Bitcoin on this chain."""
    return Utxo(BITCOIN, chain=chain)


def litecoin(chain: str = MAIN) -> Utxo:
    """Return Litecoin on this chain."""
    return Utxo(LITECOIN, chain=chain)
