"""Bitcoin Core and Litecoin Core by JSON-RPC: Core 22 and newer (Knots too), and the older dialect of Litecoin 0.21.

No index and no wallet of the node is needed. Where the node has no index of transactions, the last blocks are searched
for one that left both the pool and the set of unspent outputs.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from types import MappingProxyType
from typing import Any

from .base import Block, ForeignChain, Replaced, Unavailable
from .rpc import Plain, Rpc, RpcError
from .utxo import Utxo
from .utxo_source import Contents, Json, Memory, Output, Place, Tx, a_hash, a_list, a_number, reading

COIN = 10**8
EXACT_BELOW = 1 << 25  # coins: up to here a double names one multiple of 10⁻⁸, and multiplying finds it
UNKNOWN_TRANSACTION, UNKNOWN_METHOD, MISC = -5, -32601, -1
ERROR_STATUSES = (404, 500)  # with these Core sends the JSON-RPC errors of single calls
SEARCHED_BLOCKS = 100  # for a transaction: each costs a list of ids
SEARCHED_SPENDS = 30  # for whoever spent an output: each costs a whole block; deeper than any finality asked for
NEXT_BLOCKS = 6
SLOW = 900.0  # seconds: the set of unspent outputs is read as a whole


class Core:
    """One node. `url` is http://user:password@host:port."""

    pool_limit = 500

    def __init__(self, family: Utxo, url: str, memory: Memory, timeout: float) -> None:
        self.family = family
        self.memory = memory
        self.rpc = Rpc(family.name, url, Plain(), timeout, ERROR_STATUSES)
        self.slow_rpc = Rpc(family.name, url, Plain(), max(timeout, SLOW), ERROR_STATUSES)
        self.node = self.rpc.node

    @property
    def calls(self) -> int:
        """Return how many calls were made."""
        return self.rpc.calls

    def genesis(self) -> str:
        """Return the hash of the first block. ForeignChain if the node says that it is on another chain."""
        with reading(self.node, "what chain it is on"):
            info, first = self.rpc.batch([("getblockchaininfo", []), ("getblockhash", [0])])
            if info["chain"] != self.family.chain:
                raise ForeignChain(
                    f"{self.node} is on another chain: {info['chain']!r:.40}, ours is {self.family.chain!r}."
                )
            return a_hash(first)

    def head(self) -> Block:
        """Return the newest block. Unavailable while the node still downloads the chain."""
        with reading(self.node, "its newest block"):
            info = self.rpc.call("getblockchaininfo")
            if info["initialblockdownload"] is not False:
                raise Unavailable(
                    f"{self.node} is still downloading the chain: block {info['blocks']} of {info['headers']}."
                )
            return self._header(a_hash(info["bestblockhash"]))

    def block_at(self, height: int) -> Block:
        """Return the block at this height of the best chain."""
        with reading(self.node, f"block {height}"):
            block = self._header(a_hash(self.rpc.call("getblockhash", height)))
            if block.height != height:
                raise ValueError(f"{block.height} is another height")
            return block

    def contents(self, height: int) -> Contents:
        """Return the block at this height with its transactions: two calls, whatever is in it."""
        with reading(self.node, f"block {height}"):
            block_hash = a_hash(self.rpc.call("getblockhash", height))
            raw = self._raw_block(block_hash, 2)
            block = _block(raw)
            if (block.height, block.hash) != (height, block_hash):
                raise ValueError(f"it is block {block.height}, {block.hash}")
            parent = a_hash(raw["previousblockhash"]) if height else ""
            txs = a_list(raw["tx"])
            outputs = [
                (script["hex"], script.get("address"), place)
                for place, tx in enumerate(txs)
                for output in a_list(tx["vout"])
                if "scriptPubKey" in output
                for script in (output["scriptPubKey"],)
            ]

            def read(place: int) -> Tx:
                with reading(self.node, f"block {height}"):
                    return _tx(txs[place])

            return Contents(block, parent, outputs, read)

    def pool(self) -> list[str]:
        """Return the ids of all transactions in the pool."""
        with reading(self.node, "its pool"):
            return [a_hash(txid) for txid in a_list(self.rpc.call("getrawmempool"))]

    def read(self, txids: Sequence[str]) -> list[Tx | None]:
        """Return transactions of the pool, in order; none for those that left it meanwhile."""
        with reading(self.node, "transactions of its pool"):
            found = self._raw_transactions(txids)
            return [_tx(raw) if raw and "blockhash" not in raw else None for raw in found]

    def places(self, outputs: Sequence[tuple[str, int]], blocks: Mapping[str, str]) -> list[Place | None]:
        """Look each output up among the unspent ones, in the pool, in the block it was in, and in the last blocks."""
        if not outputs:
            return []
        head = self.head()
        with reading(self.node, "outputs"):
            unspent = self.rpc.batch([("gettxout", [txid, n, False]) for txid, n in outputs])
            block_at = cache(self.block_at)  # many outputs, few blocks
            places = {
                at: self._unspent(at[1], raw, head, block_at)
                for at, raw in zip(outputs, unspent, strict=True)
                if raw is not None
            }
            spent = [at for at in outputs if at not in places]
            found = self._find([txid for txid, _ in spent], head, blocks)
            for txid, n in spent:
                if txid in found and (place := self._place(*found[txid], n, head)):
                    places[txid, n] = place
            return [places.get(at) for at in outputs]

    def replaced(self, txid: str, spends: Sequence[str]) -> Replaced | None:
        """Look for another spender of these outputs in the pool, then in the last blocks."""
        with reading(self.node, "who spent an output"):
            by = self._spender_in_pool(spends)
            if by and by != txid:
                return Replaced(by)
            unspent = self._unspent_among(spends, pool=False)
            gone = [spent for spent in spends if spent not in unspent]
            if not gone:
                # No block spends them. Older nodes don't say what in the pool does, but they know that something does.
                return Replaced() if by is None and len(self._unspent_among(spends, pool=True)) < len(spends) else None
            found = self._search(gone, self.head(), 2, SEARCHED_SPENDS, _spenders)
            others = [spender for spender in found.values() if spender != txid]
            return Replaced(others[0]) if others else None

    def transaction(self, txid: str) -> tuple[Tx, Block | None] | None:
        """Return a transaction of the pool, or of the last blocks; any, where the node has an index."""
        with reading(self.node, f"transaction {txid}"):
            head = self.head()
            found = self._find([txid], head).get(txid)
            return (_tx(found[0]), self._header(found[1]) if found[1] else None) if found else None

    def low_fee(self, txid: str) -> bool:
        """Compare with the node's estimate for the next blocks; failing that with the least its pool takes."""
        with reading(self.node, "fees"):
            entry, estimate, pool = self.rpc.each(
                [("getmempoolentry", [txid]), ("estimatesmartfee", [NEXT_BLOCKS]), ("getmempoolinfo", [])]
            )
            if isinstance(entry, RpcError):
                return False  # it left the pool meanwhile
            usual = 0.0 if isinstance(estimate, RpcError) else float(estimate.get("feerate") or 0)
            least = 0.0 if isinstance(pool, RpcError) else float(pool["mempoolminfee"])
            return float(entry["fees"]["base"]) / a_number(entry["vsize"]) < max(usual, least) / 1000

    def used(self, addresses: Sequence[str]) -> set[str]:
        """Return those that hold something in a block. One reading of all unspent outputs, minutes on a main chain; an
        address that was paid and emptied again is not seen, and neither is the pool."""
        if not addresses:
            return set()
        scripts = {self.family.script_of(address): address for address in addresses}
        wanted = [{"desc": f"addr({address})"} for address in addresses]
        with reading(self.node, "its unspent outputs"):
            raw = self.slow_rpc.call("scantxoutset", "start", wanted)
            if raw["success"] is not True:
                raise Unavailable(f"{self.node} broke off the reading of its unspent outputs.")
            return {scripts[one["scriptPubKey"]] for one in a_list(raw["unspents"])}

    # --- blocks ---------------------------------------------------------------------------------------------------
    def _header(self, block_hash: str) -> Block:
        """Return a block of the best chain; Unavailable if it left it."""
        raw = self.rpc.call("getblockheader", block_hash)
        if raw["confirmations"] < 1:
            raise Unavailable(f"The {self.family.name} chain changed at block {raw['height']} while it was read.")
        return _block(raw)

    def _raw_block(self, block_hash: str, verbosity: int) -> Json:
        try:
            raw: Json = self.rpc.call("getblock", block_hash, verbosity)
        except RpcError as error:
            if error.code == MISC and "pruned" in str(error):
                raise Unavailable(
                    f"{self.node} has thrown block {block_hash} away (it is pruned): read on from a node that has it."
                ) from error
            raise
        return raw

    def _search(
        self,
        wanted: Sequence[str],
        head: Block,
        verbosity: int,
        blocks: int,
        hits: Callable[[Json], Mapping[str, str]],
    ) -> dict[str, str]:
        """Look through the last blocks, newest first, for what `hits` finds in one: wanted → what was found.

        What was looked for in vain is not looked for twice in the same blocks.
        """
        left, found, block_hash = set(wanted), dict[str, str](), head.hash
        for _ in range(blocks):
            left -= {one for one in left if self.memory.searched.get(one) == block_hash}
            if not left or not block_hash:
                break
            raw = self._raw_block(block_hash, verbosity)
            in_block = hits(raw)
            found |= {one: in_block[one] for one in left if one in in_block}
            left -= found.keys()
            block_hash = raw.get("previousblockhash", "")
        self.memory.remember_search(set(wanted) - found.keys(), head.hash)
        return found

    # --- outputs and transactions ---------------------------------------------------------------------------------
    def _unspent(self, n: int, raw: Json, head: Block, block_at: Callable[[int], Block]) -> Place:
        if raw["bestblock"] != head.hash:
            raise Unavailable(f"The {self.family.name} chain grew while it was read.")
        depth = a_number(raw["confirmations"])
        block = block_at(head.height - depth + 1)
        output = Output(n, str(raw["scriptPubKey"]["hex"]), units(raw["value"]))
        return Place(output, raw["coinbase"] is True, block, depth)

    def _place(self, raw: Json, block_hash: str, n: int, head: Block) -> Place | None:
        tx, block = _tx(raw), self._header(block_hash) if block_hash else None
        outputs = [output for output in tx.outputs if output.n == n]
        depth = head.height - block.height + 1 if block else 0
        return Place(outputs[0], tx.coinbase, block, depth) if outputs else None

    def _find(
        self, txids: Sequence[str], head: Block, blocks: Mapping[str, str] = MappingProxyType({})
    ) -> dict[str, tuple[Json, str]]:
        """Return raw transactions and the hash of the block of the best chain that each is in, "" for the pool."""
        txids = list(dict.fromkeys(txids))
        raws = dict(zip(txids, self._raw_transactions(txids), strict=True))
        found = {txid: (raw, "") for txid, raw in raws.items() if raw and "blockhash" not in raw}
        # An index also answers for a block that left the chain: with no confirmations.
        found |= {
            txid: (raw, a_hash(raw["blockhash"]))
            for txid, raw in raws.items()
            if raw and "blockhash" in raw and a_number(raw.get("confirmations", 0)) > 0
        }
        found |= self._in_known_blocks({txid: blocks[txid] for txid in txids if txid in blocks and txid not in found})
        missing = [txid for txid in txids if txid not in found]
        in_blocks = self._search(missing, head, 1, SEARCHED_BLOCKS, _contained) if missing else {}
        for txid, block_hash in in_blocks.items():
            found[txid] = (self.rpc.call("getrawtransaction", txid, True, block_hash), block_hash)
        return found

    def _in_known_blocks(self, blocks: Mapping[str, str]) -> dict[str, tuple[Json, str]]:
        """Return those transactions that still are in the block given for each, while it is on the best chain. This
        needs no index; RpcError where the node no longer keeps the block."""
        answers = self.rpc.each([("getrawtransaction", [txid, True, block]) for txid, block in blocks.items()])
        found = {}
        for (txid, block), answer in zip(blocks.items(), answers, strict=True):
            if isinstance(answer, RpcError):
                if answer.code != UNKNOWN_TRANSACTION:
                    raise answer
            elif answer["in_active_chain"]:
                found[txid] = (answer, block)
        return found

    def _raw_transactions(self, txids: Sequence[str]) -> list[Json | None]:
        """Return transactions of the pool (and of blocks, where the node has an index), none for unknown ones."""
        answers = self.rpc.each([("getrawtransaction", [txid, True]) for txid in txids])
        for txid, answer in zip(txids, answers, strict=True):
            if isinstance(answer, RpcError):
                if answer.code != UNKNOWN_TRANSACTION:
                    raise answer
            elif answer["txid"] != txid:
                raise ValueError(f"it gave transaction {answer['txid']!r:.80} instead of {txid}")
        return [None if isinstance(answer, RpcError) else answer for answer in answers]

    def _spender_in_pool(self, spends: Sequence[str]) -> str | None:
        """Return who in the pool spends one of these outputs, "" if nobody does; none if the node can't tell."""
        (answer,) = self.rpc.each([("gettxspendingprevout", [[_outpoint(spent) for spent in spends]])])
        if isinstance(answer, RpcError):
            if answer.code != UNKNOWN_METHOD:
                raise answer
            return None
        spenders = [a_hash(one["spendingtxid"]) for one in a_list(answer) if "spendingtxid" in one]
        return spenders[0] if spenders else ""

    def _unspent_among(self, spends: Sequence[str], *, pool: bool) -> set[str]:
        """Return those outputs that no block spends, with `pool` also nothing in the pool."""
        asked = [("gettxout", [*_outpoint(spent).values(), pool]) for spent in spends]
        return {spent for spent, raw in zip(spends, self.rpc.batch(asked), strict=True) if raw is not None}


