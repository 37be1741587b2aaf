"""What every network adapter promises, tried on the simulated chain, on real nodes and on peers alike."""

import json
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from payments.networks.base import Asset, Batch, Cursor, ForeignChain, Held, Key, Transfer, Unavailable
from payments.networks.simulated import Simulated
from payments.networks.simulated_chain import SimulatedChain
from payments.networks.simulated_node import SimulatedNode
from payments.networks.utxo import Utxo, bitcoin
from payments.networks.utxo_node import UtxoNode

EMPTY = Cursor("")
VECTORS = json.loads((Path(__file__).parents[1] / "data" / "derivation_vectors.json").read_text())
MAIN_KEYS = {
    network: VECTORS[f"{coin} BIP84 abandon"]["xpub"] for network, coin in (("bitcoin", "BTC"), ("litecoin", "LTC"))
}
COIN = Asset("eth", "ETH", "Ether", decimals=18, due_decimals=6, stable=False, minimum_cents=1500)


class World:
    """A network and what can happen on it."""

    node: Any
    unit = 1  # the smallest payment that the network carries
    method = "eth"
    position = "value"  # of a payment that is alone in its transaction
    has_pool = True  # payments are told before they are in a block
    final_at_once = False
    reads_ahead = False  # many blocks in one answer, so a pass sees one chain, the old one


class SimulatedWorld(World):
    """A simulated network."""

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


class AnvilWorld(World):
    """A real Ethereum node."""

    has_pool = False

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


class TronWorld(World):
    """A Tron node whose every block is solid at once, and that takes solid blocks back if it must: what is read of
    solid blocks follows the same rules as everywhere. What stands above them is in test_tron_node.py."""

    method = "trx"
    has_pool = False
    final_at_once = True
    reads_ahead = True

    def __init__(self, peer: Any, payer: Any, node: Any, other: Any) -> None:
        self.peer, self.payer, self.node, self._other = peer, payer, node, other
        peer.chain.solid_lag = 0

    def pay(self, address: str, amount: int) -> str:
        return str(self.payer.pay(address, amount))

    def mine(self, n: int = 1) -> None:
        self.peer.mine(n)

    def forget(self, depth: int) -> None:
        self.peer.fork(depth)

    def move(self, depth: int) -> None:
        self.peer.fork(depth, keep=True, blocks=depth - 1)
        self.peer.mine()

    def fall_behind(self, n: int) -> None:
        self.peer.lagging = n

    def go_down(self) -> None:
        self.peer.stop()

    def come_up(self) -> None:
        self.peer.start()

    def other(self) -> Any:
        return type(self.node)(self.node.family, self._other.url, self.node.xpub)


class SolanaWorld(World):
    """The real runtime behind a node of ours. Each payment makes a slot; mining finalizes it."""

    unit = 1_000_000  # less can't be sent to a fresh address
    method = "sol"
    position = "account:1"
    has_pool = False

    def __init__(self, chain: Any, peer: Any, payer: Any, node: Any, other: Any) -> None:
        self.chain, self.peer, self.payer, self.node, self._other = chain, peer, payer, node, other

    def pay(self, address: str, amount: int) -> str:
        return str(self.payer.pay(address, amount))

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


class UtxoWorld(World):
    """A real Bitcoin or Litecoin node."""

    unit = 10_000
    position = "out:0"

    def __init__(self, peer: Any, start: Callable[..., Any]) -> None:
        self.peer, self.start = peer, start
        self.node = peer.adapter()
        self.method = peer.family.assets[0].method

    def pay(self, address: str, amount: int) -> str:
        return str(self.peer.pay(address, amount))

    def mine(self, n: int = 1) -> None:
        self.peer.mine(n)

    def forget(self, depth: int) -> None:
        """Replace the last blocks by empty ones, and let the node lose its pool as well."""
        self.peer.undo(depth)
        for _ in range(depth):
            self.peer.mine_only()
        self.peer.empty_pool()

    def move(self, depth: int) -> None:
        self.peer.undo(depth)
        self.peer.mine(depth)

    def fall_behind(self, n: int) -> None:
        self.peer.undo(n)

    def go_down(self) -> None:
        self.peer.stop()

    def come_up(self) -> None:
        self.peer.start()

    def other(self) -> Any:
        """Return an adapter that was configured for the main chain, on a node that is on it."""
        daemon = self.start(self.peer.network, chain="main")
        return UtxoNode(Utxo(self.peer.family.coin), daemon.url, MAIN_KEYS[self.peer.network])


