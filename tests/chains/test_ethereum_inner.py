"""ETH that no transaction pays to us directly, on a real node: inner calls by both kinds of traces, others by looking.

Contracts pay our addresses, take it back, end themselves in our favour; validators' withdrawals are played by giving an
address more than it had. What is told must be the whole of it, and told once.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from payments.networks.base import Batch, Confirmation, Cursor, Held, Key, Transfer, Unavailable

pytestmark = pytest.mark.chains
FLAT = ("trace_block", "trace_transaction")
NESTED = ("debug_traceBlockByHash", "debug_traceTransaction")
KINDS = ["flat", "nested"]
SPLIT = "split(address[],uint256[])"


class Watch:
    """Reads a node from its head on; keeps the cursor, and what each of our addresses holds."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.ours = [str(node.destination(index)) for index in range(3)]
        self.held = {address: Held(address) for address in self.ours}
        self.cursor = Cursor("")

    def match(self, addresses: Iterable[str]) -> set[str]:
        return set(self.ours) & set(addresses)

    def scan(self, held: Sequence[Held]) -> Batch:
        batch: Batch = self.node.scan(self.cursor, self.match, held)
        return batch

    def __call__(self) -> tuple[Transfer, ...]:
        batch = self.scan(list(self.held.values()))
        self.cursor = batch.cursor
        self.held |= {one.address: one for one in batch.held}
        return batch.transfers


@pytest.fixture
def splitter(payer: Any) -> str:
    return str(payer.deploy("Splitter"))


@pytest.fixture
def kind(request: pytest.FixtureRequest, between: Any) -> str:
    """What the node offers: the flat kind of traces, the nested one, or none."""
    chosen = str(getattr(request, "param", "none"))
    between.refuse(*{"flat": NESTED, "nested": FLAT, "none": FLAT + NESTED}[chosen])
    return chosen


@pytest.fixture
def watch(anvil: Any, between: Any, ethereum: Any, splitter: str, kind: str) -> Watch:
    """A watcher that has seen the head; every address was looked at once."""
    watch = Watch(type(ethereum)(ethereum.family, between.url, ethereum.xpub))
    watch()
    anvil.mine()
    watch()
    return watch


def key(transfer: Transfer) -> Key:
    return Key(transfer.txid, transfer.position, transfer.address, transfer.amount, transfer.contract)


def seen(transfers: Iterable[Transfer]) -> list[tuple[str, str, int, bool]]:
    return [(one.position, one.address, one.amount, one.explained) for one in transfers]


# --- by traces --------------------------------------------------------------------------------------------------------
@pytest.mark.cases
@pytest.mark.parametrize("kind", [pytest.param(kind, id=f"case-47-{kind}") for kind in KINDS], indirect=True)
def test_a_contract_that_pays_is_traced(anvil: Any, payer: Any, splitter: str, watch: Watch, kind: str) -> None:
    first, second = watch.ours[:2]
    txid = payer.call(splitter, SPLIT, [first, payer.address, second], [5, 6, 7], value=18)
    anvil.mine()
    transfers = watch()
    assert {one.txid for one in transfers} == {txid}
    assert seen(transfers) == [("call:0", first, 5, True), ("call:2", second, 7, True)]
    assert all((one.method, one.contract) == ("eth", None) for one in transfers)
    answers = watch.node.confirm([key(one) for one in transfers])
    assert [isinstance(one, Confirmation) and one.confirmations for one in answers] == [1, 1]
    wrong = [Key(txid, "call:0", first, 6), Key(txid, "call:1", first, 5), Key(txid, "call:0", second, 5)]
    assert watch.node.confirm(wrong) == [None] * 3
    anvil.mine()
    assert watch() == ()


@pytest.mark.parametrize("kind", KINDS, indirect=True)
def test_a_contract_that_ends_itself_in_our_favour(anvil: Any, payer: Any, watch: Watch, kind: str) -> None:
    payer.deploy("ForceSend", ["address"], [watch.ours[0]])  # with nothing in it
    assert watch() == ()
    code = payer.code("ForceSend", ["address"], [watch.ours[0]])
    txid = payer.submit(payer.sign(None, 7, code))
    anvil.mine()
    (transfer,) = watch()
    assert (transfer.txid, *seen([transfer])[0]) == (txid, "call:0", watch.ours[0], 7, True)
    assert None not in watch.node.confirm([key(transfer)])


@pytest.mark.parametrize("kind", [*KINDS, "none"], indirect=True)
def test_paying_and_taking_it_back_is_nothing(anvil: Any, payer: Any, splitter: str, watch: Watch, kind: str) -> None:
    """The call that pays has no error of its own; only the one around it was reverted."""
    txid = payer.call(splitter, "payAndUndo(address,uint256)", watch.ours[0], 10**17, value=10**17)
    anvil.mine()
    assert anvil.receipt(txid)["status"] == "0x1"
    assert watch() == ()
    assert [one.position for one in watch.node.look_up(txid).payments] == ["value"]


