"""Ethereum, the half that talks to a node: whole blocks for ETH, logs of the pinned contracts by block hash for tokens.

Per block two calls whatever the number of addresses, and one more for each transaction that pays us. Answers are read
as they are: library decoders would cost fifty times the time.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

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
from .ethereum import Ethereum
from .rpc import Rpc, RpcError

TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"  # Transfer(address,address,uint256)
DECIMALS = "0x313ce567"  # decimals()
VALUE = "value"
Json = dict[str, Any]


class EthereumNode:
    """Reads one chain through one JSON-RPC endpoint. `xpub` is the operator's account-level public key."""

    def __init__(self, family: Ethereum, rpc_url: str, xpub: str, timeout: float = 10.0, max_blocks: int = 50) -> None:
        hd.receiving(xpub)  # a wrong key is refused at start, not at the first address
        self.family = family
        self.rpc = Rpc(family.name, rpc_url, HTTPProvider(rpc_url), timeout)
        self.xpub = xpub
        self.max_blocks = max_blocks
        self.tokens = {asset.contract: asset for asset in family.assets if asset.contract}
        self.coin = next(asset for asset in family.assets if asset.contract is None)

    def genesis(self) -> str:
        """Return the hash of block 0 and the chain id. ForeignChain if the node is on another chain than configured."""
        with self._reading("its chain id and first block"):
            number, block = self.rpc.batch([("eth_chainId", []), ("eth_getBlockByNumber", ["0x0", False])])
            if block is None:
                raise Unavailable(f"{self.rpc.node} does not know the first block yet.")
            chain_id, first = _number(number), block["hash"].lower()
        if chain_id != self.family.chain_id:
            raise ForeignChain(
                f"{self.rpc.node} is on chain {chain_id}, this installation is for {self.family.chain_id}."
            )
        return f"{first}:{chain_id}"

    def head(self) -> Block:
        """Return the newest block."""
        return self._header("latest")

    def scan(self, cursor: Cursor, match: Match, held: Sequence[Held] = ()) -> Batch:
        """Read on from the cursor, at most `max_blocks` blocks. Transfers in the pool are not reported."""
        genesis = self.genesis()
        check_genesis(self.family.name, cursor, genesis)
        head = self.head()
        start = find_start(self.family.name, cursor, head, lambda height: self._header(hex(height)))
        transfers, tip = self._read_blocks(start, head, match)
        return Batch(
            cursor=Cursor(genesis, tuple(start.recent.blocks)),
            transfers=tuple(transfers),
            watched_until=tip.time,
            head=head.height,
            rewound_to=start.rewound_to,
            more=tip.height < head.height,
        )

    def confirm(self, keys: Sequence[Key]) -> list[Confirmation | Replaced | None]:
        """Read the receipt of each transfer again: its status, its block and what it paid to whom."""
        if not keys:
            return []
        head, finalized = self.head().height, self._finalized_height()
        with self._reading("receipts"):
            receipts = self._receipts([key.txid for key in keys])
            mined = {txid: receipt for txid, receipt in receipts.items() if receipt is not None}
            blocks = self._canonical({_number(receipt["blockNumber"]) for receipt in mined.values()})
            paid = self._coins_paid([key.txid for key in keys if key.position == VALUE and key.txid in mined])
            return [
                self._confirmation(key, mined[key.txid], blocks, paid, head, finalized) if key.txid in mined else None
                for key in keys
            ]

    def look_up(self, txid: str) -> Finding | None:
        """Return what the node says about a transaction."""
        raise NotImplementedError  # comes with the completed adapter

    def used(self, addresses: Sequence[str]) -> set[str]:
        """Return those that hold something or sent something."""
        raise NotImplementedError  # comes with the completed adapter

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
            with self._reading(f"the contract of {asset.symbol}"):
                code = self.rpc.call("eth_getCode", contract, "latest")
                if len(code) <= 2:
                    raise BadAnswer(f"There is no contract of {asset.symbol} at {contract} on this chain.")
                decimals = _number(self.rpc.call("eth_call", {"to": contract, "data": DECIMALS}, "latest"))
            if decimals != asset.decimals:
                raise BadAnswer(
                    f"The contract of {asset.symbol} at {contract} has {decimals} decimals, not {asset.decimals}."
                )

    # --- reading blocks -------------------------------------------------------------------------------------------
    def _read_blocks(self, start: Start, head: Block, match: Match) -> tuple[list[Transfer], Block]:
        tip, transfers = start.tip, []
        for height in range(start.next_height, min(head.height, start.next_height + self.max_blocks - 1) + 1):
            with self._reading(f"block {height}"):
                raw, block = self._block_after(tip, height)
                coins, logs = _coins(raw), self._logs(block)
            payees = {payee for payee, _ in coins} | {payee for payee, _ in logs}
            ours = match(payees) if payees else set()
            if ours:
                with self._reading(f"receipts of block {height}"):
                    found_coins = [tx for payee, tx in coins if payee in ours]
                    found_logs = [log for payee, log in logs if payee in ours]
                    transfers += self._transfers(raw, block, found_coins, found_logs)
            start.recent.add(block.height, block.hash)
            tip = block
        return transfers, tip or head

    def _block_after(self, tip: Block | None, height: int) -> tuple[Json, Block]:
        raw = self._raw_block(hex(height), full=True)
        block = _block(raw)
        if block.height != height:
            raise BadAnswer(f"{self.rpc.node} gave block {block.height} when asked for {height}.")
        if tip and raw["parentHash"].lower() != tip.hash:
            raise Unavailable(self._changed(height))
        if tip and block.time < tip.time:
            raise BadAnswer(f"{self.rpc.node} says that block {height} is older than the one before it.")
        return raw, block

    def _transfers(self, raw: Json, block: Block, coins: list[Json], logs: list[Json]) -> list[Transfer]:
        receipts = self._receipts_in(block, raw, coins, logs)
        paid = [tx for tx in coins if _number(receipts[tx["hash"].lower()]["status"]) == 1]
        return [self._coin_transfer(tx, block) for tx in paid] + [
            self._token_transfer(log, receipts[log["transactionHash"].lower()], block) for log in logs
        ]

    def _logs(self, block: Block) -> list[tuple[str, Json]]:
        """Return payee and log of each transfer of the pinned tokens in this block; every log is checked to be one."""
        wanted = {"blockHash": block.hash, "address": list(self.tokens), "topics": [TRANSFER]}
        found = []
        for log in _list(self.rpc.call("eth_getLogs", wanted)):
            topics, data = log["topics"], log["data"]
            if log["blockHash"].lower() != block.hash or _number(log["blockNumber"]) != block.height:
                raise BadAnswer(f"{self.rpc.node} gave a log of another block than {block.height}.")
            if log["address"].lower() not in self.tokens or topics[0].lower() != TRANSFER:
                raise BadAnswer(f"{self.rpc.node} gave a log of block {block.height} that was not asked for.")
            if len(topics) != 3 or len(topics[2]) != 66 or len(data) != 66:
                raise BadAnswer(f"{self.rpc.node} gave a transfer log of another shape in block {block.height}.")
            if not log.get("removed") and _number(data):
                found.append((_payee(log), log))
        return found

    def _receipts_in(self, block: Block, raw: Json, coins: list[Json], logs: list[Json]) -> dict[str, Json]:
        wanted = [tx["hash"].lower() for tx in coins] + [log["transactionHash"].lower() for log in logs]
        in_block = {tx["hash"].lower() for tx in raw["transactions"]}
        receipts = self._receipts(wanted)
        for txid, receipt in receipts.items():
            if txid not in in_block:
                raise BadAnswer(
                    f"{self.rpc.node} gave a log of transaction {txid}, which is not in block {block.height}."
                )
            if receipt is None or receipt["blockHash"].lower() != block.hash:
                raise Unavailable(self._changed(block.height))
        return {txid: receipt for txid, receipt in receipts.items() if receipt is not None}

    def _coin_transfer(self, tx: Json, block: Block) -> Transfer:
        amount = _number(tx["value"])
        return Transfer(tx["hash"].lower(), VALUE, tx["to"].lower(), amount, self.coin.method, None, block)

    def _token_transfer(self, log: Json, receipt: Json, block: Block) -> Transfer:
        """Name the log by its place in its own receipt: `logIndex` counts in the block and moves in a reorg."""
        places = [n for n, other in enumerate(receipt["logs"]) if other["logIndex"] == log["logIndex"]]
        if len(places) != 1 or _content(receipt["logs"][places[0]]) != _content(log):
            raise BadAnswer(f"{self.rpc.node} tells log {log['logIndex']} of block {block.height} in two ways.")
        contract, address, amount = _content(log)
        method = self.tokens[contract].method
        return Transfer(log["transactionHash"].lower(), f"log:{places[0]}", address, amount, method, contract, block)

    # --- reading again --------------------------------------------------------------------------------------------
    def _confirmation(
        self, key: Key, receipt: Json, blocks: dict[int, Block], paid: dict[str, tuple[str, int]], head: int, final: int
    ) -> Confirmation | None:
        height = _number(receipt["blockNumber"])
        if _number(receipt["status"]) != 1 or blocks[height].hash != receipt["blockHash"].lower():
            return None
        seen = ("", *paid[key.txid]) if key.position == VALUE else _content_at(receipt, key.position)
        if seen != (key.contract or "", key.address, key.amount):
            return None
        return Confirmation(blocks[height], max(head - height + 1, 1), finalized=height <= final)

    def _coins_paid(self, txids: list[str]) -> dict[str, tuple[str, int]]:
        txids = list(dict.fromkeys(txids))
        found = self.rpc.batch([("eth_getTransactionByHash", [txid]) for txid in txids])
        if None in found:
            raise Unavailable(f"The {self.family.name} chain changed while it was read.")
        return {txid: ((tx["to"] or "").lower(), _number(tx["value"])) for txid, tx in zip(txids, found, strict=True)}

    def _canonical(self, heights: set[int]) -> dict[int, Block]:
        raws = self.rpc.batch([("eth_getBlockByNumber", [hex(height), False]) for height in sorted(heights)])
        if None in raws:
            raise Unavailable(f"{self.rpc.node} does not know one of the blocks {min(heights)} to {max(heights)}.")
        return {block.height: block for block in map(_block, raws)}

    def _receipts(self, txids: Sequence[str]) -> dict[str, Json | None]:
        txids = list(dict.fromkeys(txids))
        found = self.rpc.batch([("eth_getTransactionReceipt", [txid]) for txid in txids])
        for txid, receipt in zip(txids, found, strict=True):
            if receipt is not None and receipt["transactionHash"].lower() != txid:
                raise BadAnswer(f"{self.rpc.node} gave the receipt of another transaction than {txid}.")
        return dict(zip(txids, found, strict=True))

    def _finalized_height(self) -> int:
        """Return the height of the newest finalized block; -1 if the node knows none yet."""
        try:
            raw = self.rpc.call("eth_getBlockByNumber", "finalized", False)
        except RpcError:
            return -1  # how nodes say it before the first one, and those that do not follow finality at all
        with self._reading("the finalized block"):
            return -1 if raw is None else _number(raw["number"])

    # --- one answer -----------------------------------------------------------------------------------------------
    def _header(self, which: str) -> Block:
        with self._reading(f"block {which}"):
            return _block(self._raw_block(which, full=False))

    def _raw_block(self, which: str, *, full: bool) -> Json:
        raw = self.rpc.call("eth_getBlockByNumber", which, full)
        if raw is None:
            raise Unavailable(f"{self.rpc.node} does not know block {which}.")
        return raw  # type: ignore[no-any-return]

    def _changed(self, height: int) -> str:
        return f"The {self.family.name} chain changed at block {height} while it was read."

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """Turn an answer of another shape than agreed into BadAnswer."""
        try:
            yield
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise BadAnswer(f"{self.rpc.node} gave {what} in a shape that can't be right: {error!r:.200}") from error