class EsploraWorld(UtxoWorld):
    """A real Bitcoin node behind an Esplora server, which is all that our adapter sees."""

    def __init__(self, server: Any, start: Callable[..., Any], start_server: Callable[[Any], Any]) -> None:
        super().__init__(server.peer, start)
        self.server, self.start_server = server, start_server
        self.node = server.adapter(self.node.xpub)

    def go_down(self) -> None:
        self.server.stop()

    def come_up(self) -> None:
        self.server.start()

    def other(self) -> Any:
        server = self.start_server(self.start(self.peer.network, chain="main"))
        return UtxoNode(bitcoin(), f"esplora+{server.url}", MAIN_KEYS["bitcoin"])


WORLDS: dict[str, tuple[type[World], tuple[str, ...]]] = {
    "anvil": (AnvilWorld, ("anvil", "payer", "ethereum", "other_anvil")),
    "bitcoind": (UtxoWorld, ("bitcoind", "start_utxo")),
    "litecoind": (UtxoWorld, ("litecoind", "start_utxo")),
    "esplora": (EsploraWorld, ("esplora", "start_utxo", "start_esplora")),
    "tron": (TronWorld, ("tron_peer", "tron_payer", "tron", "other_tron_peer")),
    "solana": (SolanaWorld, ("solana_chain", "solana_peer", "sol_payer", "solana", "other_solana")),
}
NAMES = ["simulated", *(pytest.param(name, marks=pytest.mark.chains) for name in WORLDS)]
# Of networks that are read block by block, with blocks that may be replaced: all but the last.
by_blocks = pytest.mark.parametrize("world", NAMES[:-1], indirect=True)
# Of networks whose pool is read.
POOLS = ["simulated", *(pytest.param(n, marks=pytest.mark.chains) for n, (made, _) in WORLDS.items() if made.has_pool)]
with_pool = pytest.mark.parametrize("world", POOLS, indirect=True)


@pytest.fixture(params=NAMES)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    if request.param == "simulated":
        return SimulatedWorld(tmp_path)
    made, fixtures = WORLDS[request.param]
    make: Callable[..., World] = made
    return make(*(request.getfixturevalue(name) for name in fixtures))


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
    return Key(transfer.txid, transfer.position, transfer.address, transfer.amount, transfer.contract, transfer.spends)


def test_the_first_pass_reads_the_head_block(world: Any, address: str) -> None:
    txid = world.pay(address, 7 * world.unit)
    world.mine()
    batch = Watch(world.node, address).once()
    (transfer,) = batch.transfers
    paid = (txid, world.position, address, 7 * world.unit)
    assert (transfer.txid, transfer.position, transfer.address, transfer.amount) == paid
    assert (transfer.method, transfer.contract, transfer.block) == (world.method, None, world.node.head())
    assert (batch.rewound_to, batch.more, batch.cursor.height) == (None, False, batch.head)
    assert batch.watched_until == world.node.head().time


def test_a_pass_can_be_repeated(world: Any, watch: Watch, address: str) -> None:
    world.pay(address, 7 * world.unit)
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
        sent.append(world.pay(address, amount * world.unit))
        world.mine()
    batches = watch.all()
    assert [batch.more for batch in batches] == [True, True, True, False]
    assert [transfer.txid for transfer in watch.found.values()] == sent
    assert [batch.watched_until for batch in batches] == sorted(batch.watched_until for batch in batches)


def test_only_what_is_ours_is_told(world: Any, watch: Watch, address: str) -> None:
    world.pay(world.node.destination(1), 7 * world.unit)
    world.mine()
    watch.all()
    assert watch.found == {}


@by_blocks
def test_it_asks_once_for_all_addresses_of_a_block(world: Any, watch: Watch) -> None:
    others = {str(world.node.destination(index)) for index in (1, 2, 3)}
    for other in others:
        world.pay(other, 7 * world.unit)
    world.mine(3)
    asked: list[set[str]] = []

    def match(addresses: Iterable[str]) -> set[str]:
        asked.append(set(addresses))
        return set()

    world.node.scan(watch.cursor, match)
    assert [addresses & others for addresses in asked if addresses & others] == [others]


