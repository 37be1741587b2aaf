"""Tron's adapter against the peer: what counts as a payment, what does not, and what happens above the solid block."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import base58
import pytest
import time_machine

from payments.networks.base import BadAnswer, Batch, Cursor, ForeignChain, Key, Transfer, Unavailable
from payments.networks.tron import Tron
from payments.networks.tron_answers import TRANSFER
from payments.networks.tron_node import TronNode

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


def digits(address: str) -> str:
    return base58.b58decode_check(address).hex()


def word(address: str) -> str:
    return digits(address)[2:].rjust(64, "0")


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


def test_the_fee_of_the_token_is_not_ours(
    tron_peer: Any, tron_payer: Any, trc20: str, watch: Watch, address: str
) -> None:
    tron_peer.token(trc20).fee_basis_points = 10
    tron_peer.token(trc20).owner = "41" + "ab" * 20
    tron_payer.pay_token(trc20, address, 10_000_000)
    tron_peer.solidify()
    (transfer,) = watch()
    assert (transfer.position, transfer.amount) == ("log:1", 9_990_000)


def test_an_address_with_its_41_in_front_is_read_from_the_event(
    tron_peer: Any, tron_payer: Any, trc20: str, watch: Watch, address: str
) -> None:
    tron_payer.pay_token(trc20, address, 5, front="41")
    tron_peer.solidify()
    assert [(transfer.address, transfer.amount) for transfer in watch()] == [(address, 5)]


def test_several_events_of_one_transaction_are_several_transfers(
    tron_peer: Any, tron_payer: Any, trc20: str, tron: Any, watch: Watch
) -> None:
    to = [digits(tron.destination(0)), tron_payer.digits, digits(tron.destination(1)), digits(tron.destination(0))]
    token = digits(trc20)

    def split(run: Any) -> None:
        for amount, payee in enumerate(to, 1):
            run.move_token(token, tron_payer.digits, payee, amount)

    txid = tron_payer.call(tron_peer.deploy(split))
    tron_peer.solidify()
    transfers = watch()
    assert [(t.txid, t.position, t.address, t.amount) for t in transfers] == [
        (txid, "log:0", tron.destination(0), 1),
        (txid, "log:2", tron.destination(1), 3),
        (txid, "log:3", tron.destination(0), 4),
    ]
    assert None not in tron.confirm([key(transfer) for transfer in transfers])


def test_trx_from_inside_a_contract(tron_peer: Any, tron_payer: Any, tron: Any, watch: Watch, address: str) -> None:
    """Exchanges and multi-send contracts pay so: the transaction's receiver is the contract."""

    def send(run: Any) -> None:
        run.send(tron_payer.digits, 1_000_000)
        run.send(digits(address), 2_000_000)

    txid = tron_payer.call(tron_peer.deploy(send), sun=3_000_000)
    tron_peer.solidify()
    (transfer,) = watch()
    assert (transfer.txid, transfer.position, transfer.amount, transfer.method) == (txid, "call:1", 2_000_000, "trx")
    assert None not in tron.confirm([key(transfer)])


def test_everything_in_one_block(
    tron_peer: Any, tron_payer: Any, trc20: str, tron: Any, watch: Watch, address: str
) -> None:
    tron_payer.pay_token(trc20, address, 5)
    tron_payer.pay(address, 10**6)
    tron_payer.pay_token(trc20, address, 6)
    tron_payer.pay_token(trc20, tron_payer.address, 7)
    tron_peer.solidify()
    assert [(transfer.method, transfer.amount) for transfer in watch()] == [
        ("usdt-tron", 5),
        ("trx", 10**6),
        ("usdt-tron", 6),
    ]


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-42"])
def test_a_token_of_the_same_name_is_told_as_an_unknown_one(
    case: str, tron_peer: Any, tron_payer: Any, tron: Any, watch: Watch, address: str
) -> None:
    lookalike = tron_peer.make_token(tron_payer.address)
    txid = tron_payer.pay_token(lookalike, address, 100_000_000)
    tron_peer.solidify()
    (transfer,) = watch()
    assert (transfer.txid, transfer.method, transfer.contract) == (txid, None, lookalike)
    assert None not in tron.confirm([key(transfer)])


