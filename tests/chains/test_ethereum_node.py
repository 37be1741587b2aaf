"""Ethereum's adapter against a real node: what counts as a payment, what does not, and what happens in between."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from payments.networks.base import BadAnswer, Batch, Cursor, ForeignChain, Key, Transfer, Unavailable
from payments.networks.ethereum import Ethereum

pytestmark = pytest.mark.chains
TRANSFER = "transfer(address,uint256)"
REVERT = "0x60006000fd"


class Watch:
    """Reads a node from its head on and keeps the cursor."""

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
def watch(ethereum: Any) -> Watch:
    return Watch(ethereum)


@pytest.fixture
def address(ethereum: Any) -> str:
    return str(ethereum.destination(0))


@pytest.fixture
def splitter(payer: Any) -> str:
    return str(payer.deploy("Splitter"))


def key(transfer: Transfer) -> Key:
    return Key(transfer.txid, transfer.position, transfer.address, transfer.amount, transfer.contract)


# --- what is a payment ------------------------------------------------------------------------------------------------
def test_a_token_payment(anvil: Any, payer: Any, token: str, ethereum: Any, watch: Watch, address: str) -> None:
    txid = payer.pay_token(token, address, 12_340_000)
    anvil.mine()
    (transfer,) = watch()
    head = ethereum.head()
    assert transfer == Transfer(txid, "log:0", address, 12_340_000, "usdt-ethereum", token, head)
    (confirmation,) = ethereum.confirm([key(transfer)])
    assert (confirmation.block, confirmation.confirmations) == (head, 1)
    wrong = [replace(key(transfer), amount=1), replace(key(transfer), position="log:1")]
    wrong += [replace(key(transfer), address=ethereum.destination(1)), replace(key(transfer), contract=payer.address)]
    assert ethereum.confirm(wrong) == [None] * 4


def test_the_fee_of_the_token_is_not_ours(anvil: Any, payer: Any, token: str, watch: Watch, address: str) -> None:
    payer.call(token, "setParams(uint256,uint256)", 10, 5)
    payer.pay_token(token, address, 10_000_000)
    anvil.mine()
    (transfer,) = watch()
    assert (transfer.position, transfer.amount) == ("log:1", 9_990_000)


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-29"])
def test_two_logs_in_one_transaction_are_two_transfers(
    case: str, anvil: Any, payer: Any, token: str, splitter: str, ethereum: Any, watch: Watch
) -> None:
    payer.pay_token(token, splitter, 10)
    anvil.mine()
    assert watch() == ()
    to, before = (
        [ethereum.destination(0), payer.address, ethereum.destination(1), ethereum.destination(0)],
        watch.cursor,
    )
    txid = payer.call(splitter, "splitToken(address,address[],uint256[])", token, to, [1, 2, 3, 4])
    anvil.mine()
    transfers = watch()
    assert [(t.txid, t.position, t.address, t.amount) for t in transfers] == [
        (txid, "log:0", to[0], 1),
        (txid, "log:2", to[2], 3),
        (txid, "log:3", to[3], 4),
    ]
    assert None not in ethereum.confirm([key(transfer) for transfer in transfers])
    watch.cursor = before
    assert watch() == transfers  # reading the block again says the same


def test_two_tokens_in_one_block(anvil: Any, payer: Any, token: str, usdc: str, watch: Watch, address: str) -> None:
    payer.pay_token(token, address, 100_000_000)
    payer.pay_token(usdc, address, 100_000_001)
    anvil.mine()
    assert [(one.method, one.contract, one.amount) for one in watch()] == [
        ("usdt-ethereum", token, 100_000_000),
        ("usdc-ethereum", usdc, 100_000_001),
    ]


def test_coin_and_token_in_one_block(anvil: Any, payer: Any, token: str, watch: Watch, address: str) -> None:
    payer.pay_token(token, address, 5)
    payer.pay(address, 10**18)
    payer.pay_token(token, address, 6)
    anvil.mine()
    assert [(transfer.method, transfer.amount) for transfer in watch()] == [
        ("eth", 10**18),
        ("usdt-ethereum", 5),
        ("usdt-ethereum", 6),
    ]


# --- what is not ------------------------------------------------------------------------------------------------------
def test_a_reverted_token_transfer(anvil: Any, payer: Any, token: str, watch: Watch, address: str) -> None:
    txid = payer.pay_token(token, address, 10**20)  # more than there is
    anvil.mine()
    assert anvil.receipt(txid)["status"] == "0x0"
    assert watch() == ()


def test_a_reverted_coin_transfer(anvil: Any, payer: Any, ethereum: Any, watch: Watch, address: str) -> None:
    anvil.rpc("anvil_setCode", address, REVERT)
    txid = payer.pay(address, 10**18)
    anvil.mine()
    assert anvil.receipt(txid)["status"] == "0x0"
    assert watch() == ()
    assert ethereum.confirm([Key(txid, "value", address, 10**18)]) == [None]


def test_a_token_of_the_same_name(anvil: Any, payer: Any, lookalike: str, watch: Watch, address: str) -> None:
    txid = payer.pay_token(lookalike, address, 5_000_000)
    payer.pay_token(lookalike, address, 0)
    anvil.mine()
    (transfer,) = watch()
    assert (transfer.txid, transfer.position, transfer.amount) == (txid, "log:0", 5_000_000)
    assert (transfer.method, transfer.contract) == (None, lookalike)


def test_an_event_that_moves_nothing(anvil: Any, payer: Any, watch: Watch, address: str) -> None:
    """Anybody can write such an event: it is told as an unknown token, and fifty of them in a block are enough."""
    fake = payer.deploy("FakeEvents")
    for amount in range(1, 61):
        payer.call(fake, "emitTransfer(address,address,uint256)", payer.address, address, amount)
    anvil.mine()
    transfers = watch()
    assert [(transfer.method, transfer.contract) for transfer in transfers] == [(None, fake)] * 50


def test_a_payment_of_nothing(anvil: Any, payer: Any, token: str, watch: Watch, address: str) -> None:
    payer.pay_token(token, address, 0)
    payer.pay(address, 0)
    anvil.mine()
    assert watch() == ()


def test_paying_and_taking_it_back(anvil: Any, payer: Any, splitter: str, watch: Watch, address: str) -> None:
    txid = payer.call(splitter, "payAndUndo(address,uint256)", address, 10**17, value=10**17)
    anvil.mine()
    assert anvil.receipt(txid)["status"] == "0x1"
    assert int(anvil.rpc("eth_getBalance", address, "latest"), 16) == 0
    assert watch() == ()


# --- questions about one transaction, and about addresses ------------------------------------------------------------
def test_looking_up_a_transaction_tells_everything_it_pays(
    anvil: Any, payer: Any, token: str, lookalike: str, splitter: str, ethereum: Any, address: str
) -> None:
    """To anybody, in unknown tokens as well."""
    for one in (token, lookalike):
        payer.pay_token(one, splitter, 10)
    anvil.mine()
    coin = payer.pay(address, 7)
    tokens = [
        payer.call(splitter, "splitToken(address,address[],uint256[])", one, [address, payer.address], [3, 4])
        for one in (token, lookalike)
    ]
    anvil.mine(3)
    found = [ethereum.look_up(txid) for txid in (coin, *tokens)]
    assert [[(one.position, one.address, one.amount, one.method) for one in f.payments] for f in found] == [
        [("value", address, 7, "eth")],
        [("log:0", address, 3, "usdt-ethereum"), ("log:1", payer.address.lower(), 4, "usdt-ethereum")],
        [("log:0", address, 3, None), ("log:1", payer.address.lower(), 4, None)],
    ]
    assert [(f.failed, f.low_fee, f.block.height) for f in found] == [(False, False, anvil.height() - 2)] * 3
    assert ethereum.look_up("0x" + "ab" * 32) is None


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-49"])
def test_looking_up_a_reverted_transaction_says_that_nothing_moved(
    case: str, anvil: Any, payer: Any, token: str, ethereum: Any, watch: Watch, address: str
) -> None:
    txid = payer.pay_token(token, address, 10**20)  # more than there is
    anvil.mine()
    found = ethereum.look_up(txid)
    assert (found.failed, found.payments, found.block) == (True, (), ethereum.head())
    assert watch() == ()


def test_looking_up_a_waiting_transaction(anvil: Any, payer: Any, ethereum: Any, address: str) -> None:
    txid = payer.pay(address, 7)
    found = ethereum.look_up(txid)
    assert (found.block, found.failed, found.low_fee) == (None, False, False)
    assert [(one.position, one.amount, one.block) for one in found.payments] == [("value", 7, None)]


def test_addresses_that_hold_or_sent_something_are_used(
    anvil: Any, payer: Any, token: str, usdc: str, ethereum: Any
) -> None:
    addresses = [ethereum.destination(index) for index in range(100)]
    assert ethereum.used(addresses) == set()
    payer.pay(addresses[1], 1)
    payer.pay_token(token, addresses[2], 1)
    payer.pay_token(usdc, addresses[3], 1)
    anvil.mine()
    anvil.rpc("anvil_setNonce", addresses[4], "0x1")
    assert ethereum.used(addresses) == set(addresses[1:5])
    assert ethereum.used([]) == set()


# --- reorgs -----------------------------------------------------------------------------------------------------------
@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-log-index"])
def test_a_reorg_moves_a_token_payment_to_another_log_index(
    case: str, anvil: Any, payer: Any, token: str, ethereum: Any, watch: Watch, address: str
) -> None:
    other = type(payer)(anvil)
    payer.pay_token(token, other.address, 1000)
    anvil.mine()
    watch()
    ours = payer.sign_call(token, TRANSFER, address, 777)
    txid = payer.submit(ours)
    anvil.mine(2)
    (before,) = watch()
    index = anvil.receipt(txid)["logs"][0]["logIndex"]

    theirs = [other.sign_call(token, TRANSFER, payer.address, n) for n in (1, 2)]
    anvil.reorg(2, [(theirs[0], 0), (theirs[1], 0), (ours, 0)])
    assert anvil.receipt(txid)["logs"][0]["logIndex"] != index
    batch = watch.batch()
    (after,) = batch.transfers
    assert batch.rewound_to == batch.head - 2
    assert (after.txid, after.position) == (before.txid, before.position) == (txid, "log:0")
    assert after.block != before.block
    (confirmation,) = ethereum.confirm([key(before)])
    assert confirmation.block == after.block


def test_a_reorg_can_change_what_a_transaction_pays(
    anvil: Any, payer: Any, token: str, ethereum: Any, watch: Watch, address: str
) -> None:
    """In the new order the token's fee is switched on before the payment."""
    owner = type(payer)(anvil)
    anvil.rpc("anvil_setStorageAt", token, "0x0", "0x" + owner.address[2:].lower().rjust(64, "0"))
    anvil.mine()
    pay = payer.sign_call(token, TRANSFER, address, 10_000_000)
    payer.submit(pay)
    anvil.mine()
    (before,) = watch()
    anvil.reorg(1, [(owner.sign_call(token, "setParams(uint256,uint256)", 10, 5), 0), (pay, 0)])
    (after,) = watch()
    assert (before.position, before.amount) == ("log:0", 10_000_000)
    assert (after.txid, after.position, after.amount) == (before.txid, "log:1", 9_990_000)
    assert ethereum.confirm([key(before)]) == [None]
    assert ethereum.confirm([key(after)]) != [None]


