"""Tron, the half that talks to a node: solid blocks for money, the head only to show what was seen.

Per block one call whatever the number of addresses, and none for blocks in which no code ran. Answers are read as they
are; tronpy checks the pinned contracts.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import base58
from Crypto.Hash import keccak
from tronpy import Tron as Client
from tronpy.exceptions import TvmError, UnknownError, ValidationError
from tronpy.providers import HTTPProvider

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
from .chain_walk import SEED, Start, check_genesis, find_start
from .tron import PREFIX, Tron, to_base58
from .tron_answers import (
    Reader,
    block_of,
    has_result,
    items,
    parent_of,
    ran,
    succeeded,
    transactions_of,
    txid_of,
    whole,
)
from .tron_api import Json, TronApi, open_api
from .tron_unsolid import Unsolid

PAGE = 100  # blocks that a node gives in one answer
# Solid blocks are about a minute behind the clock. A node whose newest one is older, with nothing left to read, lags.
LAG = timedelta(minutes=5)
UNSOLID: dict[str, Unsolid] = {}  # by the node's URL: what this process has read above the solid block


class TronNode:
    """Reads one chain through one java-tron node or provider. `xpub` is the operator's account-level public key.

    20 blocks a pass, that is a minute: a provider that limits calls refuses none of so few, and what is read is kept.
    """

    def __init__(
        self, family: Tron, url: str, xpub: str, api_key: str = "", timeout: float = 10.0, max_blocks: int = 20
    ) -> None:
        hd.receiving(xpub)  # a wrong key is refused at start, not at the first address
        self.family = family
        self.xpub = xpub
        self.max_blocks = max_blocks
        self.full = open_api(family.name, url, "wallet", timeout, api_key)
        self.solid = open_api(f"{family.name} solidity", url, "walletsolidity", timeout, api_key)
        self.tokens = {asset.contract: asset for asset in family.assets if asset.contract}
        self.reader = Reader(next(asset.method for asset in family.assets if asset.contract is None), self.tokens)
        self.unsolid = UNSOLID.setdefault(url, Unsolid())

    @property
    def calls(self) -> int:
        """Return how many requests were made, for tests and measurements."""
        return self.full.calls + self.solid.calls

    def genesis(self) -> str:
        """Return the id of block 0."""
        with self._reading(self.full, "its first block"):
            return block_of(self._known(self.full, "getblockbynum", "its first block", num=0)).hash

    def head(self) -> Block:
        """Return the newest block."""
        return self._newest(self.full)

    def scan(self, cursor: Cursor, match: Match, held: Sequence[Held] = ()) -> Batch:
        """Read on from the cursor, at most `max_blocks` solid blocks; once all are read, also those above them, whose
        transfers are told without a block."""
        genesis, head = cursor.genesis or self.genesis(), self.head()
        pages, start = self._start(cursor)
        if start.next_height > pages.last.height:
            self._check_lag(pages.last)
        transfers, tip = self._read_solid(start, pages, match)
        more = pages.more or tip.height < pages.last.height
        if not more:
            transfers += self._read_unsolid(tip, head, match)
        return Batch(
            cursor=Cursor(genesis, tuple(start.recent.blocks)),
            transfers=tuple(transfers),
            watched_until=tip.time,
            head=max(head.height, tip.height),
            rewound_to=start.rewound_to,
            more=more,
        )

    def confirm(self, keys: Sequence[Key]) -> list[Confirmation | Replaced | None]:
        """Read each transaction and its result again, solid ones first. Those above are not in a block yet; one that
        vanished from there is gone once the height at which it was seen is solid."""
        if not keys:
            return []
        head = self.head()
        found = {txid: self._look_up(txid) for txid in dict.fromkeys(key.txid for key in keys)}
        solid = self.newest_solid() if None in found.values() else head
        return [self._confirmation(key, found[key.txid], head, solid) for key in keys]

    def look_up(self, txid: str) -> Finding | None:
        """Return what the node says about a transaction, solid, above that, or in the pool."""
        found = self._look_up(txid)
        if found:
            return found[0]
        waiting = self.full.find("gettransactionfrompending", value=txid)
        if waiting is None:
            return None
        with self._reading(self.full, f"transaction {txid}"):
            return Finding(txid, None, False, tuple(self.reader.direct(waiting, None)))

    def used(self, addresses: Sequence[str]) -> set[str]:
        """Return those that exist on the chain or hold a pinned token. One that held a token and no longer does has
        paid a fee for that, and so exists."""
        return {address for address in addresses if self._exists(address) or self._holds_token(address)}

    def destination(self, index: int) -> str:
        """Derive the receiving address with this index, m/44'/195'/0'/0/index."""
        public = hd.receiving(self.xpub).child(index).public.format(compressed=False)[1:]
        return to_base58(bytes([PREFIX]) + keccak.new(digest_bits=256, data=public).digest()[-20:])

    def key_fingerprint(self) -> str:
        """Return a short name of the operator's key."""
        return hd.fingerprint(self.xpub)

    def check(self) -> None:
        """Check code and decimals of the pinned contracts. BadAnswer names the one that is wrong."""
        for contract, asset in self.tokens.items():
            decimals = self._call(contract, asset.symbol, "decimals()")
            if decimals != asset.decimals:
                raise BadAnswer(
                    f"The contract of {asset.symbol} at {contract} has {decimals} decimals, not {asset.decimals}."
                )

    # --- reading blocks -------------------------------------------------------------------------------------------
    def _start(self, cursor: Cursor) -> tuple["Pages", Start]:
        """Find where to read on. A known block says that this is our chain; the first one is asked only without it."""
        try:
            pages = Pages(self, cursor)
            return pages, find_start(self.family.name, cursor, pages.last, pages.block)
        except (ForeignChain, Unavailable):
            if cursor.genesis:
                check_genesis(self.family.name, cursor, self.genesis())
            raise

    def _read_solid(self, start: Start, pages: "Pages", match: Match) -> tuple[list[Transfer], Block]:
        tip, transfers = start.tip, []
        last = min(pages.last.height, start.next_height + self.max_blocks - 1)
        for height in range(start.next_height, last + 1):
            with self._reading(self.solid, f"block {height}"):
                block, payments = self._solid_block(tip, pages.raw(height))
            transfers += _ours(payments, match)
            start.recent.add(block.height, block.hash)
            tip = block
        return transfers, tip or pages.last

    def _solid_block(self, tip: Block | None, raw: Json) -> tuple[Block, list[Transfer]]:
        block = block_of(raw)
        if tip and parent_of(raw) != tip.hash:
            raise Unavailable(f"The {self.family.name} chain changed at block {block.height} while it was read.")
        if tip and block.time < tip.time:
            raise BadAnswer(f"{self.solid.node} says that block {block.height} is older than the one before it.")
        payments = self._payments(self.solid, raw, block)
        if payments is None:
            raise Unavailable(f"{self.solid.node} does not have the results of block {block.height} yet.")
        return block, payments

    def _payments(self, api: TronApi, raw: Json, block: Block) -> list[Transfer] | None:
        """Return everything that a block pays; none if the node does not have all results of its transactions."""
        transactions = transactions_of(raw)
        infos = self._infos(api, block) if any(map(has_result, transactions)) else {}
        paid: list[Transfer] = []
        for tx in transactions:
            if has_result(tx) and txid_of(tx) not in infos:
                return None
            paid += self.reader.payments(tx, infos.get(txid_of(tx)), block)
        return paid

    def _infos(self, api: TronApi, block: Block) -> Mapping[str, Json]:
        answer = api.ask("gettransactioninfobyblocknum", num=block.height)
        infos = items(answer or [])
        if any(info.get("blockNumber", 0) != block.height for info in infos):
            raise BadAnswer(f"{api.node} gave results of another block than {block.height}.")
        return {info["id"].lower(): info for info in infos}

    def _read_unsolid(self, solid: Block, head: Block, match: Match) -> list[Transfer]:
        """Return what is paid to us above the solid block. What the node cannot tell yet is left to the next pass."""
        self.unsolid.prepare(solid, head)
        with self._reading(self.full, "the blocks above the solid one"):
            for raw in self.page(self.full, self.unsolid.next_height(solid), head.height):
                block = block_of(raw)
                payments = self._payments(self.full, raw, block)
                if payments is None or not self.unsolid.add(block, parent_of(raw), payments):
                    break
        ours = _ours([payment for _, payments in self.unsolid.blocks for payment in payments], match)
        self.unsolid.sightings |= {one.txid: one.block.height for one in ours if one.block}
        return [replace(one, block=None) for one in ours]

    def page(self, api: TronApi, first: int, last: int) -> list[Json]:
        """Return the blocks from `first` to `last`, at most 100, that the node has; each is the one asked for."""
        last = min(last, first + PAGE - 1)
        if last < first:
            return []
        with self._reading(api, f"blocks {first} to {last}"):
            blocks = items(api.ask("getblockbylimitnext", startNum=first, endNum=last + 1).get("block", []))
            if [block_of(raw).height for raw in blocks] != list(range(first, first + len(blocks))):
                raise BadAnswer(f"{api.node} gave other blocks than {first} to {last}.")
        return blocks

    def newest_solid(self) -> Block:
        return self._newest(self.solid)

    def _newest(self, api: TronApi) -> Block:
        with self._reading(api, "its newest block"):
            return block_of(self._known(api, "getnowblock", "its newest block"))

    def _check_lag(self, solid: Block) -> None:
        if datetime.now(UTC) - solid.time > LAG:
            at = solid.time.strftime("%d %b %Y, %H:%M:%S UTC")
            raise Unavailable(f"{self.solid.node} lags: its newest solid block, {solid.height}, is of {at}.")

    # --- reading again --------------------------------------------------------------------------------------------
    def _look_up(self, txid: str) -> tuple[Finding, int] | None:
        """Return what is known of a transaction that is in a block, with the block's height; the finding has the
        block only if that is solid."""
        for api in (self.solid, self.full):
            info = api.find("gettransactioninfobyid", value=txid)
            tx = api.find("gettransactionbyid", value=txid) if info else None
            if info is None or tx is None:
                continue
            with self._reading(api, f"transaction {txid}"):
                if txid_of(tx) != txid or info["id"].lower() != txid:
                    raise BadAnswer(f"{api.node} gave another transaction than {txid}.")
                height = whole(info.get("blockNumber", 0))
                block = self._solid_at(height) if api is self.solid else None
                failed = not succeeded(tx) or (has_result(tx) and not ran(info))
                return Finding(txid, block, failed, tuple(self.reader.payments(tx, info, block))), height
        return None

    def _solid_at(self, height: int) -> Block:
        return block_of(self._known(self.solid, "getblockbynum", f"block {height}", num=height))

    def _confirmation(
        self, key: Key, found: tuple[Finding, int] | None, head: Block, solid: Block
    ) -> Confirmation | None:
        if found is None:
            waits = self.unsolid.undecided(key.txid, solid.height)
            return Confirmation(None, 0, finalized=False) if waits else None
        finding, height = found
        if (key.position, key.address, key.amount, key.contract) not in [
            (one.position, one.address, one.amount, one.contract) for one in finding.payments
        ]:
            return None
        return Confirmation(finding.block, max(head.height - height + 1, 1), finalized=finding.block is not None)

    # --- one answer -----------------------------------------------------------------------------------------------
    def _exists(self, address: str) -> bool:
        return self.full.find("getaccount", address=address, visible=True) is not None

    def _holds_token(self, address: str) -> bool:
        return any(
            self._call(contract, asset.symbol, "balanceOf(address)", _word(address))
            for contract, asset in self.tokens.items()
        )

    def _call(self, contract: str, symbol: str, function: str, parameter: str = "") -> int:
        """Return the number that a token's function answers, asked without a transaction."""
        client = Client(Through(self.full))
        try:
            with self._reading(self.full, f"{function} of {symbol}"):
                return int(client.trigger_const_smart_contract_function(contract, contract, function, parameter), 16)
        except (TvmError, ValidationError) as error:
            raise BadAnswer(f"There is no contract of {symbol} at {contract} on this chain.") from error
        except UnknownError as error:
            raise Unavailable(f"{self.full.node} did not run {function} of {symbol}: {error!s:.200}") from error

    def _known(self, api: TronApi, call: str, what: str, **parameters: Any) -> Json:
        found = api.find(call, **parameters)
        if found is None:
            raise Unavailable(f"{api.node} does not know {what}.")
        return found

    @contextmanager
    def _reading(self, api: TronApi, what: str) -> Iterator[None]:
        """Turn an answer of another shape than agreed into BadAnswer."""
        try:
            yield
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise BadAnswer(f"{api.node} gave {what} in a shape that can't be right: {error!r:.200}") from error