# --- what is not ------------------------------------------------------------------------------------------------------
@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-43"])
def test_events_of_nothing_are_not_told(
    case: str, tron_peer: Any, tron_payer: Any, trc20: str, watch: Watch, address: str
) -> None:
    """Anybody may call `transferFrom` over 0 between any two addresses: it fills histories with near-copies."""
    poison = "23b872dd" + word(tron_payer.address) + word(address) + "0" * 64
    tron_payer.call(trc20, poison)
    tron_payer.pay_token(trc20, address, 0)
    tron_peer.mine()
    assert [info["receipt"]["result"] for info in tron_peer.chain.blocks[-1].infos] == ["SUCCESS", "SUCCESS"]
    assert [len(info["log"]) for info in tron_peer.chain.blocks[-1].infos] == [1, 1]
    assert watch() == ()
    tron_peer.mine(18)
    assert watch() == ()


@pytest.mark.parametrize("why", ["REVERT", "OUT_OF_ENERGY"])
def test_a_failed_token_transfer(
    tron_peer: Any, tron_payer: Any, trc20: str, tron: Any, watch: Watch, address: str, why: str
) -> None:
    amount, fee_limit = (10**20, 100_000_000) if why == "REVERT" else (5, 1000)
    txid = tron_payer.pay_token(trc20, address, amount, fee_limit=fee_limit)
    tron_peer.solidify()
    found = tron_peer.chain.find(txid)
    assert tron_peer.chain.blocks[found[0]].infos[0]["receipt"]["result"] == why
    assert watch() == ()
    assert tron.confirm([Key(txid, "log:0", address, amount, trc20)]) == [None]


@pytest.mark.parametrize(
    ("note", "more"),
    [
        ("call", {"rejected": True}),
        ("delegateResourceOfEnergy", {}),
        ("unDelegateResourceOfBandwidth", {}),
        ("freezeForEnergy", {}),
        ("call", {"callValueInfo": [{"callValue": 7, "tokenId": "1002000"}]}),
        ("call", {"callValueInfo": [{}]}),
    ],
)
def test_an_internal_transaction_that_moves_no_trx(
    tron_peer: Any, tron_payer: Any, watch: Watch, address: str, note: str, more: dict[str, Any]
) -> None:
    """Lending energy to an address looks as a payment of the staked amount does, and pays nothing."""
    tron_payer.call(tron_peer.deploy(lambda run: run.send(digits(address), 10**9, note, **more)))
    tron_peer.solidify()
    assert watch() == ()


def test_internal_transactions_of_a_failed_call(tron_peer: Any, tron_payer: Any, watch: Watch, address: str) -> None:
    tron_payer.call(tron_peer.deploy(lambda run: run.send(digits(address), 10**6)), sun=10**6, fee_limit=1000)
    tron_peer.solidify()
    assert watch() == ()


def test_events_of_other_shapes(tron_peer: Any, tron_payer: Any, watch: Watch, address: str) -> None:
    """A collectible has four topics, an old token none beside the name; neither says an amount."""
    ours, theirs = word(address), word(tron_payer.address)

    def emit(run: Any) -> None:
        run.log(run.contract, [TRANSFER, theirs, ours, "0" * 63 + "1"], "")
        run.log(run.contract, [TRANSFER], theirs + ours + "0" * 63 + "5")
        run.log(run.contract, [], "00")
        run.log(run.contract, ["8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925", theirs, ours], ours)

    tron_payer.call(tron_peer.deploy(emit))
    tron_peer.solidify()
    assert watch() == ()


