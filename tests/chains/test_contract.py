"""What every network adapter promises, tried on the simulated chain and on real nodes alike."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from payments.networks.base import Asset, Batch, Cursor, ForeignChain, Held, Key, Transfer, Unavailable
from payments.networks.simulated import Simulated
from payments.networks.simulated_chain import SimulatedChain
from payments.networks.simulated_node import SimulatedNode

EMPTY = Cursor("")
COIN = Asset("eth", "ETH", "Ether", decimals=18, due_decimals=6, stable=False, minimum_cents=1500)


class SimulatedWorld:
    """A simulated network and what can happen on it. Amounts count in `unit`s; a plain payment is told as `paid_as`."""

    unit, paid_as = 1, ("eth", "value")

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.chain = SimulatedChain(folder / "chain")
        self.node = self.node_on("chain")

    def node_on(self, name: str) -> SimulatedNode:
        return SimulatedNode(Simulated("ethereum", "Ethereum", [COIN], 12), self.folder / name, "demo")

    def pay(self, address: str, amount: int) -> str:
        return self.chain.pay(address, amount)

    def mine(self, n: int = 1) -> None:
        self.chain.mine(n)

    def forget(self, depth: int) -> None:
        self.chain.reorg(depth, keep=False)

    def move(self, depth: int) -> None:
        self.chain.reorg(depth, reorder=True)

    def fall_behind(self, n: int) -> None:
        self.chain.lag(n)

    def go_down(self) -> None:
        self.chain.go_down()

    def come_up(self) -> None:
        self.chain.come_up()

    def other(self) -> Any:
        return self.node_on("other")


class AnvilWorld:
    """A real node and what can happen on it."""

    unit, paid_as = 1, ("eth", "value")

    def __init__(self, anvil: Any, payer: Any, node: Any, other: Any) -> None:
        self.anvil, self.payer, self.node, self._other = anvil, payer, node, other
        self.raw: list[str] = []

    def pay(self, address: str, amount: int) -> str:
        self.raw.append(self.payer.sign(address, amount))
        return str(self.payer.submit(self.raw[-1]))

    def mine(self, n: int = 1) -> None:
        self.anvil.mine(n)

    def forget(self, depth: int) -> None:
        self.anvil.reorg(depth)

    def move(self, depth: int) -> None:
        self.anvil.reorg(depth, [(raw, depth - 1) for raw in self.raw])

    def fall_behind(self, n: int) -> None:
        self.anvil.rpc("anvil_rollback", n)

    def go_down(self) -> None:
        self.anvil.stop()

    def come_up(self) -> None:
        self.anvil.start()

    def other(self) -> Any:
        return type(self.node)(self.node.family, self._other.url, self.node.xpub)


class SolanaWorld:
    """The real runtime behind a node of ours. Each payment makes a slot; mining finalizes it."""

    unit, paid_as = 1_000_000, ("sol", "account:1")  # less than a unit can't be sent to a fresh address

    def __init__(self, chain: Any, peer: Any, payer: Any, node: Any, other: Any) -> None:
        self.chain, self.peer, self.payer, self.node, self._other = chain, peer, payer, node, other

    def pay(self, address: str, amount: int) -> str:
        return str(self.payer.pay(address, amount * self.unit))

    def mine(self, n: int = 1) -> None:
        self.chain.advance(n)

    def fall_behind(self, n: int) -> None:
        self.peer.lag = n

    def go_down(self) -> None:
        self.peer.stop()

    def come_up(self) -> None:
        self.peer.start()

    def other(self) -> Any:
        return type(self.node)(self.node.family, self._other.url, str(self.node.source.key))


BLOCKS = ["simulated", pytest.param("anvil", marks=pytest.mark.chains)]
WORLDS = [*BLOCKS, pytest.param("solana", marks=pytest.mark.chains)]
# Of networks that are read block by block, with blocks that may be replaced.
by_blocks = pytest.mark.parametrize("world", BLOCKS, indirect=True)


@pytest.fixture(params=WORLDS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> SimulatedWorld | AnvilWorld | SolanaWorld:
    if request.param == "simulated":
        return SimulatedWorld(tmp_path)
    if request.param == "solana":
        parts = ("solana_chain", "solana_peer", "sol_payer", "solana", "other_solana")
        return SolanaWorld(*(request.getfixturevalue(name) for name in parts))
    names = ("anvil", "payer", "ethereum", "other_anvil")
    return AnvilWorld(*(request.getfixturevalue(name) for name in names))


@pytest.fixture
def address(world: Any) -> str:
    return str(world.node.destination(0))


class Watch:
    """A watcher that keeps what an adapter tells it, as the real one does."""

    def __init__(self, node: Any, *addresses: str) -> None:
        self.node = node
        self.ours = set(addresses)
        self.held = {address: Held(address) for address in addresses if node.family.looks_per_pass}
        self.cursor = EMPTY
        self.found: dict[tuple[str, str], Transfer] = {}

    def match(self, addresses: Iterable[str]) -> set[str]:
        return self.ours & set(addresses)

    def scan(self) -> Batch:
        """Read once and keep nothing."""
        batch: Batch = self.node.scan(self.cursor, self.match, list(self.held.values()))
        return batch

    def once(self) -> Batch:
        batch = self.scan()
        self.cursor = batch.cursor
        self.held |= {one.address: one for one in batch.held}
        for transfer in batch.transfers:
            if transfer.block:
                self.found[transfer.txid, transfer.position] = transfer
        return batch

    def all(self) -> list[Batch]:
        batches = [self.once()]
        while batches[-1].more:
            batches.append(self.once())
        return batches


@pytest.fixture
def watch(world: Any, address: str) -> Watch:
    """A watcher that has seen the head once."""
    watch = Watch(world.node, address)
    watch.all()
    return watch


def key(transfer: Transfer) -> Key:
    return Key(transfer.txid, transfer.position, transfer.address, transfer.amount, transfer.contract)


def test_the_first_pass_reads_the_head_block(world: Any, address: str) -> None:
    txid = world.pay(address, 7)
    world.mine()
    batch = Watch(world.node, address).once()
    (transfer,) = batch.transfers
    assert (transfer.txid, transfer.address, transfer.contract) == (txid, address, None)
    assert transfer.amount == 7 * world.unit
    assert (transfer.method, transfer.position, transfer.block) == (*world.paid_as, world.node.head())
    assert (batch.rewound_to, batch.more, batch.cursor.height) == (None, False, batch.head)
    assert batch.watched_until == world.node.head().time


def test_a_pass_can_be_repeated(world: Any, watch: Watch, address: str) -> None:
    world.pay(address, 7)
    world.mine(3)
    assert watch.scan() == watch.scan()


def test_a_pass_with_nothing_new_changes_nothing(world: Any, watch: Watch) -> None:
    cursor = watch.cursor
    batch = watch.once()
    assert (batch.cursor, batch.transfers, batch.rewound_to, batch.more) == (cursor, (), None, False)
    assert batch.watched_until == world.node.head().time


@by_blocks
def test_no_block_is_skipped_when_passes_are_short(world: Any, watch: Watch, address: str) -> None:
    world.node.max_blocks = 2
    sent = []
    for amount in range(1, 8):
        sent.append(world.pay(address, amount))
        world.mine()
    batches = watch.all()
    assert [batch.more for batch in batches] == [True, True, True, False]
    assert [transfer.txid for transfer in watch.found.values()] == sent
    assert [batch.watched_until for batch in batches] == sorted(batch.watched_until for batch in batches)


def test_only_what_is_ours_is_told(world: Any, watch: Watch, address: str) -> None:
    world.pay(world.node.destination(1), 7)
    world.mine()
    watch.all()
    assert watch.found == {}


@by_blocks
def test_it_asks_once_for_all_addresses_of_a_block(world: Any, watch: Watch) -> None:
    others = {str(world.node.destination(index)) for index in (1, 2, 3)}
    for other in others:
        world.pay(other, 7)
    world.mine(3)
    asked: list[set[str]] = []

    def match(addresses: Iterable[str]) -> set[str]:
        asked.append(set(addresses))
        return set()

    world.node.scan(watch.cursor, match)
    assert [addresses for addresses in asked if addresses] == [others]


def test_two_payments_to_one_address_are_two_transfers(world: Any, watch: Watch, address: str) -> None:
    sent = {world.pay(address, 7), world.pay(address, 7)}
    world.mine()
    watch.all()
    assert {txid for txid, _ in watch.found} == sent


@by_blocks
def test_a_reorg_moves_a_transfer_without_changing_its_name(world: Any, watch: Watch, address: str) -> None:
    world.pay(address, 7)
    world.mine(3)
    watch.all()
    before = dict(watch.found)
    world.move(3)
    (batch,) = watch.all()
    assert batch.rewound_to == batch.head - 3
    assert watch.found.keys() == before.keys()
    (name,) = before
    assert watch.found[name].block != before[name].block
    assert replace(watch.found[name], block=None) == replace(before[name], block=None)
    (confirmation,) = world.node.confirm([key(watch.found[name])])
    assert confirmation.block == watch.found[name].block


@by_blocks
def test_a_reorg_that_loses_a_transfer_is_seen(world: Any, watch: Watch, address: str) -> None:
    world.pay(address, 7)
    world.mine(2)
    watch.all()
    (transfer,) = watch.found.values()
    world.forget(2)
    (batch,) = watch.all()
    assert (batch.rewound_to, batch.transfers) == (batch.head - 2, ())
    assert world.node.confirm([key(transfer)]) == [None]


@by_blocks
def test_a_reorg_right_after_the_first_pass_is_no_alarm(world: Any, address: str) -> None:
    world.mine(5)
    watch = Watch(world.node, address)
    watch.all()
    world.forget(3)
    (batch,) = watch.all()
    assert batch.rewound_to == batch.head - 3


@by_blocks
def test_a_reorg_during_a_pass_spoils_the_pass(world: Any, watch: Watch, address: str) -> None:
    sent = [world.pay(address, 7), world.pay(address, 8)]
    world.mine(3)
    reorgs = [3]

    def match(addresses: Iterable[str]) -> set[str]:
        if reorgs:
            world.move(reorgs.pop())
        return watch.match(addresses)

    with pytest.raises(Unavailable):
        world.node.scan(watch.cursor, match)
    watch.all()
    assert {txid for txid, _ in watch.found} == set(sent)
    assert None not in world.node.confirm([key(transfer) for transfer in watch.found.values()])


@by_blocks
def test_confirmations_are_counted_up_to_finality(world: Any, watch: Watch, address: str) -> None:
    world.pay(address, 7)
    world.mine()
    watch.all()
    keys = [key(transfer) for transfer in watch.found.values()]
    seen = []
    for _ in range(4):
        (confirmation,) = world.node.confirm(keys)
        seen.append((confirmation.confirmations, confirmation.finalized))
        world.mine()
    assert [number for number, _ in seen] == [1, 2, 3, 4]
    assert seen[0] == (1, False)
    assert seen[3] == (4, True)


def test_confirm_answers_in_order_and_reads_everything_again(world: Any, watch: Watch, address: str) -> None:
    world.pay(address, 7)
    world.pay(address, 8)
    world.mine()
    watch.all()
    first, second = [key(transfer) for transfer in watch.found.values()]
    unknown = replace(first, txid="0x" + "ab" * 32)
    wrong = [replace(first, amount=8), replace(first, address=world.node.destination(1)), replace(first, contract="c")]
    answers = world.node.confirm([second, unknown, first, *wrong, replace(first, position="log:0")])
    assert [answer is not None for answer in answers] == [True, False, True, False, False, False, False]
    assert world.node.confirm([]) == []


def test_another_genesis_stops_everything(world: Any, watch: Watch) -> None:
    with pytest.raises(ForeignChain, match="another chain"):
        world.other().scan(watch.cursor, watch.match)


def test_a_chain_that_knows_none_of_our_blocks_stops_everything(world: Any, watch: Watch) -> None:
    world.mine(4)
    made_up = Cursor(watch.cursor.genesis, tuple((height, f"{height:064x}") for height in range(1, 4)))
    with pytest.raises(ForeignChain, match="none of the last 3 blocks"):
        world.node.scan(made_up, watch.match)


def test_a_node_that_is_behind_is_waited_for(world: Any, watch: Watch, address: str) -> None:
    world.mine(3)
    watch.all()
    world.fall_behind(2)
    with pytest.raises(Unavailable, match="behind"):
        watch.once()


def test_an_unreachable_node_loses_nothing(world: Any, watch: Watch, address: str) -> None:
    before = world.pay(address, 7)
    world.mine()
    watch.all()
    (transfer,) = watch.found.values()
    world.go_down()
    for ask in (watch.once, world.node.head, world.node.genesis, lambda: world.node.confirm([key(transfer)])):
        with pytest.raises(Unavailable, match="does not answer"):
            ask()
    world.come_up()
    later = world.pay(address, 8)
    world.mine(3)
    watch.all()
    assert [txid for txid, _ in watch.found] == [before, later]


def test_addresses_are_stable_distinct_and_valid(world: Any) -> None:
    addresses = [world.node.destination(index) for index in range(50)]
    assert addresses == [world.node.destination(index) for index in range(50)]
    assert len(set(addresses)) == 50
    assert [world.node.family.check_address(address) for address in addresses] == addresses
    assert world.node.key_fingerprint()
    world.node.check()
