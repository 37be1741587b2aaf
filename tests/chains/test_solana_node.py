"""Our adapter on a Solana cluster of one with the real runtime: what counts as money, and what waits."""

from collections.abc import Callable
from typing import Any

import pytest
from chains.solana_chain import keypair
from solders.pubkey import Pubkey
from solders.system_program import ID as SYSTEM
from solders.system_program import TransferWithSeedParams, transfer_with_seed

from payments.networks.base import Batch, Confirmation, Cursor, ForeignChain, Held, Key, Transfer, Unavailable
from payments.networks.solana import Solana

pytestmark = pytest.mark.chains

SOL = 10**9
OPERATOR = keypair("operator")


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
        self.found |= {(one.txid, one.position): one for one in batch.transfers if one.block}
        return batch

    def told(self) -> list[tuple[str, int]]:
        """Return transaction and amount of everything that was told as money, in its order."""
        return [(one.txid, one.amount) for one in self.found.values()]


def key(found: Transfer) -> Key:
    return Key(found.txid, found.position, found.address, found.amount, found.contract)


@pytest.fixture
def address(solana: Any) -> str:
    return str(solana.destination(0))


@pytest.fixture
def watch(solana: Any, address: str) -> Watch:
    watch = Watch(solana, address)
    watch.once()
    return watch


# --- what is money ----------------------------------------------------------------------------------------------------
def test_a_payment_is_seen_and_then_told_with_its_block(
    watch: Watch, sol_payer: Any, solana_chain: Any, address: str
) -> None:
    txid = sol_payer.pay(address, SOL)
    (seen,) = watch.once().transfers
    assert (seen.txid, seen.position, seen.amount, seen.block) == (txid, "account:1", SOL, None)
    assert watch.node.confirm([key(seen)]) == [Confirmation(None, 0, finalized=False)]
    solana_chain.advance()
    (told,) = watch.once().transfers
    assert (told.txid, told.position, told.amount, told.method) == (txid, "account:1", SOL, "sol")
    assert told.block
    assert told.block.hash == solana_chain.block(solana_chain.landed[txid].slot).blockhash
    assert watch.node.confirm([key(told)]) == [Confirmation(told.block, 1, finalized=True)]
    assert (told.block.height, told.block.hash) in watch.cursor.recent
    assert watch.once().transfers == ()


@pytest.mark.cases
@pytest.mark.parametrize("place", [pytest.param(0, id="case-62"), pytest.param(1, id="case-62-second")])
def test_a_payment_through_a_lookup_table_is_credited(
    watch: Watch, sol_payer: Any, solana_chain: Any, address: str, place: int
) -> None:
    """A version 0 transaction that names the payee by its place in a table, not by its address."""
    other = watch.node.destination(1)
    table = sol_payer.table(*([address, other] if place == 0 else [other, address]))
    solana_chain.advance(2)
    txid = sol_payer.submit([sol_payer.transfer(address, SOL)], [table])
    message = solana_chain.landed[txid].transaction.message
    assert Pubkey.from_string(address) not in message.account_keys
    solana_chain.advance()
    watch.once()
    assert watch.told() == [(txid, SOL)]
    assert None not in watch.node.confirm([key(one) for one in watch.found.values()])


def test_a_payment_of_the_old_form_is_credited(watch: Watch, sol_payer: Any, solana_chain: Any, address: str) -> None:
    txid = sol_payer.submit_legacy([sol_payer.transfer(address, SOL)])
    solana_chain.advance()
    watch.once()
    assert watch.told() == [(txid, SOL)]


def test_one_transaction_may_pay_several_of_ours_in_several_parts(
    solana: Any, sol_payer: Any, solana_chain: Any
) -> None:
    """What counts is what each account held before and after, however many instructions made it so."""
    first, second = solana.destination(0), solana.destination(1)
    watch = Watch(solana, first, second)
    watch.once()
    txid = sol_payer.submit(
        [sol_payer.transfer(to, amount * SOL) for to, amount in ((first, 1), (second, 2), (first, 3))]
    )
    solana_chain.advance()
    watch.once()
    assert {(one.address, one.amount) for one in watch.found.values()} == {(first, 4 * SOL), (second, 2 * SOL)}
    assert {one.txid for one in watch.found.values()} == {txid}
    assert len(watch.found) == 2


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-66"])
def test_too_little_for_a_fresh_address_fails_on_the_chain_and_is_no_transfer(
    watch: Watch, sol_payer: Any, solana_chain: Any, address: str, case: str
) -> None:
    """0.0005 SOL is less than an account must hold. So nothing below 0.002 SOL may be asked for."""
    assert watch.node.family.assets[0].minimum_amount == 2_000_000
    txid = sol_payer.pay(address, 500_000)
    solana_chain.advance()
    assert solana_chain.landed[txid].meta["err"] is not None
    assert watch.once().transfers == ()
    finding = watch.node.look_up(txid)
    assert (finding.failed, finding.payments) == (True, ())
    assert watch.node.confirm([Key(txid, "account:1", address, 500_000)]) == [None]
    sol_payer.pay(address, watch.node.family.assets[0].minimum_amount)
    solana_chain.advance()
    assert len(watch.once().transfers) == 1


