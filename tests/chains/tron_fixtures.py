"""Fixtures of the Tron peer: `tron_peer`, `other_tron_peer` (another chain), `tron_payer` (a funded wallet), `trc20`
(the contract that counts as USDT, all of it the payer's) and `tron` (our adapter on that node)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from chains.tron_peer import TronPayer, TronPeer

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
