"""The simulated chain itself: what the demo wallet, the miner and the tests rely on."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from payments.networks.base import Unavailable
from payments.networks.simulated_chain import Payment, SimulatedChain


@pytest.fixture
def chain(tmp_path: Path) -> SimulatedChain:
    return SimulatedChain(tmp_path / "chain.sqlite3")


def test_a_payment_waits_in_the_pool_until_a_block_takes_it(chain: SimulatedChain) -> None:
    txid = chain.pay("alice", 2**256 - 1)
    assert [sent.txid for sent in chain.pool()] == [txid]
    block = chain.mine()
    assert chain.pool() == []
    (sent,) = chain.payments_in(block)
    assert (sent.position, sent.payment, sent.block) == ("value", Payment("alice", 2**256 - 1), block)
    assert chain.find(txid, "value") == sent


def test_two_installations_have_two_genesis_blocks(tmp_path: Path) -> None:
    assert SimulatedChain(tmp_path / "a").genesis() != SimulatedChain(tmp_path / "b").genesis()
    assert SimulatedChain(tmp_path / "a").genesis() == SimulatedChain(tmp_path / "a").genesis()


def test_block_times_never_stand_still(chain: SimulatedChain) -> None:
    noon = datetime(2099, 1, 1, 12, tzinfo=UTC)
    assert chain.mine(at=noon).time == noon
    assert chain.mine(at=noon - timedelta(hours=1)).time > noon
    assert chain.mine(3).height == 5


def test_one_transaction_holds_several_payments_in_order(chain: SimulatedChain) -> None:
    txid = chain.pay_many([Payment("alice", n, contract="token") for n in range(1, 13)])
    sent = chain.payments_in(chain.mine())
    assert [(s.txid, s.position, s.payment.amount) for s in sent] == [(txid, f"log:{n - 1}", n) for n in range(1, 13)]


def test_a_reorg_puts_transactions_back_into_the_pool(chain: SimulatedChain) -> None:
    old = chain.mine()
    txid = chain.pay("alice", 5)
    chain.mine(2)
    new = chain.reorg(3)
    assert new.height == 3
    assert chain.block_by_hash(old.hash) is None
    assert [sent.txid for sent in chain.pool()] == [txid]


def test_a_reorg_may_forget_them_or_take_them_in_another_order(chain: SimulatedChain) -> None:
    first, second = chain.pay("alice", 1), chain.pay("bob", 2)
    chain.mine()
    block = chain.reorg(1, reorder=True)
    assert [sent.txid for sent in chain.payments_in(block)] == [second, first]
    chain.reorg(1, keep=False)
    assert chain.find(first, "value") is None
    assert chain.pool() == []


def test_the_first_block_is_for_ever(chain: SimulatedChain) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        chain.reorg(1)


def test_a_fee_bump_takes_the_place_of_the_old_transaction(chain: SimulatedChain) -> None:
    old = chain.pay("alice", 5)
    new = chain.replace(old, "alice", 4)
    assert [(sent.txid, sent.payment.amount) for sent in chain.pool()] == [(new, 4)]
    with pytest.raises(ValueError, match="not in the pool"):
        chain.drop(old)
    chain.mine()
    with pytest.raises(ValueError, match="not in the pool"):
        chain.drop(new)
    assert len(chain.recent()) == 1


@pytest.mark.parametrize("amount", [0, -1, 2**256])
def test_it_refuses_amounts_no_chain_could_carry(chain: SimulatedChain, amount: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        chain.pay("alice", amount)
    assert chain.recent() == []


def test_a_transaction_id_is_used_once(chain: SimulatedChain) -> None:
    chain.pay("alice", 1, txid="same")
    with pytest.raises(ValueError, match="already"):
        chain.pay("bob", 1, txid="same")


def test_while_the_node_is_down_the_network_lives_on(chain: SimulatedChain) -> None:
    chain.go_down()
    with pytest.raises(Unavailable):
        chain.head()
    chain.pay("alice", 5)
    chain.mine()
    assert len(chain.recent()) == 1
    chain.come_up()
    assert chain.head().height == 1


def test_a_lagging_node_does_not_see_the_last_blocks(chain: SimulatedChain) -> None:
    chain.pay("alice", 5)
    block = chain.mine()
    chain.lag(1)
    assert chain.head().height == 0
    assert chain.block(1) is None
    assert chain.block_by_hash(block.hash) is None
    assert chain.pool()[0].block is None
    assert chain.recent()[0].block == block


PAY_AND_MINE = """
import sys
from payments.networks.simulated_chain import SimulatedChain
chain = SimulatedChain(sys.argv[1])
for amount in range(1, 21):
    chain.pay(sys.argv[2], amount)
    chain.mine()
"""


def test_processes_share_it_from_the_first_moment(tmp_path: Path) -> None:
    path, root = tmp_path / "chain.sqlite3", Path(__file__).parents[2]
    processes = [subprocess.Popen([sys.executable, "-c", PAY_AND_MINE, path, f"payer{n}"], cwd=root) for n in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    chain = SimulatedChain(path)
    assert chain.head().height == 60
    assert len(chain.recent(200)) == 60
    assert chain.pool() == []


def test_threads_share_one_object(chain: SimulatedChain) -> None:
    def pay_and_mine(name: str) -> None:
        for amount in range(1, 21):
            chain.pay(name, amount)
            chain.mine()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(pay_and_mine, "abcd"))
    assert chain.head().height == 80
    assert {sent.block is not None for sent in chain.recent(200)} == {True}
