"""The networks of this installation: a literal table, built from settings.

The web process asks for families and methods; only workers ask for nodes, which are imported by dotted path so that
no chain library is loaded anywhere else.
"""

from collections.abc import Iterator
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

REAL_NODES = {"ethereum": ("payments.networks.ethereum_node.EthereumNode", "ETHEREUM_RPC_URL", "ETHEREUM_XPUB")}
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
    """Return every network's pure half by its code."""
    real = [Ethereum(chain_id=settings.ETHEREUM_CHAIN_ID, usdt_contract=settings.USDT_ETHEREUM_CONTRACT)]
    if not is_simulated():
        return {family.network: family for family in real}
    return {
        family.network: Simulated(family.network, family.name, family.assets, settings.SIMULATED_BLOCK_SECONDS)
        for family in real
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
    path, url, key = REAL_NODES[network]
    return cast(Node, import_string(path)(family, getattr(settings, url), getattr(settings, key)))