@pytest.mark.parametrize("kind", KINDS, indirect=True)
def test_a_reverted_payer_pays_nothing(anvil: Any, payer: Any, splitter: str, watch: Watch, kind: str) -> None:
    txid = payer.call(splitter, SPLIT, [watch.ours[0], watch.ours[1]], [5, 10**30], value=5)
    anvil.mine()
    assert anvil.receipt(txid)["status"] == "0x0"
    assert watch() == ()
    assert watch.node.confirm([Key(txid, "call:0", watch.ours[0], 5)]) == [None]
    undone = payer.call(splitter, "payAndUndo(address,uint256)", watch.ours[0], 5, value=5)
    anvil.mine()
    assert watch.node.confirm([Key(undone, "call:0.0", watch.ours[0], 5)]) == [None]


def test_both_kinds_of_traces_name_a_payment_alike(
    anvil: Any, payer: Any, ethereum: Any, between: Any, splitter: str
) -> None:
    flat = type(ethereum)(ethereum.family, anvil.url, ethereum.xpub)
    between.refuse(*FLAT)
    nested = type(ethereum)(ethereum.family, between.url, ethereum.xpub)
    txid = payer.call(splitter, SPLIT, [payer.address, splitter, flat.destination(0)], [1, 2, 3], value=6)
    anvil.mine()
    assert flat.look_up(txid) == nested.look_up(txid)
    assert [one.position for one in flat.look_up(txid).payments] == ["value", "call:0", "call:1", "call:2"]


def test_what_a_node_offers_is_found_out_once(
    anvil: Any, payer: Any, between: Any, ethereum: Any, watch: Watch
) -> None:
    for _ in range(2):
        watch.node = type(ethereum)(ethereum.family, between.url, ethereum.xpub)
        payer.pay(payer.address, 1)
        anvil.mine()
        watch()
    assert between.asked.count("trace_block") == between.asked.count("debug_traceBlockByHash") == 1


@pytest.mark.parametrize("kind", ["flat"], indirect=True)
def test_traces_that_fail_again_and_again_are_done_without(
    anvil: Any, payer: Any, splitter: str, between: Any, watch: Watch, kind: str
) -> None:
    between.refuse("trace_block", code=-32000, message="execution timeout")
    payer.call(splitter, SPLIT, [watch.ours[0]], [5], value=5)
    anvil.mine()
    for _ in range(2):
        with pytest.raises(Unavailable, match="timeout"):
            watch()
    assert [(one.amount, one.explained) for one in watch()] == [(5, False)]


@pytest.mark.parametrize("kind", ["flat"], indirect=True)
def test_a_node_that_keeps_no_old_states_is_asked_again_for_newer_ones(
    anvil: Any, payer: Any, splitter: str, between: Any, watch: Watch, kind: str
) -> None:
    between.refuse("trace_block", code=-32000, message="missing trie node 0123 (path )")
    payer.call(splitter, SPLIT, [watch.ours[0]], [5], value=5)
    anvil.mine()
    assert [one.explained for one in watch()] == [False]
    between.refused.pop("trace_block")
    payer.call(splitter, SPLIT, [watch.ours[0]], [5], value=5)
    anvil.mine()
    assert [one.explained for one in watch()] == [True]


# --- by looking -------------------------------------------------------------------------------------------------------
@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-47"])
def test_without_traces_a_grown_balance_is_told(
    case: str, anvil: Any, payer: Any, splitter: str, ethereum: Any, watch: Watch
) -> None:
    """Beside a direct payment in the same block, only what nothing explains is told as unexplained; once."""
    address = watch.ours[0]
    payer.call(splitter, SPLIT, [address], [5], value=5)
    direct = payer.pay(address, 3)
    anvil.mine()
    before, held = watch.cursor, list(watch.held.values())
    transfers = watch()
    head = ethereum.head()
    assert seen(transfers) == [("value", address, 3, True), (f"balance:{address}", address, 5, False)]
    assert [one.txid for one in transfers] == [direct, head.hash]
    assert transfers[1].block == head
    watch.cursor, again = before, watch.held
    assert watch.scan(held).transfers == transfers  # a pass that is repeated says the same
    watch.cursor, watch.held = watch.scan(held).cursor, again
    assert watch() == ()
    anvil.mine()
    assert watch() == ()
    (answer,) = watch.node.confirm([key(transfers[1])])
    assert (answer.block, answer.confirmations) == (head, 2)


@pytest.mark.parametrize("kind", ["flat", "none"], indirect=True)
def test_a_withdrawal_is_seen_by_the_balance_alone(anvil: Any, watch: Watch, kind: str) -> None:
    anvil.give(watch.ours[1], 9)
    anvil.mine()
    assert seen(watch()) == [(f"balance:{watch.ours[1]}", watch.ours[1], 9, False)]


