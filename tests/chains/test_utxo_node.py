"""What is special about Bitcoin and Litecoin, on real nodes: replacements, reorgs, rewards, fees, peg-outs, costs."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from chains.utxo_peers import VPUB, with_version

from payments import hd
from payments.networks.base import Batch, Confirmation, Cursor, Key, Replaced, Transfer, Unavailable
from payments.networks.utxo import BITCOIN, LITECOIN, Coin, Utxo
from payments.networks.utxo_node import UtxoNode

pytestmark = pytest.mark.chains
AMOUNT = 100_000


class Watched:
    """A node with an address of ours, watched from now on."""

    def __init__(self, peer: Any, node: UtxoNode | None = None) -> None:
        self.peer = peer
        self.node: UtxoNode = node or peer.adapter()
        self.address = self.node.destination(0)
        self.ours = {self.address}
        self.cursor = Cursor("")
        self.scan()

    def match(self, addresses: Iterable[str]) -> set[str]:
        return self.ours & set(addresses)

    def scan(self) -> Batch:
        batch = self.node.scan(self.cursor, self.match)
        self.cursor = batch.cursor
        return batch

    def only(self) -> Transfer:
        """Scan and return the one transfer that is told."""
        (transfer,) = self.scan().transfers
        return transfer

    def confirm(self, transfer: Transfer) -> Any:
        (answer,) = self.node.confirm([key(transfer)])
        return answer


def key(transfer: Transfer) -> Key:
    return Key(transfer.txid, transfer.position, transfer.address, transfer.amount, None, transfer.spends)


@pytest.fixture(params=["bitcoind", "litecoind", "esplora"])
def watched(request: pytest.FixtureRequest) -> Watched:
    peer = request.getfixturevalue(request.param)
    return Watched(peer.peer, peer.adapter(VPUB)) if request.param == "esplora" else Watched(peer)


def pay_and_keep_the_coin(watched: Watched, fee: int = 20_000) -> tuple[Transfer, Any]:
    """Pay into the pool; return the transfer and the coin that it spends."""
    coin = watched.peer.coin(10 * AMOUNT)
    watched.peer.submit(watched.peer.sign({watched.address: AMOUNT}, [coin], fee))
    return watched.only(), coin


# --- replacements -----------------------------------------------------------------------------------------------------
@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-68"])
def test_the_sender_takes_the_money_elsewhere_while_it_waits(watched: Watched, case: str) -> None:
    transfer, coin = pay_and_keep_the_coin(watched)
    by = watched.peer.submit(watched.peer.sign({watched.peer.own_address(): AMOUNT}, [coin], 60_000))
    assert watched.scan().transfers == ()
    named = "" if watched.peer.network == "litecoin" else by  # the older node knows only that somebody spent it
    assert watched.confirm(transfer) == Replaced(named)
    watched.peer.mine()
    assert watched.scan().transfers == ()
    assert watched.confirm(transfer) == Replaced(by)
    watched.peer.mine(3)
    assert watched.confirm(transfer) == Replaced(by)


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-69"])
def test_a_fee_that_is_raised_three_times(watched: Watched, case: str) -> None:
    """Four transactions that pay us, one after the other: each spends the same coin, so who reads it can link them."""
    transfer, coin = pay_and_keep_the_coin(watched)
    replaced = []
    for fee in (60_000, 180_000, 540_000):
        replaced.append(transfer)
        watched.peer.submit(watched.peer.sign({watched.address: AMOUNT}, [coin], fee))
        transfer = watched.only()
    watched.peer.mine()
    mined = watched.only()
    assert (mined.txid, mined.amount) == (transfer.txid, AMOUNT)
    assert {one.spends for one in (*replaced, mined)} == {(f"{coin['txid']}:{coin['vout']}",)}
    assert len({one.txid for one in (*replaced, mined)}) == 4
    answers = watched.node.confirm([key(one) for one in (*replaced, mined)])
    assert answers[:3] == [Replaced(mined.txid)] * 3
    assert answers[3] == Confirmation(mined.block, 1, finalized=False)


def test_a_payment_that_was_only_dropped_may_come_again(watched: Watched) -> None:
    """Nobody spent the coin otherwise: it is not replaced, and the same transaction may be sent again."""
    coin = watched.peer.coin(10 * AMOUNT)
    raw = watched.peer.sign({watched.address: AMOUNT}, [coin])
    watched.peer.submit(raw)
    transfer = watched.only()
    watched.peer.empty_pool()
    assert watched.scan().transfers == ()
    assert watched.confirm(transfer) is None
    watched.peer.submit(raw)
    assert watched.only() == transfer


def test_a_payment_whose_parent_was_dropped_is_not_called_replaced(watched: Watched) -> None:
    """The coin it spends is unknown now: that proves nothing."""
    parent_address = watched.peer.own_address()
    parent = watched.peer.sign({parent_address: 10 * AMOUNT})
    decoded = watched.peer.rpc("decoderawtransaction", parent)
    watched.peer.submit(parent)
    coin = {"txid": decoded["txid"], "vout": 0, "amount": 10 * AMOUNT / 10**8}
    watched.peer.submit(watched.peer.sign({watched.address: AMOUNT}, [coin]))
    transfer = watched.only()
    watched.peer.empty_pool()
    assert watched.confirm(transfer) is None


# --- blocks -----------------------------------------------------------------------------------------------------------
@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-72"])
def test_a_block_is_replaced_by_one_in_which_the_money_went_elsewhere(watched: Watched, case: str) -> None:
    coin = watched.peer.coin(10 * AMOUNT)
    watched.peer.submit(watched.peer.sign({watched.address: AMOUNT}, [coin]))
    elsewhere = watched.peer.sign({watched.peer.own_address(): AMOUNT}, [coin], 60_000)
    watched.peer.mine()
    transfer, height = watched.only(), watched.peer.height()
    assert watched.confirm(transfer).confirmations == 1
    watched.peer.undo(1)
    watched.peer.mine_only(elsewhere)
    watched.peer.mine()
    batch = watched.scan()
    assert (batch.rewound_to, batch.transfers, batch.head) == (height - 1, (), height + 1)
    by = watched.peer.rpc("decoderawtransaction", elsewhere)["txid"]
    assert watched.confirm(transfer) == Replaced(by)


def test_a_payment_that_was_spent_again_in_a_block_is_still_found(watched: Watched) -> None:
    """The operator may move the money before it is final here. No index of the node is needed to see that it came."""
    own = watched.peer.own_address()
    watched.ours.add(own)
    txid = watched.peer.pay(own, 10 * AMOUNT)
    watched.peer.mine()
    transfer = next(one for one in watched.scan().transfers if one.txid == txid and one.position == "out:0")
    coin = {"txid": txid, "vout": 0, "amount": 10 * AMOUNT / 10**8}
    watched.peer.submit(watched.peer.sign({watched.peer.own_address(): AMOUNT}, [coin]))
    assert watched.confirm(transfer).confirmations == 1
    watched.peer.mine(2)
    assert watched.confirm(transfer) == Confirmation(transfer.block, 3, finalized=False)
    for _ in range(3):
        watched.peer.mine(8)
    answer = watched.confirm(transfer)
    assert (answer.confirmations, answer.finalized) == (27, True)


@pytest.mark.parametrize("watched", ["bitcoind", "litecoind"], indirect=True)
def test_an_old_payment_that_was_moved_on_is_found_in_the_block_that_it_was_in(watched: Watched) -> None:
    """Else the comparison of chain and books would call every payment gone that its operator has swept."""
    own = watched.peer.own_address()
    watched.ours.add(own)
    txid = watched.peer.pay(own, 10 * AMOUNT)
    watched.peer.mine()
    transfer = next(one for one in watched.scan().transfers if one.txid == txid and one.position == "out:0")
    coin = {"txid": txid, "vout": 0, "amount": 10 * AMOUNT / 10**8}
    watched.peer.submit(watched.peer.sign({watched.peer.own_address(): AMOUNT}, [coin]))
    watched.peer.mine(120)
    assert not isinstance(watched.confirm(transfer), Confirmation)
    assert transfer.block
    (answer,) = watched.node.confirm([replace(key(transfer), block=transfer.block.hash)])
    assert answer == Confirmation(transfer.block, 121, finalized=True)
    watched.peer.undo(121)
    watched.peer.mine_only()
    (answer,) = watched.node.confirm([replace(key(transfer), block=transfer.block.hash)])
    assert not isinstance(answer, Confirmation) or answer.block != transfer.block


def test_a_miners_reward_counts_only_when_it_can_be_spent(watched: Watched) -> None:
    watched.peer.rpc("generatetoaddress", 1, watched.address)
    reward = watched.only()
    assert reward.spends == ()
    watched.peer.mine(98)
    answer = watched.confirm(reward)
    assert (answer.block, answer.confirmations, answer.finalized) == (reward.block, 0, False)
    watched.peer.mine(1)
    answer = watched.confirm(reward)
    assert (answer.confirmations, answer.finalized) == (100, True)


def test_two_outputs_of_one_transaction_are_two_transfers(watched: Watched) -> None:
    other = watched.node.destination(1)
    watched.ours.add(other)
    txid = watched.peer.submit(watched.peer.sign({watched.address: AMOUNT, other: 2 * AMOUNT}))
    found = {(one.txid, one.position, one.address, one.amount) for one in watched.scan().transfers}
    assert found == {(txid, "out:0", watched.address, AMOUNT), (txid, "out:1", other, 2 * AMOUNT)}


@pytest.mark.parametrize("addresses", [1, 1_000, 100_000], ids=lambda n: f"calls-per-block-{n}")
def test_calls_per_block_do_not_grow_with_the_addresses(bitcoind: Any, addresses: int) -> None:
    watched = Watched(bitcoind)
    watched.ours |= {f"bcrt1q{index:038d}" for index in range(addresses - 1)}
    calls = []
    for blocks in (1, 11):
        for _ in range(blocks):
            bitcoind.pay(watched.address, AMOUNT)
            bitcoind.mine()
        before = watched.node.source.calls
        assert len(watched.scan().transfers) == blocks
        calls.append(watched.node.source.calls - before)
    assert (calls[1] - calls[0]) / 10 == 2


# --- asking about one transaction -------------------------------------------------------------------------------------
def test_a_low_fee_is_seen(bitcoind: Any) -> None:
    """Knots and Core take no less into the pool than its floor: only an estimate of theirs can be above an offer."""
    watched = Watched(bitcoind)
    for _ in range(12):  # the node learns from what blocks took: about 1,400 sat for each byte
        for _ in range(3):
            bitcoind.pay(watched.address, AMOUNT)
        bitcoind.mine()
    cheap = bitcoind.submit(bitcoind.sign({watched.address: AMOUNT}, fee=200))
    dear = bitcoind.submit(bitcoind.sign({watched.address: AMOUNT}, fee=100_000))
    assert [watched.node.look_up(txid).low_fee for txid in (cheap, dear)] == [True, False]  # type: ignore[union-attr]
    bitcoind.mine()
    finding = watched.node.look_up(cheap)
    assert finding is not None and not finding.low_fee and finding.block == watched.node.head()


# --- litecoin's private part ------------------------------------------------------------------------------------------
@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-74"])
def test_money_that_leaves_the_private_part_is_counted_once(start_utxo: Callable[..., Any], case: str) -> None:
    """In the pool it has no ordinary output, and its id changes when it is mined: an output of the block's last
    transaction pays then, beside one that holds what stays inside."""
    peer = start_utxo("litecoin", "-walletbroadcast=1")
    peer.mine(431 - peer.height())
    peer.rpc("createwallet", "private")
    inside = peer.rpc("getnewaddress", "", "mweb", wallet="private")
    watched = Watched(peer)
    peer.wallet("sendtoaddress", inside, 5)
    peer.mine()
    assert watched.scan().transfers == ()
    in_pool = peer.rpc("sendtoaddress", watched.address, 3, wallet="private")
    assert "vkern" in peer.rpc("getrawtransaction", in_pool, True)
    assert watched.scan().transfers == ()
    peer.mine()
    transfer = watched.only()
    assert (transfer.amount, transfer.position) == (3 * 10**8, "out:1")
    assert transfer.txid != in_pool
    assert watched.scan().transfers == ()
    assert watched.confirm(transfer).confirmations == 1
    peer.mine(5)
    assert watched.confirm(transfer).confirmations == 6
    assert watched.node.used([watched.address]) == {watched.address}


# --- chains -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("chain", ["main", "test"])
@pytest.mark.parametrize("coin", [BITCOIN, LITECOIN], ids=lambda coin: str(coin.network))
def test_the_pinned_first_blocks_are_those_of_the_nodes(start_utxo: Callable[..., Any], coin: Coin, chain: str) -> None:
    """A node that has only that block is not read, but it is known to be on the right chain."""
    daemon, family = start_utxo(coin.network, chain=chain), Utxo(coin, chain=chain)
    node = UtxoNode(family, daemon.url, with_version(VPUB, hd.ZPUB if chain == "main" else hd.VPUB))
    assert node.genesis() == family.first_block
    with pytest.raises(Unavailable, match="still downloading the chain: block 0 of 0"):
        node.scan(Cursor(""), set)


# --- addresses --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["wpkh({}/0/*)", "sh(wpkh({}/0/*))", "pkh({}/0/*)"])
def test_the_nodes_derive_the_same_addresses(bitcoind: Any, litecoind: Any, kind: str) -> None:
    version = {"w": hd.VPUB, "s": hd.UPUB, "p": hd.TPUB}[kind[0]]
    our_key = with_version(VPUB, version)
    for peer in (bitcoind, litecoind):
        descriptor = peer.rpc("getdescriptorinfo", kind.format(with_version(VPUB, hd.TPUB)))["descriptor"]
        theirs = peer.rpc("deriveaddresses", descriptor, [0, 49])
        node = peer.adapter(our_key)
        assert [node.destination(index) for index in range(50)] == theirs
        scripts = [peer.rpc("validateaddress", address)["scriptPubKey"] for address in theirs[:5]]
        assert [node.family.script_of(address) for address in theirs[:5]] == scripts