# --- above the solid block --------------------------------------------------------------------------------------------
@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-58"])
@pytest.mark.parametrize("method", ["trx", "usdt-tron"])
def test_seen_at_the_head_and_gone_when_it_is_solid(
    case: str, method: str, tron_peer: Any, tron_payer: Any, trc20: str, tron: Any, watch: Watch, address: str
) -> None:
    tron_payer.pay(address, 5) if method == "trx" else tron_payer.pay_token(trc20, address, 5)
    tron_peer.mine(3)
    (seen,) = watch()
    assert (seen.method, seen.block) == (method, None)
    (confirmation,) = tron.confirm([key(seen)])
    assert (confirmation.block, confirmation.confirmations, confirmation.finalized) == (None, 3, False)
    tron_peer.fork(3)
    assert watch() == ()
    (confirmation,) = tron.confirm([key(seen)])  # it may stand in a block that this node does not have yet
    assert (confirmation.block, confirmation.confirmations) == (None, 0)
    tron_peer.mine(18)
    assert watch() == ()
    assert tron.confirm([key(seen)]) == [None]


def test_a_transfer_that_a_fork_moves_keeps_its_name(
    tron_peer: Any, tron_payer: Any, trc20: str, watch: Watch, address: str
) -> None:
    tron_payer.pay_token(trc20, address, 5)
    tron_peer.mine(3)
    (before,) = watch()
    tron_peer.fork(3, keep=True)
    assert watch() == ()
    tron_peer.mine()
    assert watch() == (before,)
    tron_peer.mine(18)
    (after,) = watch()
    assert (after.txid, after.position, after.amount) == (before.txid, before.position, before.amount)


def test_a_fork_under_new_blocks_is_noticed(tron_peer: Any, tron_payer: Any, watch: Watch, address: str) -> None:
    """The head is higher than before, and does not stand on the blocks that were read."""
    tron_payer.pay(address, 5)
    tron_peer.mine(3)
    assert len(watch()) == 1
    tron_peer.fork(3)
    tron_peer.mine()
    assert watch() == ()
    tron_payer.pay(address, 6)
    tron_peer.mine()
    assert [transfer.amount for transfer in watch()] == [6]


def test_a_head_without_its_results_is_looked_at_again(
    tron_peer: Any, tron_payer: Any, trc20: str, watch: Watch, address: str
) -> None:
    """Behind a provider's address are several nodes; one that is a block behind has no results of the newest."""
    tron_payer.pay_token(trc20, address, 5)
    tron_peer.mine()
    tron_peer.spoil("wallet/gettransactioninfobyblocknum", lambda _: [])
    assert watch() == ()
    tron_peer.spoiled.clear()
    assert [transfer.amount for transfer in watch()] == [5]


# --- single transactions, addresses -----------------------------------------------------------------------------------
def test_what_is_known_of_a_transaction(tron_peer: Any, tron_payer: Any, trc20: str, tron: Any, address: str) -> None:
    coin, token = tron_payer.pay(address, 5), tron_payer.pay_token(trc20, tron_payer.address, 6)
    failed = tron_payer.pay_token(trc20, address, 10**20)
    waiting = tron.look_up(coin)
    assert (waiting.block, waiting.failed, [one.amount for one in waiting.payments]) == (None, False, [5])
    tron_peer.mine()
    assert [(found.block, found.failed) for found in map(tron.look_up, (coin, token, failed))] == [
        (None, False),
        (None, False),
        (None, True),
    ]
    tron_peer.mine(18)
    (paid,) = tron.look_up(token).payments
    assert (paid.address, paid.amount, paid.method) == (tron_payer.address, 6, "usdt-tron")
    assert paid.block == tron.look_up(coin).block == tron.look_up(failed).block
    assert paid.block.height == tron_peer.chain.solid
    assert tron.look_up(failed).payments == ()
    assert tron.look_up("ab" * 32) is None


def test_addresses_that_were_used(tron_peer: Any, tron_payer: Any, trc20: str, tron: Any) -> None:
    ours = [tron.destination(index) for index in range(4)]
    tron_payer.pay(ours[0], 5)
    tron_payer.pay_token(trc20, ours[2], 6)  # exists for the token only
    tron_peer.mine()
    assert tron.used(ours) == {ours[0], ours[2]}


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-45"])
def test_pinned_contracts_are_checked(case: str, tron_peer: Any, tron_payer: Any, tron: Any) -> None:
    tron.check()
    eighteen = tron_peer.make_token(tron_payer.address, decimals=18)
    with pytest.raises(BadAnswer, match=r"USDT at T\w+ has 18 decimals, not 6"):
        TronNode(Tron(usdt_contract=eighteen), tron_peer.url, tron.xpub).check()
    for other in (tron_payer.address, tron_peer.deploy(lambda run: None)):
        with pytest.raises(BadAnswer, match=r"no contract of USDT|in a shape that can't be right"):
            TronNode(Tron(usdt_contract=other), tron_peer.url, tron.xpub).check()


