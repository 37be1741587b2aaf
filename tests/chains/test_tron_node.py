"""Tron's adapter against the peer: what counts as a payment, what does not, and what happens above the solid block."""

from collections.abc import Iterable
from typing import Any

import pytest

from payments.networks.base import Batch, Cursor, Key, Transfer

pytestmark = pytest.mark.chains


class Watch:
    """Reads a node from its solid block on and keeps the cursor."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.ours = {node.destination(index) for index in range(5)}
        self.cursor = Cursor("")
        self()

    def match(self, addresses: Iterable[str]) -> set[str]:
        return self.ours & set(addresses)

    def __call__(self) -> tuple[Transfer, ...]:
        return self.batch().transfers

    def batch(self) -> Batch:
        batch: Batch = self.node.scan(self.cursor, self.match)
        self.cursor = batch.cursor
        return batch


@pytest.fixture
def watch(tron: Any) -> Watch:
    return Watch(tron)


@pytest.fixture
def address(tron: Any) -> str:
    return str(tron.destination(0))


def key(transfer: Transfer) -> Key:
    return Key(transfer.txid, transfer.position, transfer.address, transfer.amount, transfer.contract)


# --- what is a payment ------------------------------------------------------------------------------------------------
def test_a_payment_in_trx(tron_peer: Any, tron_payer: Any, tron: Any, watch: Watch, address: str) -> None:
    txid = tron_payer.pay(address, 5_000_000)
    tron_peer.mine()
    (seen,) = watch()
    assert seen == Transfer(txid, "value", address, 5_000_000, "trx", None, None)
    tron_peer.mine(18)
    (transfer,) = watch()
    assert transfer.block is not None
    assert (transfer.txid, transfer.block.height) == (txid, tron_peer.chain.solid)
    (confirmation,) = tron.confirm([key(transfer)])
    assert (confirmation.block, confirmation.confirmations, confirmation.finalized) == (transfer.block, 19, True)


def test_a_payment_in_usdt(tron_peer: Any, tron_payer: Any, trc20: str, tron: Any, watch: Watch, address: str) -> None:
    txid = tron_payer.pay_token(trc20, address, 12_340_000)
    tron_peer.mine()
    (seen,) = watch()
    assert seen == Transfer(txid, "log:0", address, 12_340_000, "usdt-tron", trc20, None)
    tron_peer.mine(18)
    (transfer,) = watch()
    assert tron.confirm([key(seen)]) == tron.confirm([key(transfer)])
    assert transfer.block == tron.confirm([key(transfer)])[0].block
