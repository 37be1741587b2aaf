"""Fixtures of the Tron peer: `tron_peer`, `other_tron_peer` (another chain), `tron_payer` (a funded wallet), `trc20`
(the contract that counts as USDT, all of it the payer's), `tron` (our adapter on that node) and `tron_shop` (an
installation that watches it)."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import time_machine
from chains.tron_peer import TronPayer, TronPeer
from chains.tron_shop import TronShop, real
from pytest_django.fixtures import Settings

from payments import registry
from payments.networks.tron import Tron
from payments.networks.tron_node import UNSOLID, TronNode

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "derivation_vectors.json").read_text())
TRON_XPUB: str = VECTORS["TRON BIP44 abandon"]["xpub"]


@pytest.fixture
def tron_peer() -> Iterator[TronPeer]:
    """A node with some solid blocks."""
    peer = TronPeer()
    peer.mine(20)
    yield peer
    peer.stop()
    UNSOLID.clear()


@pytest.fixture
def other_tron_peer() -> Iterator[TronPeer]:
    """Another genesis."""
    peer = TronPeer("other")
    peer.mine(20)
    yield peer
    peer.stop()


@pytest.fixture
def tron_payer(tron_peer: TronPeer) -> TronPayer:
    return TronPayer(tron_peer)


@pytest.fixture
def trc20(tron_peer: TronPeer, tron_payer: TronPayer) -> str:
    return tron_peer.make_token(tron_payer.address)


@pytest.fixture
def tron(tron_peer: TronPeer, trc20: str) -> TronNode:
    return TronNode(Tron(usdt_contract=trc20), tron_peer.url, TRON_XPUB)


@pytest.fixture
def tron_clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(datetime.now(UTC), tick=False) as clock:
        yield clock


@pytest.fixture
def tron_shop(
    tron_clock: time_machine.Traveller,
    settings: Settings,
    db: None,
    tron_peer: TronPeer,
    tron_payer: TronPayer,
    trc20: str,
) -> Iterator[TronShop]:
    """Return an installation that watches the peer and nothing else."""
    real(settings, tron_peer.url, TRON_XPUB, trc20)
    registry.families.cache_clear()
    yield TronShop(tron_peer, tron_payer, trc20, tron_clock)
    registry.families.cache_clear()