def test_a_grown_balance_that_the_node_forgot_is_still_confirmed(anvil: Any, between: Any, watch: Watch) -> None:
    anvil.give(watch.ours[1], 9)
    anvil.mine()
    (transfer,) = watch()
    anvil.mine(11)
    between.refuse("eth_call", code=-32000, message="missing trie node 0123 (path )")
    (answer,) = watch.node.confirm([key(transfer)])
    assert (answer.block, answer.confirmations) == (transfer.block, 12)


def test_a_grown_balance_in_a_block_that_is_replaced(anvil: Any, payer: Any, splitter: str, watch: Watch) -> None:
    raw = payer.sign_call(splitter, SPLIT, [watch.ours[0]], [5], value=5)
    payer.submit(raw)
    anvil.mine()
    (before,) = watch()
    anvil.reorg(1, [(raw, 0)])
    (after,) = watch()
    assert (after.amount, after.explained) == (5, False)
    assert after.txid != before.txid
    old, new = watch.node.confirm([key(before), key(after)])
    assert old is None
    assert isinstance(new, Confirmation)
    anvil.reorg(1)
    assert watch() == ()
    assert watch.node.confirm([key(after)]) == [None]


@pytest.mark.parametrize("kind", ["flat", "none"], indirect=True)
def test_money_that_leaves_hides_nothing_and_invents_nothing(
    anvil: Any, payer: Any, splitter: str, watch: Watch, kind: str
) -> None:
    """The owner sweeps the address in the same blocks in which a contract pays: value and fee are counted exactly."""
    address = watch.ours[0]
    payer.pay(address, 10**18)
    anvil.mine()
    assert seen(watch()) == [("value", address, 10**18, True)]
    anvil.rpc("anvil_impersonateAccount", address)
    sweep = {"from": address, "to": payer.address, "value": hex(10**17), "gas": hex(21_000)}
    anvil.rpc("eth_sendTransaction", sweep)
    anvil.mine()
    assert watch() == ()
    anvil.rpc("eth_sendTransaction", sweep)
    anvil.rpc("eth_sendTransaction", {**sweep, "to": splitter, "data": "0x12345678", "gas": hex(50_000)})  # reverted
    payer.call(splitter, SPLIT, [address], [5], value=5)
    anvil.mine(3)
    assert [(one.amount, one.explained) for one in watch()] == [(5, kind == "flat")]


def test_what_was_there_before_the_first_look_is_no_payment(anvil: Any, payer: Any, watch: Watch) -> None:
    address = str(watch.node.destination(7))
    anvil.give(address, 100)
    anvil.mine()
    watch()
    watch.held[address] = Held(address)
    anvil.mine()
    assert watch() == ()
    assert watch.held[address].balance == 100


def test_an_address_that_was_not_looked_at_for_a_while_gets_nothing_twice(anvil: Any, payer: Any, watch: Watch) -> None:
    """What came meanwhile was told by the blocks; what was kept is too old to compare with."""
    address = watch.ours[0]
    kept = watch.held.pop(address)
    payer.pay(address, 5)
    anvil.mine()
    assert [one.amount for one in watch()] == [5]
    watch.held[address] = kept
    payer.pay(address, 6)
    anvil.mine()
    assert [(one.amount, one.explained) for one in watch()] == [(6, True)]
    assert watch.held[address].balance == 11


def test_short_passes_carry_what_is_expected(anvil: Any, payer: Any, splitter: str, watch: Watch) -> None:
    watch.node.max_blocks = 2
    address = watch.ours[0]
    payer.call(splitter, SPLIT, [address], [5], value=5)
    payer.pay(address, 3)
    anvil.mine(5)
    found = [one for _ in range(3) for one in watch()]
    assert [(one.amount, one.explained) for one in found] == [(3, True), (5, False)]


def test_a_node_that_refuses_to_be_looked_at_stops_nothing_and_hides_nothing(
    anvil: Any, payer: Any, splitter: str, between: Any, watch: Watch
) -> None:
    address = watch.ours[0]
    between.refuse("eth_call", code=-32000, message="execution aborted")
    payer.pay(address, 3)
    payer.call(splitter, SPLIT, [address], [5], value=5)
    anvil.mine()
    assert [(one.amount, one.explained) for one in watch()] == [(3, True)]
    between.refused.pop("eth_call")
    anvil.mine()
    assert [(one.amount, one.explained) for one in watch()] == [(5, False)]


def test_one_call_looks_at_all_addresses(anvil: Any, ethereum: Any, watch: Watch) -> None:
    many = [Held(f"0x{number:040x}") for number in range(1 << 60, (1 << 60) + 1000)]
    calls = []
    for held in ([], many[:1], many):
        anvil.mine()
        before = watch.node.rpc.calls
        batch = watch.scan(held)
        calls.append(watch.node.rpc.calls - before)
        assert len(batch.held) == min(len(held), ethereum.family.looks_per_pass)
        watch.cursor = batch.cursor
    assert [number - calls[0] for number in calls] == [0, 2, 2]  # what they hold now, and what new ones held before