def units(coins: Any) -> int:
    """Return the base units of an amount as JSON writes it, a number with up to eight decimals.

    Read as a double it is still exact: below 2²⁵ coins doubles are closer together than the rounding can miss, and the
    double of the result must be the one that was read, or it was no multiple of 10⁻⁸.
    """
    if type(coins) not in (int, float) or not 0 <= coins < EXACT_BELOW:
        raise ValueError(f"{coins!r:.80} is no amount")
    found: int = round(coins * COIN)
    if found / COIN != coins:
        raise ValueError(f"{coins!r:.80} has more than eight decimals")
    return found


def _outpoint(spent: str) -> Json:
    txid, _, n = spent.partition(":")
    return {"txid": txid, "vout": int(n)}


def _block(raw: Json) -> Block:
    return Block(a_number(raw["height"]), a_hash(raw["hash"]), datetime.fromtimestamp(a_number(raw["time"]), UTC))


def _tx(raw: Json) -> Tx:
    """Read a transaction. Litecoin's private part (MWEB) shows as inputs without txid and outputs without script; what
    leaves it is paid by an ordinary output of the block's last transaction, and counts only there."""
    inputs = a_list(raw["vin"])
    return Tx(
        a_hash(raw["txid"]),
        tuple(f"{one['txid']}:{one['vout']}" for one in inputs if "txid" in one),
        tuple(
            Output(a_number(one["n"]), str(one["scriptPubKey"]["hex"]), units(one["value"]))
            for one in a_list(raw["vout"])
            if "scriptPubKey" in one
        ),
        any("coinbase" in one for one in inputs),
    )


def _contained(raw: Json) -> dict[str, str]:
    return dict.fromkeys(a_list(raw["tx"]), a_hash(raw["hash"]))


def _spenders(raw: Json) -> dict[str, str]:
    return {spent: tx.txid for tx in map(_tx, a_list(raw["tx"])) for spent in tx.spends}