def test_a_failed_transaction_in_the_history_of_a_paid_address_pays_nothing(
    watch: Watch, sol_payer: Any, solana_chain: Any, address: str
) -> None:
    failed = sol_payer.pay(address, 10**18)
    good = sol_payer.pay(address, SOL)
    solana_chain.advance()
    watch.once()
    assert failed in solana_chain.history(address, "finalized")
    assert watch.told() == [(good, SOL)]


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-67"])
def test_a_token_sent_to_our_address_is_no_money_and_is_named_when_somebody_asks(
    watch: Watch, solana_chain: Any, spl_token: Any, address: str, case: str
) -> None:
    """Somebody sends USDC to the address for SOL: it is told as a token that we do not take, to the one we own."""
    txid = spl_token.pay(address, 7_000_000)
    solana_chain.advance()
    watch.once()
    assert watch.told() == []
    finding = watch.node.look_up(txid)
    assert not finding.failed
    assert [(one.address, one.amount, one.method, one.contract) for one in finding.payments if one.method is None] == [
        (address, 7_000_000, None, str(spl_token.mint))
    ]


def test_a_token_beside_a_payment_is_told_as_unknown(
    watch: Watch, sol_payer: Any, solana_chain: Any, spl_token: Any, address: str
) -> None:
    together = [spl_token.open(address), spl_token.transfer(address, 5), sol_payer.transfer(address, SOL)]
    txid = sol_payer.submit(together)
    solana_chain.advance()
    watch.once()
    assert {(one.txid, one.amount, one.method) for one in watch.found.values()} == {(txid, SOL, "sol"), (txid, 5, None)}
    assert None not in watch.node.confirm([key(one) for one in watch.found.values()])


# --- what waits -------------------------------------------------------------------------------------------------------
@pytest.mark.cases
@pytest.mark.parametrize("hidden", ["unshown", "unlisted"], ids=["case-64", "case-64-unlisted"])
def test_a_transaction_that_the_node_does_not_show_yet_is_waited_for(
    watch: Watch, sol_payer: Any, solana_chain: Any, solana_peer: Any, address: str, hidden: str
) -> None:
    """The balance grew and the node answers null, or does not even list it: neither "nothing" nor an unknown payment.

    The network does not count as watched beyond the pass before, so no promise can end meanwhile.
    """
    solana_chain.time_shift = 10
    before = watch.once().watched_until
    txid = sol_payer.pay(address, SOL)
    solana_chain.advance()
    getattr(solana_peer, hidden).add(txid)
    for seconds in (15, 30, 200):
        solana_chain.time_shift = seconds
        solana_chain.advance(2)
        batch = watch.once()
        assert (batch.transfers, batch.watched_until) == ((), before)
    if hidden == "unshown":
        with pytest.raises(Unavailable, match="does not show it yet"):
            watch.node.look_up(txid)
    getattr(solana_peer, hidden).clear()
    batch = watch.once()
    assert [(one.txid, one.amount) for one in batch.transfers] == [(txid, SOL)]
    assert batch.watched_until > before
    assert watch.once().transfers == ()


def test_what_the_node_shows_of_an_address_counts_while_the_rest_waits(
    watch: Watch, sol_payer: Any, solana_chain: Any, solana_peer: Any, address: str
) -> None:
    sent = [sol_payer.pay(address, amount * SOL) for amount in (1, 2, 3)]
    solana_chain.advance()
    solana_peer.unshown.add(sent[1])
    watch.once()
    assert watch.told() == [(sent[0], SOL), (sent[2], 3 * SOL)]
    solana_peer.unshown.clear()
    watch.once()
    assert sorted(watch.told()) == sorted(zip(sent, (SOL, 2 * SOL, 3 * SOL), strict=True))


