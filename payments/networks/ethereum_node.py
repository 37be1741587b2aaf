"""Ethereum, the half that talks to a node: whole blocks for ETH, their logs for tokens, their traces for inner calls.

Per block at most three calls whatever the number of addresses, and one more for each transaction that pays us. Answers
are read as they are: library decoders would cost fifty times the time.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress

from web3 import HTTPProvider

from payments import hd

from .base import (
    BadAnswer,
    Batch,
    Block,
    Confirmation,
    Cursor,
    Finding,
    ForeignChain,
    Held,
    Key,
    Match,
    Replaced,
    Transfer,
    Unavailable,
)
from .chain_walk import Start, check_genesis, find_start
from .ethereum import LOOKS_PER_PASS, Ethereum
from .ethereum_answers import (
    VALUE,
    Json,
    Pruned,
    block_of,
    coins_in,
    content_at,
    cost_of,
    is_transfer,
    number,
    sent_by,
)
from .ethereum_purses import Purses, mark_of
from .ethereum_reader import PastLogs, Reader
from .ethereum_traces import Traces
from .rpc import Rpc, RpcError

log = logging.getLogger(__name__)
DECIMALS = "0x313ce567"  # decimals()
BALANCE_OF = "0x70a08231"  # balanceOf(address)
CALL, BALANCE = "call:", "balance:"
STRIDE = 10  # whole blocks in one request, a few megabytes
STRANGERS = 50  # payments in unknown tokens told per block: making them up costs next to nothing
Paid = tuple[str, str, int]  # contract or "", payee, amount
UNREADABLE: Paid = ("", "", -1)  # where no trace is to be had


class EthereumNode:
    """Reads one chain through one JSON-RPC endpoint. `xpub` is the operator's account-level public key."""

    def __init__(
        self,
        family: Ethereum,
        rpc_url: str,
        xpub: str,
        timeout: float = 10.0,
        max_blocks: int = 100,
        traces: bool = True,
    ) -> None:
        hd.receiving(xpub)  # a wrong key is refused at start, not at the first address
        self.family = family
        self.rpc = Rpc(family.name, rpc_url, HTTPProvider(rpc_url), timeout)
        self.reader = Reader(family, self.rpc, Traces(self.rpc, rpc_url, wanted=traces))
        self.tokens = self.reader.tokens
        self.xpub = xpub
        self.max_blocks = max_blocks

    def genesis(self) -> str:
        """Return the hash of block 0 and the chain id. ForeignChain if the node is on another chain than configured."""
        with self.reader.reading("its chain id and first block"):
            chain, block = self.rpc.batch([("eth_chainId", []), ("eth_getBlockByNumber", ["0x0", False])])
            if block is None:
                raise Unavailable(f"{self.rpc.node} does not know the first block yet.")
            chain_id, first = number(chain), block["hash"].lower()
        if chain_id != self.family.chain_id:
            raise ForeignChain(
                f"{self.rpc.node} is on chain {chain_id}, this installation is for {self.family.chain_id}."
            )
        return f"{first}:{chain_id}"

    def head(self) -> Block:
        """Return the newest block."""
        return self.reader.header("latest")

    def scan(self, cursor: Cursor, match: Match, held: Sequence[Held] = ()) -> Batch:
        """Read on from the cursor, at most `max_blocks` blocks, and look at the addresses handed in. Transfers in the
        pool are not reported."""
        genesis = self.genesis()
        check_genesis(self.family.name, cursor, genesis)
        head = self.head()
        start = find_start(self.family.name, cursor, head, lambda height: self.reader.header(hex(height)))
        purses = Purses(held[:LOOKS_PER_PASS], start.tip)
        transfers, tip = self._read_blocks(start, head, match, purses)
        unexplained, now_held = self._look(purses, start.tip, tip, head) if held else ([], ())
        return Batch(
            cursor=Cursor(genesis, tuple(start.recent.blocks)),
            transfers=(*transfers, *unexplained),
            watched_until=tip.time,
            head=head.height,
            rewound_to=start.rewound_to,
            more=tip.height < head.height,
            held=now_held,
        )

    def confirm(self, keys: Sequence[Key]) -> list[Confirmation | Replaced | None]:
        """Read the receipt of each transfer again: its status, its block and what it paid to whom.

        A transaction in no block may be back in the pool. What can't be read again because there are no traces stays
        where it is, with no confirmations.
        """
        if not keys:
            return []
        head, final = self.head().height, self.reader.finalized_height()
        with self.reader.reading("receipts"):
            receipts = self.reader.receipts([key.txid for key in keys if not key.position.startswith(BALANCE)])
            mined = {txid: receipt for txid, receipt in receipts.items() if receipt is not None}
            blocks = self.reader.canonical({number(receipt["blockNumber"]) for receipt in mined.values()})
            paid = self._paid_again([key for key in keys if key.txid in mined], mined)
            waiting = self._waiting([txid for txid, receipt in receipts.items() if receipt is None])
            return [
                self._confirm_balance(key, head, final)
                if key.position.startswith(BALANCE)
                else self._confirmation(key, mined[key.txid], blocks, paid, head, final)
                if key.txid in mined
                else waiting.get(key.txid)
                for key in keys
            ]

    def look_up(self, txid: str) -> Finding | None:
        """Return what the node says about a transaction, with everything it pays to anybody."""
        with self.reader.reading(f"transaction {txid}"):
            tx, receipt = self.rpc.batch([("eth_getTransactionByHash", [txid]), ("eth_getTransactionReceipt", [txid])])
            if tx is None:
                return None
            if receipt is None:
                return Finding(txid, None, False, tuple(self._coin_of(tx, None)), low_fee=self._offers_too_little(tx))
            block = self.reader.canonical({number(receipt["blockNumber"])})[number(receipt["blockNumber"])]
            if block.hash != receipt["blockHash"].lower():
                raise Unavailable(self.reader.changed(block.height))
            if number(receipt["status"]) != 1:
                return Finding(txid, block, True, ())
            return Finding(txid, block, False, tuple(self._everything(tx, receipt, block)))

    def used(self, addresses: Sequence[str]) -> set[str]:
        """Return those that hold ETH or a pinned token, or ever sent a transaction. What came and went is not seen."""
        asked = list(dict.fromkeys(addresses))
        with self.reader.reading("balances"):
            found = self.reader.with_balance(asked)
            calls = [(one, "eth_getTransactionCount", [one, "latest"]) for one in asked] + [
                (one, "eth_call", [{"to": token, "data": BALANCE_OF + one[2:].rjust(64, "0")}, "latest"])
                for token in self.tokens
                for one in asked
            ]
            answers = self.rpc.batch([(method, params) for _, method, params in calls])
            return found | {one for (one, _, _), answer in zip(calls, answers, strict=True) if number(answer)}

    def destination(self, index: int) -> str:
        """Derive the receiving address with this index."""
        return hd.destination(self.xpub, index)

    def key_fingerprint(self) -> str:
        """Return a short name of the operator's key."""
        return hd.fingerprint(self.xpub)

    def check(self) -> None:
        """Check chain id, code and decimals of the pinned contracts. BadAnswer names the one that is wrong."""
        self.genesis()
        for contract, asset in self.tokens.items():
            with self.reader.reading(f"the contract of {asset.symbol}"):
                code = self.rpc.call("eth_getCode", contract, "latest")
                if len(code) <= 2:
                    raise BadAnswer(f"There is no contract of {asset.symbol} at {contract} on this chain.")
                decimals = number(self.rpc.call("eth_call", {"to": contract, "data": DECIMALS}, "latest"))
            if decimals != asset.decimals:
                raise BadAnswer(
                    f"The contract of {asset.symbol} at {contract} has {decimals} decimals, not {asset.decimals}."
                )

    # --- reading blocks -------------------------------------------------------------------------------------------
    def _read_blocks(self, start: Start, head: Block, match: Match, purses: Purses) -> tuple[list[Transfer], Block]:
        tip, transfers = start.tip, []
        last = min(head.height, start.next_height + self.max_blocks - 1)
        past = self._past_logs(start.next_height, last)
        for first in range(start.next_height, last + 1, STRIDE):
            heights = range(first, min(first + STRIDE, last + 1))
            with self.reader.reading(f"blocks {first} to {heights[-1]}"):
                raws = self.reader.whole(heights)
            for height, raw in zip(heights, raws, strict=True):
                found, tip = self._read_block(tip, height, raw, past, match, purses)
                transfers += found
                start.recent.add(tip.height, tip.hash)
        return transfers, tip or head

    def _past_logs(self, first: int, last: int) -> PastLogs | None:
        """Read logs of many blocks at once when far behind, but only of blocks that are final."""
        if last - first < STRIDE:
            return None
        final = min(last, self.reader.finalized_height())
        return PastLogs(self.reader.logs_between, final) if final > first else None

    def _read_block(
        self, tip: Block | None, height: int, raw: Json, past: PastLogs | None, match: Match, purses: Purses
    ) -> tuple[list[Transfer], Block]:
        reader = self.reader
        with reader.reading(f"block {height}"):
            block, coins = reader.follow(tip, raw, height), coins_in(raw)
            logs = past.of(height) if past and height <= past.last else reader.logs_of(block)
            tokens = reader.payments(logs, block)
            inner = reader.traces.in_block(block, [tx["hash"].lower() for tx in raw["transactions"]])
            spent = sent_by(raw, purses.senders)
        payees = {payee for payee, _ in coins} | {payee for payee, _ in tokens} | {one.address for one in inner}
        ours = match(payees) if payees else set()
        found = [reader.inner_transfer(one, block) for one in inner if one.address in ours]
        our_coins = [tx for payee, tx in coins if payee in ours]
        our_logs = [log for payee, log in tokens if payee in ours]
        if our_coins or our_logs or spent:
            with reader.reading(f"receipts of block {height}"):
                found = self._transfers(raw, block, our_coins, self._bounded(our_logs), spent, purses) + found
        purses.receive(found)
        return found, block

    def _bounded(self, logs: list[Json]) -> list[Json]:
        known = [log for log in logs if log["address"].lower() in self.tokens]
        strange = [log for log in logs if log["address"].lower() not in self.tokens]
        return known + strange[:STRANGERS]

    def _transfers(
        self, raw: Json, block: Block, coins: list[Json], logs: list[Json], spent: list[Json], purses: Purses
    ) -> list[Transfer]:
        txids = [tx["hash"].lower() for tx in coins + spent] + [log["transactionHash"].lower() for log in logs]
        receipts = self.reader.receipts_in(block, raw, txids)
        for tx in spent:
            purses.spend(tx["from"].lower(), cost_of(tx, receipts[tx["hash"].lower()]))
        paid = [tx for tx in coins if number(receipts[tx["hash"].lower()]["status"]) == 1]
        return [self.reader.coin_transfer(tx, block) for tx in paid] + [
            self.reader.token_transfer(log, receipts[log["transactionHash"].lower()], block) for log in logs
        ]

    # --- looking at addresses -------------------------------------------------------------------------------------
    def _look(
        self, purses: Purses, start: Block | None, tip: Block, head: Block
    ) -> tuple[list[Transfer], tuple[Held, ...]]:
        """Compare what the addresses hold with what they should hold, once per pass and only when it read to the head:
        nodes forget soon what was held at older blocks. A node that refuses stops nothing: what is expected is carried
        on to the next pass, and what was held before is judged from then on."""
        if start is None or tip == start:
            return [], ()
        if tip.height < head.height:
            return [], purses.carry(tip)
        try:
            if purses.unknown:
                with suppress(RpcError):
                    purses.tell(purses.unknown, self.reader.balances(purses.unknown, start))
            balances = self.reader.balances(purses.addresses, tip)
        except RpcError as error:
            log.warning("Balances are not looked at: %s", error)
            return [], purses.carry(tip)
        grown = purses.compare(purses.addresses, balances, tip, self.reader.coin)
        looked = zip(purses.addresses, balances, strict=True)
        return grown, tuple(Held(address, balance, mark_of(tip)) for address, balance in looked)

    # --- reading again --------------------------------------------------------------------------------------------
    def _confirmation(
        self,
        key: Key,
        receipt: Json,
        blocks: dict[int, Block],
        paid: dict[tuple[str, str], Paid | None],
        head: int,
        final: int,
    ) -> Confirmation | None:
        if number(receipt["status"]) != 1:
            return None
        block = blocks[number(receipt["blockNumber"])]
        if block.hash != receipt["blockHash"].lower():
            return None
        seen = paid[key.txid, key.position]
        if seen is UNREADABLE:
            return Confirmation(block, 0, finalized=False)
        if seen != (key.contract or "", key.address, key.amount):
            return None
        return Confirmation(block, max(head - block.height + 1, 1), finalized=block.height <= final)

    def _waiting(self, txids: Sequence[str]) -> dict[str, Confirmation]:
        """Return those of these transactions that are in the pool."""
        found = self.rpc.batch([("eth_getTransactionByHash", [txid]) for txid in txids])
        waits = [txid for txid, tx in zip(txids, found, strict=True) if tx is not None and tx["blockNumber"] is None]
        return dict.fromkeys(waits, Confirmation(None, 0, finalized=False))

    def _paid_again(self, keys: Sequence[Key], receipts: dict[str, Json]) -> dict[tuple[str, str], Paid | None]:
        """Return (contract or "", payee, amount) of what each key names; none if there is no such payment now."""
        coins = self._coins_paid([key.txid for key in keys if key.position == VALUE])
        inner = self._inner_paid([key.txid for key in keys if key.position.startswith(CALL)])
        paid: dict[tuple[str, str], Paid | None] = {}
        for key in keys:
            if key.position == VALUE:
                paid[key.txid, key.position] = coins[key.txid]
            elif key.position.startswith(CALL):
                paid[key.txid, key.position] = UNREADABLE if inner is None else inner.get((key.txid, key.position))
            else:
                paid[key.txid, key.position] = content_at(receipts[key.txid], key.position)
        return paid

    def _coins_paid(self, txids: Sequence[str]) -> dict[str, Paid]:
        asked = list(dict.fromkeys(txids))
        found = self.rpc.batch([("eth_getTransactionByHash", [txid]) for txid in asked])
        if None in found:
            raise Unavailable(f"The {self.family.name} chain changed while it was read.")
        return {
            txid: ("", (tx["to"] or "").lower(), number(tx["value"])) for txid, tx in zip(asked, found, strict=True)
        }

    def _inner_paid(self, txids: Sequence[str]) -> dict[tuple[str, str], Paid] | None:
        """Trace transactions again; none where no trace is to be had."""
        traced = self.reader.traces.of(list(dict.fromkeys(txids))) if txids else {}
        if traced is None:
            return None
        return {(one.txid, one.position): ("", one.address, one.amount) for those in traced.values() for one in those}

    def _confirm_balance(self, key: Key, head: int, final: int) -> Confirmation | None:
        """Tell whether the block at which a balance had grown is on the chain, and whether the address held it there.
        The block's hash stands for the same balance for ever, also when the node does not know it any more."""
        raw = self.rpc.call("eth_getBlockByHash", key.txid, False)
        if raw is None:
            return None
        block = block_of(raw)
        if self.reader.canonical([block.height])[block.height] != block:
            return None
        with suppress(Pruned):
            (balance,) = self.reader.balances([key.address], block)
            if balance < key.amount:
                return None
        return Confirmation(block, max(head - block.height + 1, 1), finalized=block.height <= final)

    # --- one transaction ------------------------------------------------------------------------------------------
    def _everything(self, tx: Json, receipt: Json, block: Block) -> list[Transfer]:
        txid, reader = receipt["transactionHash"].lower(), self.reader
        inner = (reader.traces.of([txid]) or {}).get(txid, [])
        tokens = [log for log in receipt["logs"] if is_transfer(log) and number(log["data"])]
        return (
            self._coin_of(tx, block)
            + [reader.inner_transfer(one, block) for one in inner]
            + [reader.token_transfer(log, receipt, block) for log in tokens]
        )

    def _coin_of(self, tx: Json, block: Block | None) -> list[Transfer]:
        return [self.reader.coin_transfer(tx, block)] if tx["to"] and number(tx["value"]) else []

    def _offers_too_little(self, tx: Json) -> bool:
        """Tell whether a waiting transaction offers less per gas than the newest block took."""
        head = self.rpc.call("eth_getBlockByNumber", "latest", False)
        offered = tx.get("maxFeePerGas") or tx["gasPrice"]
        return number(offered) < number(head["baseFeePerGas"])