def test_a_reorg_before_finality_takes_the_payment_away(
    anvil: Any, payer: Any, token: str, ethereum: Any, watch: Watch, address: str
) -> None:
    payer.pay_token(token, address, 5)
    anvil.mine()
    (transfer,) = watch()
    anvil.reorg(1)
    batch = watch.batch()
    assert (batch.rewound_to, batch.transfers) == (batch.head - 1, ())
    assert ethereum.confirm([key(transfer)]) == [None]


def test_a_replaced_payment_in_the_pool_never_appears(anvil: Any, payer: Any, watch: Watch, address: str) -> None:
    payer.pay(address, 5)
    payer.nonce -= 1
    payer.submit(payer.sign(payer.address, 5, tip=5 * 10**9))
    anvil.mine()
    assert watch() == ()


# --- outages and other chains -----------------------------------------------------------------------------------------
def test_a_node_that_was_away_is_read_without_a_gap(
    anvil: Any, payer: Any, token: str, ethereum: Any, watch: Watch, address: str
) -> None:
    first = payer.pay_token(token, address, 1)
    anvil.mine()
    assert [transfer.txid for transfer in watch()] == [first]
    second = payer.pay_token(token, address, 2)
    anvil.mine()
    anvil.stop()
    with pytest.raises(Unavailable, match=f"127.0.0.1:{anvil.port} does not answer"):
        watch()
    anvil.start()
    third = payer.pay(address, 3)
    anvil.mine()
    batch = watch.batch()
    assert {transfer.txid for transfer in batch.transfers} == {second, third}
    assert batch.rewound_to is None
    assert None not in ethereum.confirm([key(transfer) for transfer in batch.transfers])