def test_a_hidden_payment_that_was_swept_meanwhile_is_waited_for(
    watch: Watch, sol_payer: Any, solana_chain: Any, solana_peer: Any, address: str
) -> None:
    """What the node does not show leaves no trace in the balance; it is listed, and that is enough to wait."""
    first = sol_payer.pay(address, 3 * SOL)
    swept = sweep(solana_chain, sol_payer, watch.node, 3 * SOL)
    second = sol_payer.pay(address, SOL)
    solana_chain.advance()
    solana_peer.unshown |= {first, swept}
    watch.once()
    assert watch.told() == [(second, SOL)]
    solana_peer.unshown.clear()
    watch.once()
    assert sorted(watch.told()) == sorted([(first, 3 * SOL), (second, SOL)])


@pytest.mark.parametrize("hidden", ["unshown", "unlisted"])
def test_after_five_minutes_a_person_is_told_and_the_transaction_never_counts_twice(
    watch: Watch, sol_payer: Any, solana_chain: Any, solana_peer: Any, address: str, hidden: str
) -> None:
    txid = sol_payer.pay(address, SOL)
    getattr(solana_peer, hidden).add(txid)
    solana_chain.advance()
    assert watch.once().transfers == ()
    solana_chain.time_shift = 400
    solana_chain.advance(2)
    assert len(watch.held[address].mark) <= 128
    (told,) = watch.once().transfers
    assert told.block
    assert (told.explained, told.address, told.amount, told.method) == (False, address, SOL, "sol")
    assert (told.txid, len(told.position) <= 64) == (told.block.hash, True)
    solana_chain.advance()
    assert watch.node.confirm([key(told)]) == [Confirmation(told.block, 2, finalized=True)]
    getattr(solana_peer, hidden).clear()
    assert watch.once().transfers == ()
    later = sol_payer.pay(address, 2 * SOL)
    solana_chain.advance()
    assert [(one.txid, one.amount) for one in watch.once().transfers] == [(later, 2 * SOL)]


def test_money_without_any_transaction_is_told_to_a_person(watch: Watch, solana_chain: Any, address: str) -> None:
    solana_chain.give(Pubkey.from_string(address), SOL)
    solana_chain.advance(2)
    assert watch.once().transfers == ()
    solana_chain.time_shift = 301
    solana_chain.advance(2)
    assert [(one.amount, one.explained) for one in watch.once().transfers] == [(SOL, False)]
    solana_chain.advance(2)
    assert watch.once().transfers == ()


def test_a_confirmed_payment_that_a_fork_drops_was_never_money(
    watch: Watch, sol_payer: Any, solana_chain: Any, address: str
) -> None:
    sol_payer.pay(address, SOL)
    (seen,) = watch.once().transfers
    solana_chain.fork(1)
    solana_chain.advance(3)
    assert watch.node.confirm([key(seen)]) == [None]
    assert watch.once().transfers == ()
    assert watch.node.look_up(seen.txid) is None


# --- what leaves, and long histories ----------------------------------------------------------------------------------
def sweep(chain: Any, payer: Any, node: Any, lamports: int) -> str:
    """Move money from our first address as its owner does."""
    from_pubkey, seed = Pubkey.from_string(node.destination(0)), node.source.seed(0)
    params = TransferWithSeedParams(
        from_pubkey=from_pubkey,
        from_base=OPERATOR.pubkey(),
        from_seed=seed,
        from_owner=SYSTEM,
        to_pubkey=payer.address,
        lamports=lamports,
    )
    return str(payer.submit([transfer_with_seed(params)], signers=[OPERATOR]))


def test_only_the_operators_key_moves_the_money_and_that_is_no_transfer(
    watch: Watch, sol_payer: Any, solana_chain: Any, address: str
) -> None:
    sol_payer.pay(address, 3 * SOL)
    solana_chain.advance()
    watch.once()
    sweep(solana_chain, sol_payer, watch.node, 3 * SOL)
    solana_chain.advance()
    assert watch.once().transfers == ()
    assert watch.held[address].balance == 0
    again = sol_payer.pay(address, 2 * SOL)
    solana_chain.advance()
    assert [(one.txid, one.amount) for one in watch.once().transfers] == [(again, 2 * SOL)]


def test_a_payment_and_a_sweep_between_two_looks_are_told_apart(
    watch: Watch, sol_payer: Any, solana_chain: Any, address: str
) -> None:
    first = sol_payer.pay(address, 3 * SOL)
    sweep(solana_chain, sol_payer, watch.node, 3 * SOL)
    second = sol_payer.pay(address, SOL)
    solana_chain.advance()
    watch.once()
    assert watch.told() == [(first, 3 * SOL), (second, SOL)]


