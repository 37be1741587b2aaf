"""Our adapter on a Solana cluster of one with the real runtime: what counts as money, and what waits."""

from typing import Any

import pytest

from payments.networks.base import Batch, Cursor, Held, Transfer

pytestmark = pytest.mark.chains


class Watch:
    """A watcher of some addresses that keeps what the adapter tells it."""

    def __init__(self, node: Any, *addresses: str) -> None:
        self.node = node
        self.cursor = Cursor("")
        self.held = {address: Held(address) for address in addresses}
        self.found: dict[tuple[str, str], Transfer] = {}

    def once(self) -> Batch:
        batch: Batch = self.node.scan(self.cursor, set, list(self.held.values()))
        self.cursor = batch.cursor
        self.held |= {one.address: one for one in batch.held}
        self.found |= {(one.txid, one.position): one for one in batch.transfers}
        return batch


@pytest.fixture
def address(solana: Any) -> str:
    return str(solana.destination(0))


@pytest.fixture
def watch(solana: Any, address: str) -> Watch:
    watch = Watch(solana, address)
    watch.once()
    return watch


def test_a_payment_is_seen_and_then_told_with_its_block(
    watch: Watch, sol_payer: Any, solana_chain: Any, address: str
) -> None:
    txid = sol_payer.pay(address, 2_000_000)
    (seen,) = watch.once().transfers
    assert (seen.txid, seen.block) == (txid, None)
    solana_chain.advance()
    (transfer,) = watch.once().transfers
    assert (transfer.txid, transfer.amount) == (txid, 2_000_000)
    assert watch.once().transfers == ()