def test_another_chain_behind_the_same_address(anvil: Any, other_anvil: Any, ethereum: Any, watch: Watch) -> None:
    node = type(ethereum)(ethereum.family, other_anvil.url, ethereum.xpub)
    with pytest.raises(ForeignChain, match="another chain: its genesis"):
        node.scan(watch.cursor, watch.match)


def test_another_chain_id(anvil: Any, token: str, ethereum: Any) -> None:
    node = type(ethereum)(Ethereum(chain_id=1, usdt_contract=token), anvil.url, ethereum.xpub)
    for ask in (node.genesis, node.check, lambda: node.scan(Cursor(""), set)):
        with pytest.raises(ForeignChain, match="on chain 31337, this installation is for 1"):
            ask()


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-45"])
def test_pinned_contracts_are_checked(case: str, anvil: Any, payer: Any, token: str, ethereum: Any) -> None:
    ethereum.check()
    eighteen = payer.deploy("TestToken", ["string", "string", "uint8", "uint256"], ["T", "T", 18, 1])
    wrong = Ethereum(chain_id=31337, usdt_contract=eighteen)
    with pytest.raises(BadAnswer, match=r"USDT at 0x.* has 18 decimals, not 6"):
        type(ethereum)(wrong, anvil.url, ethereum.xpub).check()
    second = Ethereum(chain_id=31337, usdt_contract=token, usdc_contract=eighteen)
    with pytest.raises(BadAnswer, match=r"USDC at 0x.* has 18 decimals, not 6"):
        type(ethereum)(second, anvil.url, ethereum.xpub).check()
    nothing = Ethereum(chain_id=31337, usdt_contract=payer.address)
    with pytest.raises(BadAnswer, match="no contract of USDT"):
        type(ethereum)(nothing, anvil.url, ethereum.xpub).check()


# --- cost -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("what", ["calls-per-block"])
def test_calls_per_block_do_not_grow_with_addresses(
    what: str, anvil: Any, payer: Any, token: str, ethereum: Any, watch: Watch, address: str
) -> None:
    payer.pay_token(token, address, 1)
    payer.pay(address, 1)
    anvil.mine(10)
    calls = []
    for size in (1, 1_000, 100_000):
        watched = {address} | {f"0x{number:040x}" for number in range(size)}
        before = ethereum.rpc.calls
        batch = ethereum.scan(watch.cursor, lambda addresses, watched=watched: watched & set(addresses))
        assert len(batch.transfers) == 2
        calls.append(ethereum.rpc.calls - before)
    a_pass, a_block, a_trace, a_payment = 4, 2, 1, 1  # blocks without transactions are not traced
    assert calls == [a_pass + 10 * a_block + a_trace + 2 * a_payment] * 3