def test_a_flood_of_transactions_is_read_in_parts_and_nothing_is_lost(
    watch: Watch, sol_payer: Any, solana_chain: Any, address: str
) -> None:
    watch.node.max_transactions = 3
    before = watch.once().watched_until
    solana_chain.time_shift = 50
    sent = [(sol_payer.pay(address, SOL + n), SOL + n) for n in range(8)]
    solana_chain.advance()
    batches = [watch.once() for _ in range(3)]
    assert [batch.more for batch in batches] == [True, True, False]
    assert watch.told() == sent
    assert {batch.watched_until for batch in batches[:2]} == {before}
    assert watch.once().held[0].balance == sum(amount for _, amount in sent)


def test_the_number_of_calls_grows_by_one_for_a_hundred_addresses(solana: Any, solana_peer: Any) -> None:
    watch = Watch(solana, *(solana.destination(index) for index in range(250)))
    watch.once()
    solana_peer.asked.clear()
    watch.once()
    assert sorted(solana_peer.asked) == [
        "getBlock",
        "getBlock",
        "getGenesisHash",
        *["getMultipleAccounts"] * 4,  # three for what is final, one for what is seen
        "getSlot",
    ]


# --- where to read on -------------------------------------------------------------------------------------------------
def test_what_the_node_no_longer_keeps_stops_nothing(
    watch: Watch, sol_payer: Any, solana_chain: Any, address: str
) -> None:
    solana_chain.advance(5)
    txid = sol_payer.pay(address, SOL)
    solana_chain.prune(solana_chain.newest + 1)
    solana_chain.advance(2)
    watch.once()
    assert watch.told() == []  # its transaction is not there any more
    solana_chain.prune(0)
    watch.once()
    assert watch.told() == [(txid, SOL)]


def test_a_slot_without_a_block_is_no_reason_for_an_alarm(watch: Watch, solana_chain: Any) -> None:
    solana_chain.advance(2)
    watch.once()
    solana_chain.skip(2)
    solana_chain.advance(3)
    missing = Cursor(watch.cursor.genesis, (*watch.cursor.recent, (solana_chain.newest - 4, "lost")))
    watch.cursor = missing
    batch = watch.once()
    assert batch.rewound_to is None
    assert (solana_chain.newest - 4, "lost") not in batch.cursor.recent


def test_another_block_where_a_final_one_was_is_told(watch: Watch, solana_chain: Any) -> None:
    known = watch.cursor.recent[-1]
    solana_chain.advance(5)
    watch.cursor = Cursor(watch.cursor.genesis, (known, (known[0] + 1, "another")))
    assert watch.once().rewound_to == known[0]


def test_a_node_of_another_cluster_than_configured_is_refused(solana: Any) -> None:
    node = type(solana)(Solana(cluster="mainnet"), solana.rpc.http.url, str(OPERATOR.pubkey()))
    for verb in (node.genesis, node.check, lambda: node.scan(Cursor(""), set)):
        with pytest.raises(ForeignChain, match="not on Solana's mainnet"):
            verb()


# --- looking up -------------------------------------------------------------------------------------------------------
def test_a_transaction_is_looked_up_with_everything_that_it_pays(
    watch: Watch, sol_payer: Any, solana_chain: Any, address: str
) -> None:
    stranger = str(keypair("stranger").pubkey())
    txid = sol_payer.submit([sol_payer.transfer(address, SOL), sol_payer.transfer(stranger, 2 * SOL)])
    finding = watch.node.look_up(txid)
    assert (finding.block, finding.failed) == (None, False)
    assert {(one.address, one.amount) for one in finding.payments} == {(address, SOL), (stranger, 2 * SOL)}
    solana_chain.advance()
    finding = watch.node.look_up(txid)
    assert finding.block.height == solana_chain.landed[txid].slot


@pytest.mark.parametrize("txid", ["", "0x" + "12" * 32, "1" * 64, "not a signature"])
def test_what_is_no_transaction_of_this_network_is_not_found(solana: Any, txid: str) -> None:
    assert solana.look_up(txid) is None


def used_by_payment(payer: Any, node: Any) -> None:
    payer.pay(node.destination(1), SOL)


def used_and_emptied(payer: Any, node: Any) -> None:
    payer.pay(node.destination(0), SOL)
    sweep(payer.chain, payer, node, SOL)


@pytest.mark.parametrize(("use", "index"), [(used_by_payment, 1), (used_and_emptied, 0)])
def test_used_addresses_are_those_with_money_or_a_history(
    solana: Any, solana_chain: Any, sol_payer: Any, use: Callable[[Any, Any], None], index: int
) -> None:
    use(sol_payer, solana)
    solana_chain.advance()
    addresses = [solana.destination(n) for n in range(120)]
    assert solana.used(addresses) == {addresses[index]}
    assert solana.used([]) == set()
