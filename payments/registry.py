"""The networks of this installation: a literal table, built from settings.

The web process asks for families and methods; only workers ask for nodes, which are imported by dotted path so that
no chain library is loaded anywhere else.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import cast

from django.conf import settings
from django.utils.module_loading import import_string

from .models import Installation
from .networks.base import Asset, Family, Node
from .networks.ethereum import Ethereum
from .networks.simulated import Simulated
from .networks.simulated_chain import SimulatedChain
from .networks.utxo import bitcoin, litecoin


@dataclass(frozen=True, slots=True)
class Real:
    """How a real network is made: its pure half, its node half by dotted path, and the names of the settings for both.

    `options` are arguments of the pure half: name → setting. A network is on when its node and its key are set.
    """

    family: Callable[..., Family]
    node: str
    url: str
    key: str
    second: str
    options: Mapping[str, str]

    @property
    def is_on(self) -> bool:
        return bool(getattr(settings, self.url) and getattr(settings, self.key))

    def make_family(self) -> Family:
        return self.family(**{name: getattr(settings, setting) for name, setting in self.options.items()})


# In the order in which customers see them.
REAL = {
    "bitcoin": Real(
        bitcoin,
        "payments.networks.utxo_node.UtxoNode",
        "BITCOIN_RPC_URL",
        "BITCOIN_XPUB",
        "BITCOIN_SECOND_URL",
        {"chain": "BITCOIN_CHAIN"},
    ),
    "litecoin": Real(
        litecoin,
        "payments.networks.utxo_node.UtxoNode",
        "LITECOIN_RPC_URL",
        "LITECOIN_XPUB",
        "LITECOIN_SECOND_URL",
        {"chain": "LITECOIN_CHAIN"},
    ),
    "ethereum": Real(
        Ethereum,
        "payments.networks.ethereum_node.EthereumNode",
        "ETHEREUM_RPC_URL",
        "ETHEREUM_XPUB",
        "ETHEREUM_SECOND_URL",
        {
            "chain_id": "ETHEREUM_CHAIN_ID",
            "usdt_contract": "USDT_ETHEREUM_CONTRACT",
            "usdc_contract": "USDC_ETHEREUM_CONTRACT",
        },
    ),
}
SIMULATED_NODE = "payments.networks.simulated_node.SimulatedNode"


@dataclass(frozen=True, slots=True)
class Method:
    """What a customer chooses: an asset on a network."""

    family: Family
    asset: Asset

    @property
    def code(self) -> str:
        return self.asset.method

    @property
    def volatility(self) -> str:
        """Return the key of the settings that differ for coins that move and stablecoins."""
        return "stable" if self.asset.stable else "volatile"


def is_simulated() -> bool:
    return str(settings.NETWORKS_KIND) == Installation.Kind.SIMULATED


@cache
def families() -> dict[str, Family]:
    """Return every network's pure half by its code: all of them simulated, or the real ones that are on."""
    if not is_simulated():
        return {code: real.make_family() for code, real in REAL.items() if real.is_on}
    made = [real.make_family() for real in REAL.values()]
    return {
        family.network: Simulated(family.network, family.name, family.assets, settings.SIMULATED_BLOCK_SECONDS)
        for family in made
    }


def methods() -> Iterator[Method]:
    for family in families().values():
        for asset in family.assets:
            yield Method(family, asset)


def method(code: str) -> Method:
    """Return the method with this code; KeyError if there is none."""
    for candidate in methods():
        if candidate.code == code:
            return candidate
    raise KeyError(code)


def simulated_chain(network: str) -> SimulatedChain:
    """Return the simulated chain, a small SQLite file under DATA_DIR shared by web, worker and tests."""
    return SimulatedChain(settings.DATA_DIR / f"simulated-{network}.sqlite3")


def node(network: str) -> Node:
    """Return the half that talks to the network's node. Workers only."""
    family = families()[network]
    if is_simulated():
        simulated = import_string(SIMULATED_NODE)
        return cast(Node, simulated(family, simulated_chain(network).path, str(Installation.objects.get().identity)))
    real = REAL[network]
    return cast(Node, import_string(real.node)(family, getattr(settings, real.url), getattr(settings, real.key)))


def second_node(network: str) -> Node | None:
    """Return the node of the second provider, which confirms large transfers; none if the settings name none."""
    if is_simulated():
        return None
    real = REAL[network]
    url = getattr(settings, real.second)
    if not url:
        return None
    return cast(Node, import_string(real.node)(families()[network], url, getattr(settings, real.key)))
