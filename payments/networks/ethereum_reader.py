"""What is asked of an Ethereum node, each answer checked before anybody uses it.

Nothing here decides where to read on or what a transfer is worth; `ethereum_node.py` does, through this.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .base import Asset, BadAnswer, Block, Transfer, Unavailable
from .ethereum import LOOKS_PER_PASS, Ethereum
from .ethereum_answers import (
    NOT_OFFERED_CODES,
    PRUNED,
    TRANSFER,
    VALUE,
    WRONG_SHAPE,
    Json,
    Pruned,
    as_list,
    block_of,
    content,
    number,
    payments_in,
    place_in,
    words,
)
from .ethereum_purses import look_code
from .ethereum_traces import Inner, Traces
from .http import HttpStatus
from .rpc import Rpc, RpcError

SPAN = 16  # blocks whose logs are asked for in one request at first; more as long as the answers are short
LONGEST_SPAN = 500
SHORT_ANSWER = 2500  # logs; many providers refuse more than 10,000


class Reader:
    """One node of one chain."""

    def __init__(self, family: Ethereum, rpc: Rpc, traces: Traces) -> None:
        self.family = family
        self.rpc = rpc
        self.traces = traces
        self.tokens: dict[str, Asset] = {asset.contract: asset for asset in family.assets if asset.contract}
        self.coin = next(asset for asset in family.assets if asset.contract is None)

    @contextmanager
    def reading(self, what: str) -> Iterator[None]:
        """Turn an answer of another shape than agreed into BadAnswer, and say what an operator can do if the node
        threw away what is needed."""
        try:
            yield
        except WRONG_SHAPE as error:
            raise BadAnswer(f"{self.rpc.node} gave {what} in a shape that can't be right: {error!r:.200}") from error
        except RpcError as error:
            if PRUNED.search(str(error)):
                said = f"{error} It keeps too little of the past: sync it anew, or use a full node."
                raise Pruned(said, error.code) from error
            raise

    def changed(self, height: int) -> str:
        return f"The {self.family.name} chain changed at block {height} while it was read."

    # --- blocks ---------------------------------------------------------------------------------------------------
    def header(self, which: str) -> Block:
        """Return a block's place: "latest", or a height in hex."""
        with self.reading(f"block {which}"):
            return block_of(self._known(which, self.rpc.call("eth_getBlockByNumber", which, False)))

    def whole(self, heights: Sequence[int]) -> list[Json]:
        """Return blocks with their transactions, in one request."""
        raws = self.rpc.batch([("eth_getBlockByNumber", [hex(height), True]) for height in heights])
        return [self._known(str(height), raw) for height, raw in zip(heights, raws, strict=True)]

    def canonical(self, heights: Iterable[int]) -> dict[int, Block]:
        """Return the blocks at these heights as the chain is now."""
        asked = sorted(set(heights))
        raws = self.rpc.batch([("eth_getBlockByNumber", [hex(height), False]) for height in asked])
        return {height: block_of(self._known(str(height), raw)) for height, raw in zip(asked, raws, strict=True)}

    def finalized_height(self) -> int:
        """Return the height of the newest finalized block; -1 if the node knows none yet."""
        try:
            raw = self.rpc.call("eth_getBlockByNumber", "finalized", False)
        except RpcError:
            return -1  # how nodes say it before the first one, and those that do not follow finality at all
        with self.reading("the finalized block"):
            return -1 if raw is None else number(raw["number"])

    def follow(self, tip: Block | None, raw: Json, height: int) -> Block:
        """Return the place of a block that was asked for as the one after `tip`."""
        block = block_of(raw)
        if block.height != height:
            raise BadAnswer(f"{self.rpc.node} gave block {block.height} when asked for {height}.")
        if tip and raw["parentHash"].lower() != tip.hash:
            raise Unavailable(self.changed(height))
        if tip and block.time < tip.time:
            raise BadAnswer(f"{self.rpc.node} says that block {height} is older than the one before it.")
        return block

    def _known(self, which: str, raw: Any) -> Json:
        if raw is None:
            raise Unavailable(f"{self.rpc.node} does not know block {which}.")
        return raw  # type: ignore[no-any-return]

    # --- what is in them ------------------------------------------------------------------------------------------
    def receipts(self, txids: Iterable[str]) -> dict[str, Json | None]:
        """Return the receipt of each transaction; none for those in no block."""
        asked = list(dict.fromkeys(txids))
        found = self.rpc.batch([("eth_getTransactionReceipt", [txid]) for txid in asked])
        for txid, receipt in zip(asked, found, strict=True):
            if receipt is not None and receipt["transactionHash"].lower() != txid:
                raise BadAnswer(f"{self.rpc.node} gave the receipt of another transaction than {txid}.")
        return dict(zip(asked, found, strict=True))

    def receipts_in(self, block: Block, raw: Json, txids: Iterable[str]) -> dict[str, Json]:
        """Return the receipts of transactions of one block."""
        in_block = {tx["hash"].lower() for tx in raw["transactions"]}
        receipts = self.receipts(txids)
        for txid, receipt in receipts.items():
            if txid not in in_block:
                raise BadAnswer(
                    f"{self.rpc.node} gave a log of transaction {txid}, which is not in block {block.height}."
                )
            if receipt is None or receipt["blockHash"].lower() != block.hash:
                raise Unavailable(self.changed(block.height))
        return {txid: receipt for txid, receipt in receipts.items() if receipt is not None}

    def payments(self, logs: list[Json], block: Block) -> list[tuple[str, Json]]:
        """Return payee and log of each token payment among these logs."""
        return payments_in(logs, block, self.tokens, self.rpc.node)

    def logs_of(self, block: Block) -> list[Json]:
        """Return the logs of all token payments of one block, by its hash: a node that lags can't answer "none"."""
        return as_list(self._logs([("eth_getLogs", [{"blockHash": block.hash, "topics": [TRANSFER]}])])[0])

    def logs_between(self, first: int, last: int) -> list[Json]:
        """Return those of several blocks that are final for the very node that answers."""
        wanted = {"fromBlock": hex(first), "toBlock": hex(last), "topics": [TRANSFER]}
        final, logs = self._logs([("eth_getBlockByNumber", ["finalized", False]), ("eth_getLogs", [wanted])])
        if number(self._known("finalized", final)["number"]) < last:
            raise Unavailable(f"{self.rpc.node} is behind: it does not call block {last} final any more.")
        for log in as_list(logs):
            if not first <= number(log["blockNumber"]) <= last:
                raise BadAnswer(f"{self.rpc.node} gave a log of another block than {first} to {last}.")
        return as_list(logs)

    def _logs(self, requests: list[tuple[str, Sequence[Any]]]) -> list[Any]:
        try:
            return self.rpc.batch(requests)
        except (HttpStatus, RpcError) as error:
            if getattr(error, "status", 0) in (401, 403) or getattr(error, "code", 0) in NOT_OFFERED_CODES:
                raise NoLogs(
                    f"{error} It refuses logs (eth_getLogs), and without them tokens can't be seen: use another node."
                ) from error
            raise

    def balances(self, addresses: Sequence[str], block: Block | None = None) -> list[int]:
        """Return what up to 768 addresses hold at a block, or now, by one call."""
        at = {"blockHash": block.hash} if block else "latest"
        with self.reading("balances"):
            return list(words(self.rpc.call("eth_call", {"data": look_code(addresses)}, at), len(addresses)))

    def with_balance(self, addresses: Sequence[str]) -> set[str]:
        """Return those that hold something now."""
        found: set[str] = set()
        for start in range(0, len(addresses), LOOKS_PER_PASS):
            some = addresses[start : start + LOOKS_PER_PASS]
            found |= {one for one, balance in zip(some, self.balances(some), strict=True) if balance}
        return found

    # --- transfers ------------------------------------------------------------------------------------------------
    def coin_transfer(self, tx: Json, block: Block | None) -> Transfer:
        """Return the transfer of a transaction that carries the coin itself."""
        amount = number(tx["value"])
        return Transfer(tx["hash"].lower(), VALUE, tx["to"].lower(), amount, self.coin.method, None, block)

    def inner_transfer(self, inner: Inner, block: Block) -> Transfer:
        """Return the transfer of an inner call."""
        return Transfer(inner.txid, inner.position, inner.address, inner.amount, self.coin.method, None, block)

    def token_transfer(self, log: Json, receipt: Json, block: Block) -> Transfer:
        """Return the transfer of a log, named by its place in its own receipt."""
        contract, address, amount = content(log)
        asset, place = self.tokens.get(contract), place_in(receipt, log, self.rpc.node)
        method = asset.method if asset else None
        return Transfer(log["transactionHash"].lower(), f"log:{place}", address, amount, method, contract, block)


