"""The simulated network's adapter: the pool, tokens, and that nobody can take demo money for real money."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from payments.networks.base import Asset, Confirmation, Cursor, Finality, Key, Transfer
from payments.networks.ethereum import Ethereum
from payments.networks.simulated import Simulated
from payments.networks.simulated_chain import Payment
from payments.networks.simulated_node import SimulatedNode

COIN = Asset("eth", "ETH", "Ether", decimals=18, due_decimals=6, stable=False, minimum_cents=1500)
TOKEN = Asset(
    "usdt", "USDT", "Tether USD", 6, due_decimals=2, stable=True, minimum_cents=2000, contract="usdt-contract"
)


@pytest.fixture
def node(tmp_path: Path) -> SimulatedNode:
    return SimulatedNode(Simulated("ethereum", "Ethereum", [COIN, TOKEN], 12), tmp_path / "chain", "demo")


def everything(addresses: Iterable[str]) -> set[str]:
    return set(addresses)


def transfers(node: SimulatedNode) -> list[Transfer]:
    return list(node.scan(Cursor(""), everything).transfers)


def test_a_payment_in_the_pool_is_told_without_a_block(node: SimulatedNode) -> None:
    txid = node.chain.pay("alice", 5)
    assert transfers(node) == [Transfer(txid, "value", "alice", 5, "eth", None, None, (f"{txid[:16]}:0",))]
    assert node.confirm([Key(txid, "value", "alice", 5)]) == [Confirmation(None, 0, finalized=False)]
    node.chain.drop(txid)
    assert transfers(node) == []
    assert node.confirm([Key(txid, "value", "alice", 5)]) == [None]


def test_a_lagging_node_still_has_in_its_pool_what_others_see_in_a_block(node: SimulatedNode) -> None:
    node.chain.pay("alice", 5)
    node.chain.mine()
    node.chain.lag(1)
    assert [transfer.block for transfer in transfers(node)] == [None]


@pytest.mark.parametrize(
    ("payment", "method", "contract"),
    [
        (Payment("alice", 5), "eth", None),
        (Payment("alice", 5, method="usdt"), "usdt", "usdt-contract"),
        (Payment("alice", 5, contract="usdt-contract"), "usdt", "usdt-contract"),
        (Payment("alice", 5, contract="lookalike"), None, "lookalike"),
        (Payment("alice", 5, method="trx"), None, "trx"),
    ],
)
def test_assets_are_told_apart(node: SimulatedNode, payment: Payment, method: str | None, contract: str | None) -> None:
    node.chain.pay_many([payment])
    node.chain.mine()
    ((transfer),) = transfers(node)
    assert (transfer.method, transfer.contract, transfer.position) == (method, contract, "log:0")
    key = Key(transfer.txid, transfer.position, transfer.address, transfer.amount, transfer.contract)
    assert node.confirm([key]) != [None]


def test_final_after_the_confirmations_of_the_network(node: SimulatedNode) -> None:
    txid = node.chain.pay("alice", 5)
    node.chain.mine(2)
    key = Key(txid, "value", "alice", 5)
    (young,) = node.confirm([key])
    node.chain.mine()
    (old,) = node.confirm([key])
    assert isinstance(young, Confirmation) and isinstance(old, Confirmation)
    assert (young.finalized, old.finalized) == (False, True)
    assert node.family.finality(10**9) == Finality(3)


def test_no_real_wallet_takes_a_demo_address(node: SimulatedNode) -> None:
    real = Ethereum(chain_id=1, usdt_contract="0x" + "00" * 20)
    for index in range(200):
        address = node.destination(index)
        assert len(address) == 42
        with pytest.raises(ValueError, match="typing error"):
            real.check_address(address)


def test_no_real_wallet_acts_on_a_demo_payment_text(node: SimulatedNode) -> None:
    texts = [node.family.payment_uri(node.destination(0), asset, 5) for asset in (COIN, TOKEN)]
    assert [text.split(":")[0] for text in texts] == ["simulated", "simulated"]


@pytest.mark.parametrize("network", ["ethereum", "bitcoin", "litecoin", "tron", "solana", "other"])
def test_addresses_of_every_network(tmp_path: Path, network: str) -> None:
    family = Simulated(network, network.title(), [COIN], 12)
    node = SimulatedNode(family, tmp_path / "chain", "demo")
    address = node.destination(3)
    assert family.check_address(f" {address}\n") == address == family.display(address)
    assert SimulatedNode(family, tmp_path / "chain", "another").destination(3) != address


@pytest.mark.parametrize("text", ["", "  ", "two words", "semi;colon", "ünïcode"])
def test_what_is_no_address(node: SimulatedNode, text: str) -> None:
    with pytest.raises(ValueError, match="letters and digits"):
        node.family.check_address(text)
