"""The networks of this installation: a literal table, built from settings.

The web process asks for families and methods; only workers ask for nodes, which are imported by dotted path so that
no chain library is loaded anywhere else.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import cast

from django.conf import settings
from django.utils.module_loading import import_string

from .models import Installation
from .networks.base import Asset, Family, Node
from .networks.ethereum import Ethereum
from .networks.simulated import Simulated
from .networks.simulated_chain import SimulatedChain
from .networks.solana import Solana
from .networks.tron import Tron
from .networks.utxo import bitcoin, litecoin


@dataclass(frozen=True, slots=True)
class Real:
    """How a real network is made: its pure half, its node half by dotted path, and the names of the settings for both.

    `options` are arguments of the pure half: name → setting. `node_options` are arguments of the node half, for the
    first node alone: what one provider gave is no other's.
    """

    family: Callable[..., Family]
    node: str
    url: str
    key: str
    second: str
    options: Mapping[str, str]
    node_options: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_node(self) -> bool:
        return bool(getattr(settings, self.url))

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
    "tron": Real(
        Tron,
        "payments.networks.tron_node.TronNode",
        "TRON_RPC_URL",
        "TRON_XPUB",
        "TRON_SECOND_URL",
        {"usdt_contract": "USDT_TRON_CONTRACT"},
        {"api_key": "TRON_API_KEY"},
    ),
    "solana": Real(
        Solana,
        "payments.networks.solana_node.SolanaNode",
        "SOLANA_RPC_URL",
        "SOLANA_KEY",
        "SOLANA_SECOND_URL",
        {"cluster": "SOLANA_CLUSTER"},
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


def offered() -> list[str]:
    """Return the codes of this installation's networks: those that NETWORKS_OFFERED names; without it those with a node
    in the settings; without any all, since a web process need not know the nodes."""
    chosen = settings.NETWORKS_OFFERED
    if unknown := sorted(set(chosen) - REAL.keys()):
        raise ValueError(f"NETWORKS_OFFERED: {', '.join(unknown)} is none of {', '.join(REAL)}.")
    return [code for code, real in REAL.items() if (code in chosen if chosen else real.has_node)] or list(REAL)


@cache
def families() -> dict[str, Family]:
    """Return every network's pure half by its code: all of them simulated, or the real ones that are on."""
    made = [REAL[code].make_family() for code in offered()]
    if not is_simulated():
        return {family.network: family for family in made}
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


def method_name(method: Method) -> str:
    """Write a method for people: "USDT (Tron)"."""
    return f"{method.asset.symbol} ({method.family.name})"


def simulated_chain(network: str) -> SimulatedChain:
    """Return the simulated chain, a small SQLite file under DATA_DIR shared by web, worker and tests."""
    return SimulatedChain(settings.DATA_DIR / f"simulated-{network}.sqlite3")


def node(network: str) -> Node:
    """Return the half that talks to the network's node. Workers only."""
    if is_simulated():
        return simulated_node(network)
    real = REAL[network]
    options = {name: getattr(settings, setting) for name, setting in real.node_options.items()}
    return real_node(network, real.url, **options)


def has_second_provider(network: str) -> bool:
    """Tell whether there is a second provider."""
    if is_simulated():
        return simulated_chain(network).second_mood() != "none"
    return bool(getattr(settings, REAL[network].second))


def second_provider(network: str) -> Node | None:
    """Return the node of the second provider, which confirms large transfers; none if there is none. Workers only."""
    if not has_second_provider(network):
        return None
    return simulated_node(network, second=True) if is_simulated() else real_node(network, REAL[network].second)


def simulated_node(network: str, *, second: bool = False) -> Node:
    made = import_string(SIMULATED_NODE)
    identity = str(Installation.objects.get().identity)
    return cast(Node, made(families()[network], simulated_chain(network).path, identity, second=second))


def real_node(network: str, url: str, **options: str) -> Node:
    """Return a node half at the address that the setting `url` holds."""
    real = REAL[network]
    key = getattr(settings, real.key)
    made = import_string(real.node)(families()[network], getattr(settings, url), key, **options)
    return cast(Node, made)
