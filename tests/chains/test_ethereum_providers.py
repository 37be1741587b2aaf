"""Providers as they are: several nodes behind one address, refused logs, limits; and an outage of many blocks."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from payments.networks.base import Batch, Cursor, Transfer, Unavailable

pytestmark = [pytest.mark.chains, pytest.mark.cases]


class Watch:
    """Reads through a provider from the head on and keeps the cursor."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.ours = {str(node.destination(0))}
        self.cursor = Cursor("")
        self.once()

    def match(self, addresses: Iterable[str]) -> set[str]:
        return self.ours & set(addresses)

    def once(self) -> Batch:
        batch: Batch = self.node.scan(self.cursor, self.match)
        self.cursor = batch.cursor
        return batch

    def all(self) -> list[Transfer]:
        batches = [self.once()]
        while batches[-1].more:
            batches.append(self.once())
        return [transfer for batch in batches for transfer in batch.transfers]


@pytest.fixture
def watch(between: Any, ethereum: Any) -> Watch:
    return Watch(type(ethereum)(ethereum.family, between.url, ethereum.xpub))


@pytest.fixture
def address(ethereum: Any) -> str:
    return str(ethereum.destination(0))


@pytest.mark.parametrize("case", ["case-50"])
def test_a_lagging_node_behind_the_same_address_hides_no_payment(
    case: str, start_anvil: Callable[..., Any], anvil: Any, payer: Any, token: str, between: Any, watch: Watch,
    address: str,
) -> None:  # fmt: skip
    """Its logs are asked for by the block's hash: it can't answer "none" for a block that it does not know."""
    lagging = start_anvil(copy_of=anvil)
    assert lagging.rpc("eth_getBlockByNumber", "latest", False) == anvil.rpc("eth_getBlockByNumber", "latest", False)
    txid = payer.pay_token(token, address, 5)
    anvil.mine(20)
    before = watch.cursor
    between.let_answer(lagging, "eth_getLogs")
    with pytest.raises(Unavailable, match="refused eth_getLogs"):
        watch.once()
    between.instead.clear()
    between.let_answer(lagging, "eth_getBlockByNumber")
    assert (watch.once().transfers, watch.cursor) == ((), before)  # nothing new there, nothing forgotten
    between.instead.clear()
    assert [transfer.txid for transfer in watch.all()] == [txid]


@pytest.mark.parametrize("case", ["case-50"])
def test_a_block_number_that_goes_back_is_waited_for(
    case: str, start_anvil: Callable[..., Any], anvil: Any, between: Any, watch: Watch
) -> None:
    lagging = start_anvil(copy_of=anvil)
    anvil.mine(3)
    watch.all()
    before = watch.cursor
    between.let_answer(lagging, "eth_getBlockByNumber", "eth_getLogs")
    with pytest.raises(Unavailable, match="is behind: it is at block"):
        watch.once()
    assert watch.cursor == before


@pytest.mark.parametrize("case", ["case-52"])
@pytest.mark.parametrize("refusal", ["HTTP 403", "no such method"])
def test_a_provider_that_refuses_logs_is_named(
    case: str, refusal: str, anvil: Any, payer: Any, between: Any, watch: Watch, address: str
) -> None:
    """Also when only tokens could be missed: half of the payments would be worse than none."""
    payer.pay(address, 5)
    anvil.mine()
    before = watch.cursor
    if refusal == "HTTP 403":
        between.forbid("eth_getLogs")
    else:
        between.refuse("eth_getLogs")
    with pytest.raises(Unavailable, match=r"refuses logs \(eth_getLogs\).*use another node"):
        watch.once()
    assert watch.cursor == before


@pytest.mark.parametrize("case", ["case-52"])
@pytest.mark.parametrize(("blocks", "limit"), [(1000, 10_000), (400, 7), (200, 1)])
def test_many_blocks_are_caught_up_with_in_bounded_calls(
    case: str, blocks: int, limit: int, anvil: Any, payer: Any, token: str, between: Any, watch: Watch, address: str
) -> None:
    """Ten blocks in a request, logs of many blocks at once, of fewer where the provider refuses long ranges."""
    sent = []
    for amount in (1, 2):
        anvil.rpc("anvil_mine", hex(blocks // 2 - 1))
        sent.append(payer.pay_token(token, address, amount))
        anvil.mine()
    between.longest_range, between.posts, before = limit, 0, watch.node.rpc.calls
    assert [transfer.txid for transfer in watch.all()] == sent
    assert max(between.ranges) <= 500
    calls, posts = watch.node.rpc.calls - before, between.posts
    passes = blocks // 100
    log_requests = passes * (5 + 200 // limit)
    assert calls <= blocks + 5 * passes + 2 * log_requests + 10
    assert posts <= blocks // 10 + 5 * passes + log_requests + 10