class NoLogs(Unavailable):
    """The provider gives no logs; asking for fewer does not help."""


class PastLogs:
    """Logs of blocks that are final, many blocks in one answer: half as many when the node refuses, twice as many while
    the answers are short. For catching up after an outage."""

    def __init__(self, read: Callable[[int, int], list[Json]], last: int) -> None:
        self.read = read
        self.last = last
        self.span, self.longest = SPAN, LONGEST_SPAN
        self.read_until = -1
        self.found: dict[int, list[Json]] = {}

    def of(self, height: int) -> list[Json]:
        """Return the logs of the next block."""
        if height > self.read_until:
            self._read_on(height)
        return self.found.pop(height, [])

    def _read_on(self, first: int) -> None:
        logs, last = self._shortened(first)
        for log in logs:
            self.found.setdefault(number(log["blockNumber"]), []).append(log)
        self.read_until = last
        if len(logs) < SHORT_ANSWER:
            self.span = min(self.span * 2, self.longest)

    def _shortened(self, first: int) -> tuple[list[Json], int]:
        while True:
            last = min(first + self.span - 1, self.last)
            try:
                return self.read(first, last), last
            except (NoLogs, HttpStatus, Pruned):
                raise
            except Unavailable:
                if last == first:
                    raise
                self.span = self.longest = max((last - first + 1) // 2, 1)