# --- health and cost --------------------------------------------------------------------------------------------------
@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-60"])
def test_which_part_of_the_node_fails_is_said(case: str, tron_peer: Any, tron: Any, watch: Watch) -> None:
    tron_peer.spoil("wallet/getnowblock", lambda _: {"Error": "class java.lang.NullPointerException : null"})
    with pytest.raises(Unavailable, match=r"The Tron node at 127\.0\.0\.1:\d+ refused wallet/getnowblock: class java"):
        watch()
    tron_peer.spoiled.clear()
    tron_peer.spoil("walletsolidity/getblockbylimitnext", lambda _: None)
    with pytest.raises(Unavailable, match=r"The Tron solidity node at 127\.0\.0\.1:\d+ answered with HTTP status 404"):
        watch()
    tron_peer.spoiled.clear()
    tron_peer.spoil("wallet/triggerconstantcontract", lambda _: {"result": {"code": "CONTRACT_VALIDATE_ERROR"}})
    with pytest.raises(BadAnswer, match="There is no contract of USDT at T"):
        tron.check()
    tron_peer.spoiled.clear()
    tron_peer.mine(3)
    watch()
    tron_peer.lagging = 2
    with pytest.raises(Unavailable, match=r"The Tron node is behind: it is at block \d+, we have read up to \d+"):
        watch()
    tron_peer.lagging = 0
    with (
        time_machine.travel(datetime.now(UTC) + timedelta(minutes=10)),
        pytest.raises(
            Unavailable, match=r"lags: its newest solid block, \d+, is of \d\d \w+ 20\d\d, \d\d:\d\d:\d\d UTC"
        ),
    ):
        watch()


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-61"])
def test_calls_do_not_grow_with_addresses(
    case: str, tron_peer: Any, tron_payer: Any, trc20: str, tron: Any, watch: Watch, address: str
) -> None:
    """A pass costs three calls, and a block in which code ran one when it is new and one when it is solid."""
    asked = []
    for size in (1, 5_000):
        watch.ours = {address} | {f"T{number:033}" for number in range(size)}
        tron_peer.mine(19)
        watch()
        tron_peer.asked.clear()
        tron_payer.pay_token(trc20, address, 1)
        tron_payer.pay(address, 1)
        tron_peer.mine()
        assert len(watch()) == 2
        tron_peer.mine(18)
        assert len(watch()) == 2
        asked.append(list(tron_peer.asked))
    assert asked[0] == asked[1]
    assert len(asked[0]) == 2 * (3 + 1)


def test_catching_up_costs_one_call_for_twenty_blocks(tron_peer: Any, tron: Any, watch: Watch) -> None:
    tron_peer.mine(40)
    tron_peer.asked.clear()
    batches = [watch.batch(), watch.batch()]
    assert [batch.more for batch in batches] == [True, False]
    assert tron_peer.asked.count("walletsolidity/getblockbylimitnext") == 2
    assert len(tron_peer.asked) == 2 + 3


def test_a_deep_reorg_is_read_on_in_short_passes(tron_peer: Any, tron: Any, watch: Watch) -> None:
    """Solid blocks that are replaced must not happen; if they are, they are read as any others."""
    tron_peer.chain.solid_lag = 0
    watch()
    tron.max_blocks = 2
    tron_peer.fork(5)
    batches = [watch.batch() for _ in range(3)]
    assert [batch.more for batch in batches] == [True, True, False]
    assert batches[0].rewound_to == tron_peer.chain.head - 5


def test_other_chain(tron: Any, other_tron_peer: Any, watch: Watch) -> None:
    node = TronNode(tron.family, other_tron_peer.url, tron.xpub)
    with pytest.raises(ForeignChain, match="another chain: its genesis"):
        node.scan(watch.cursor, watch.match)