def test_two_payments_to_one_address_are_two_transfers(world: Any, watch: Watch, address: str) -> None:
    sent = {world.pay(address, 7 * world.unit), world.pay(address, 7 * world.unit)}
    world.mine()
    watch.all()
    assert {txid for txid, _ in watch.found} == sent


@by_blocks
def test_a_reorg_moves_a_transfer_without_changing_its_name(world: Any, watch: Watch, address: str) -> None:
    world.pay(address, 7 * world.unit)
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
    world.pay(address, 7 * world.unit)
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
    sent = [world.pay(address, 7 * world.unit), world.pay(address, 8 * world.unit)]
    world.mine(3)
    reorgs = [3]

    def match(addresses: Iterable[str]) -> set[str]:
        if reorgs:
            world.move(reorgs.pop())
        return watch.match(addresses)

    with nullcontext() if world.reads_ahead else pytest.raises(Unavailable):
        world.node.scan(watch.cursor, match)
    watch.all()
    assert {txid for txid, _ in watch.found} == set(sent)
    assert None not in world.node.confirm([key(transfer) for transfer in watch.found.values()])


@by_blocks
def test_confirmations_are_counted_up_to_finality(world: Any, watch: Watch, address: str) -> None:
    world.pay(address, 7 * world.unit)
    world.mine()
    watch.all()
    keys = [key(transfer) for transfer in watch.found.values()]
    seen = []
    for _ in range(4):
        (confirmation,) = world.node.confirm(keys)
        seen.append((confirmation.confirmations, confirmation.finalized))
        world.mine()
    assert [number for number, _ in seen] == [1, 2, 3, 4]
    assert seen[0] == (1, world.final_at_once)
    assert not seen[2][1] or seen[3][1]


def test_confirm_answers_in_order_and_reads_everything_again(world: Any, watch: Watch, address: str) -> None:
    world.pay(address, 7 * world.unit)
    world.pay(address, 8 * world.unit)
    world.mine()
    watch.all()
    first, second = [key(transfer) for transfer in watch.found.values()]
    unknown = replace(first, txid=first.txid[:2] + "abababab" + first.txid[10:], spends=())
    wrong = [replace(first, amount=9), replace(first, address=world.node.destination(1)), replace(first, contract="c")]
    answers = world.node.confirm([second, unknown, first, *wrong, replace(first, position="log:0")])
    assert [answer is not None for answer in answers] == [True, False, True, False, False, False, False]
    assert world.node.confirm([]) == []


@with_pool
def test_a_payment_in_the_pool_is_told_until_it_is_in_a_block(world: Any, watch: Watch, address: str) -> None:
    """Again and again, since what a pass told may not have been kept."""
    txid = world.pay(address, 7 * world.unit)
    for _ in range(2):
        (transfer,) = watch.once().transfers
        assert (transfer.txid, transfer.position, transfer.block) == (txid, world.position, None)
        (confirmation,) = world.node.confirm([key(transfer)])
        assert (confirmation.block, confirmation.confirmations, confirmation.finalized) == (None, 0, False)
    world.mine()
    (mined,) = watch.once().transfers
    assert replace(mined, block=None) == transfer
    assert mined.block == world.node.head()
    assert watch.once().transfers == ()


def test_a_transaction_is_looked_up(world: Any, watch: Watch, address: str) -> None:
    txid = world.pay(address, 7 * world.unit)
    world.mine()
    (transfer,) = watch.once().transfers
    finding = world.node.look_up(txid)
    assert (finding.txid, finding.block, finding.failed, finding.low_fee) == (txid, world.node.head(), False, False)
    assert transfer in finding.payments
    assert world.node.look_up(txid[:-8] + "abababab") is None


def test_used_addresses_are_known(world: Any, watch: Watch, address: str) -> None:
    world.pay(address, 7 * world.unit)
    world.mine()
    assert world.node.used([address, world.node.destination(1)]) == {address}
    assert world.node.used([]) == set()


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
    before = world.pay(address, 7 * world.unit)
    world.mine()
    watch.all()
    (transfer,) = watch.found.values()
    world.go_down()
    for ask in (watch.once, world.node.head, world.node.genesis, lambda: world.node.confirm([key(transfer)])):
        with pytest.raises(Unavailable, match="does not answer"):
            ask()
    world.come_up()
    later = world.pay(address, 8 * world.unit)
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
