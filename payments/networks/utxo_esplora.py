"""Esplora by HTTP, as Blockstream's and mempool.space's servers speak it, and those that operators run themselves."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from .base import BadAnswer, Block, Replaced, Unavailable
from .http import Http, HttpStatus
from .utxo import Utxo
from .utxo_source import Contents, Json, Output, Place, Tx, a_hash, a_list, a_number, contents_of, reading

PAGE = 25  # transactions in one answer about a block
NOT_FOUND = 404
NEXT_BLOCKS = "6"


class Esplora:
    """One server. `url` is the base of its API: https://host/api."""

    pool_limit = 50  # one call each, and public servers limit how often they may be asked

    def __init__(self, family: Utxo, url: str, timeout: float) -> None:
        self.family = family
        self.calls = 0
        self.http = Http(family.name, url, timeout)
        self.node = self.http.node

    def genesis(self) -> str:
        """Return the hash of the first block."""
        return self._hash_at(0)

    def head(self) -> Block:
        """Return the newest block."""
        with reading(self.node, "its newest block"):
            return _block(self._known(f"/block/{a_hash(self._text('/blocks/tip/hash'))}"))

    def block_at(self, height: int) -> Block:
        """Return the block at this height of the best chain."""
        block_hash = self._hash_at(height)
        with reading(self.node, f"block {height}"):
            return self._checked(_block(self._known(f"/block/{block_hash}")), height, block_hash)

    def contents(self, height: int) -> Contents:
        """Return the block at this height with its transactions: two calls, and one for each 25 transactions."""
        block_hash = self._hash_at(height)
        with reading(self.node, f"block {height}"):
            raw = self._known(f"/block/{block_hash}")
            block, count = self._checked(_block(raw), height, block_hash), a_number(raw["tx_count"])
            pages = [a_list(self._known(f"/block/{block_hash}/txs/{start}")) for start in range(0, count, PAGE)]
            txs = [_tx(one) for page in pages for one in page]
            if len({tx.txid for tx in txs}) != count:
                raise ValueError(f"it has {count} transactions and {len(txs)} were given")
            return contents_of(block, a_hash(raw["previousblockhash"]) if height else "", txs)

    def pool(self) -> list[str]:
        """Return the ids of all transactions in the pool."""
        with reading(self.node, "its pool"):
            return [a_hash(txid) for txid in a_list(self._known("/mempool/txids"))]

    def read(self, txids: Sequence[str]) -> list[Tx | None]:
        """Return transactions of the pool, in order; none for those that left it meanwhile."""
        found = [self._transaction(txid) for txid in txids]
        return [tx if tx and not status["confirmed"] else None for tx, status in found]

    def places(self, outputs: Sequence[tuple[str, int]], blocks: Mapping[str, str]) -> list[Place | None]:
        """Look each output's transaction up: the server keeps an index of all."""
        if not outputs:
            return []
        head, places = self.head(), list[Place | None]()
        for txid, n in outputs:
            tx, status = self._transaction(txid)
            block = self._block_of(status) if tx else None
            output = next((one for one in tx.outputs if one.n == n), None) if tx else None
            depth = max(head.height - block.height + 1, 1) if block else 0
            places.append(Place(output, tx.coinbase, block, depth) if tx and output else None)
        return places

    def replaced(self, txid: str, spends: Sequence[str]) -> Replaced | None:
        """Ask who spent each output."""
        with reading(self.node, "who spent an output"):
            for spent in spends:
                spent_txid, _, n = spent.partition(":")
                raw = self._get(f"/tx/{spent_txid}/outspend/{n}")
                if raw and raw["spent"] is True and a_hash(raw["txid"]) != txid:
                    return Replaced(raw["txid"])
        return None

    def transaction(self, txid: str) -> tuple[Tx, Block | None] | None:
        """Return a transaction and its block."""
        tx, status = self._transaction(txid)
        return (tx, self._block_of(status)) if tx else None

    def low_fee(self, txid: str) -> bool:
        """Compare with the server's estimate for the next blocks."""
        with reading(self.node, "fees"):
            raw, estimates = self._get(f"/tx/{txid}"), self._known("/fee-estimates")
            if raw is None or NEXT_BLOCKS not in estimates:
                return False
            return a_number(raw["fee"]) / (a_number(raw["weight"]) / 4) < float(estimates[NEXT_BLOCKS])

    def used(self, addresses: Sequence[str]) -> set[str]:
        """Return those that were ever paid, also in the pool."""
        return {address for address in addresses if self._count(address)}

    # --- one answer -----------------------------------------------------------------------------------------------
    def _count(self, address: str) -> int:
        with reading(self.node, f"the history of {address}"):
            raw = self._known(f"/address/{address}")
            return a_number(raw["chain_stats"]["tx_count"]) + a_number(raw["mempool_stats"]["tx_count"])

    def _hash_at(self, height: int) -> str:
        with reading(self.node, f"block {height}"):
            return a_hash(self._text(f"/block-height/{height}"))

    def _checked(self, block: Block, height: int, block_hash: str) -> Block:
        if (block.height, block.hash) != (height, block_hash):
            raise ValueError(f"it is block {block.height}, {block.hash}")
        return block

    def _transaction(self, txid: str) -> tuple[Tx | None, Json]:
        with reading(self.node, f"transaction {txid}"):
            raw = self._get(f"/tx/{txid}")
            if raw is None:
                return None, {}
            tx, status = _tx(raw), raw["status"]
            if tx.txid != txid or status["confirmed"] not in (True, False):
                raise ValueError("it is another one, or its status is none")
            return tx, status

    def _block_of(self, status: Json) -> Block | None:
        """Return the block that a status names. Unavailable if it is not on the best chain (any more)."""
        if not status["confirmed"]:
            return None
        with reading(self.node, "the block of a transaction"):
            height, block_hash = a_number(status["block_height"]), a_hash(status["block_hash"])
            if self._hash_at(height) != block_hash:
                raise Unavailable(f"The {self.family.name} chain changed at block {height} while it was read.")
            return Block(height, block_hash, _time(status["block_time"]))

    def _known(self, path: str) -> Any:
        answer = self._get(path)
        if answer is None:
            raise Unavailable(f"{self.node} does not know {path}.")
        return answer

    def _get(self, path: str) -> Any:
        """Return the JSON of an answer; none if the server does not know what was asked for."""
        body = self._body(path)
        if body is None:
            return None
        answer = self.http.decode(body)
        if answer is None:
            raise BadAnswer(f"{self.node} gave nothing for {path}.")
        return answer

    def _text(self, path: str) -> str:
        body = self._body(path)
        if body is None:
            raise Unavailable(f"{self.node} does not know {path}.")
        return body.decode(errors="replace").strip()

    def _body(self, path: str) -> bytes | None:
        self.calls += 1
        try:
            return self.http.read("GET", path)
        except HttpStatus as refused:
            if refused.status == NOT_FOUND:
                return None
            raise


def _time(seconds: Any) -> datetime:
    return datetime.fromtimestamp(a_number(seconds), UTC)


def _block(raw: Json) -> Block:
    return Block(a_number(raw["height"]), a_hash(raw["id"]), _time(raw["timestamp"]))


def _tx(raw: Json) -> Tx:
    inputs = a_list(raw["vin"])
    coinbase = any(one.get("is_coinbase") for one in inputs)
    return Tx(
        a_hash(raw["txid"]),
        () if coinbase else tuple(f"{a_hash(one['txid'])}:{a_number(one['vout'])}" for one in inputs),
        tuple(Output(n, str(one["scriptpubkey"]), a_number(one["value"])) for n, one in enumerate(a_list(raw["vout"]))),
        coinbase,
    )