class Pages:
    """The solid blocks of one pass, read many at a time: the one we stood on and those after it in one call.

    `last` is the newest one that this pass reads; `more`: there are others after it.
    """

    def __init__(self, node: TronNode, cursor: Cursor) -> None:
        self.node = node
        self.size = max(node.max_blocks, SEED) + 1
        tip, wanted = cursor.height, node.max_blocks + 1
        blocks = [] if tip is None else node.page(node.solid, tip, tip + wanted)
        self.more = len(blocks) > wanted
        self.known = {block_of(raw).height: raw for raw in blocks[:wanted]}
        self.last = block_of(self.known[max(self.known)]) if self.known else node.newest_solid()

    def raw(self, height: int) -> Json:
        if height not in self.known:
            blocks = self.node.page(self.node.solid, height, min(height + self.size - 1, self.last.height))
            self.known |= {height + place: raw for place, raw in enumerate(blocks)}
        if height not in self.known:
            raise Unavailable(f"{self.node.solid.node} does not know block {height}.")
        return self.known[height]

    def block(self, height: int) -> Block:
        return block_of(self.raw(height))


class Through(HTTPProvider):
    """Lets tronpy ask through our own reader: one deadline, no redirects, and no key but the operator's."""

    def __init__(self, api: TronApi) -> None:
        self.api = api

    def make_request(self, method: str, params: Any = None) -> Any:
        return self.api.post(method, params or {})


def _word(address: str) -> str:
    """Return an address as a contract's function reads it: the last 20 of 32 bytes."""
    return base58.b58decode_check(address)[1:].hex().rjust(64, "0")


def _ours(payments: list[Transfer], match: Match) -> list[Transfer]:
    ours = match({payment.address for payment in payments}) if payments else set()
    return [payment for payment in payments if payment.address in ours]