def _number(text: str) -> int:
    """Read a quantity or a word: at most 256 bits, never negative."""
    if not text.startswith("0x") or len(text) > 66:
        raise ValueError(f"{text!r:.80} is no number")
    return int(text, 16)


def _list(answer: Any) -> list[Json]:
    if not isinstance(answer, list):
        raise TypeError(f"{answer!r:.80} is no list")
    return answer


def _block(raw: Json) -> Block:
    time = datetime.fromtimestamp(_number(raw["timestamp"]), UTC)
    return Block(_number(raw["number"]), raw["hash"].lower(), time)


def _coins(raw: Json) -> list[tuple[str, Json]]:
    """Return payee and transaction of each that carries the coin itself."""
    return [(tx["to"].lower(), tx) for tx in _list(raw["transactions"]) if tx["to"] and tx["value"] != "0x0"]


def _payee(log: Json) -> str:
    return "0x" + str(log["topics"][2][26:]).lower()  # an address is the last 20 of a topic's 32 bytes


def _content(log: Json) -> tuple[str, str, int]:
    return log["address"].lower(), _payee(log), _number(log["data"])


def _content_at(receipt: Json, position: str) -> tuple[str, str, int] | None:
    place = int(position.removeprefix("log:"))
    logs = receipt["logs"]
    if place >= len(logs) or logs[place]["topics"][:1] != [TRANSFER] or len(logs[place]["topics"]) != 3:
        return None
    return _content(logs[place])
