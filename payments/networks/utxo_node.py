"""Bitcoin and Litecoin, the half that talks to a node: whole blocks and the pool, matched by output script.

Two calls per block whatever the number of addresses (Esplora: one more for each 25 transactions), and one look at the
pool per pass, of which each transaction is read once.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from payments import hd

from . import second_opinion
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
from .utxo import BITCOIN, MAIN, Utxo
from .utxo_core import Core
from .utxo_esplora import Esplora
from .utxo_source import Contents, Place, Source, Tx, Written, memory_of

ESPLORA = "esplora+"
COINBASE_DEPTH = 100  # a miner's reward can be spent only then, and counts only then
SecondOpinion = Callable[[hd.ExtendedKey, str, int], str]


class UtxoNode:
    """Reads one chain through one node: `http://user:password@host:port` is Core, `esplora+https://host/api` Esplora.

    `xpub` is the operator's account-level public key; its kind (xpub, ypub, zpub, …) says the kind of the addresses.
    """

    def __init__(
        self,
        family: Utxo,
        url: str,
        xpub: str,
        timeout: float = 10.0,
        max_blocks: int = 20,
        opinion: SecondOpinion = second_opinion.main_address,
    ) -> None:
        self.family = family
        self.versions = accepted_versions(family)
        hd.account(xpub, self.versions)  # a wrong key is refused at start, not at the first address
        self.xpub = xpub
        self.max_blocks = max_blocks
        self.opinion = opinion
        self.memory = memory_of(url, self.key_fingerprint())
        self.source: Source
        if url.startswith(ESPLORA):
            self.source = Esplora(family, url.removeprefix(ESPLORA), timeout)
        else:
            self.source = Core(family, url, self.memory, timeout)

    def genesis(self) -> str:
        """Return the hash of the first block. ForeignChain if it is another chain's than configured."""
        found = self.source.genesis()
        if found != self.family.first_block:
            raise ForeignChain(f"{self.source.node} is on another chain: its first block is {found}.")
        return found

    def head(self) -> Block:
        """Return the newest block."""
        return self.source.head()

    def scan(self, cursor: Cursor, match: Match, held: Sequence[Held] = ()) -> Batch:
        """Read on from the cursor, at most `max_blocks` blocks; with the last one also the pool."""
        genesis = self.genesis()
        check_genesis(self.family.name, cursor, genesis)
        head = self.head()
        start = find_start(self.family.name, cursor, head, self.source.block_at)
        transfers, tip = self._read_blocks(start, head, match)
        more = tip.height < head.height
        if not more:
            transfers += self._read_pool(match)
        return Batch(
            cursor=Cursor(genesis, tuple(start.recent.blocks)),
            transfers=tuple(transfers),
            watched_until=min(tip.time, datetime.now(UTC)),  # miners' clocks may be two hours ahead of the time
            head=head.height,
            rewound_to=start.rewound_to,
            more=more,
        )

    def confirm(self, keys: Sequence[Key]) -> list[Confirmation | Replaced | None]:
        """Look each output up again; where it is gone, what else spent the money."""
        wanted = [None if key.contract else output_of(key.position) for key in keys]
        asked = list(dict.fromkeys((key.txid, n) for key, n in zip(keys, wanted, strict=True) if n is not None))
        blocks = {key.txid: key.block for key in keys if key.block}
        places = dict(zip(asked, self.source.places(asked, blocks), strict=True))
        return [
            None if n is None else self._confirmation(key, places[key.txid, n])
            for key, n in zip(keys, wanted, strict=True)
        ]

    def look_up(self, txid: str) -> Finding | None:
        """Return what the node says about a transaction. Without an index of its own Core knows those of the last
        hundred blocks and the pool."""
        found = self.source.transaction(txid)
        if found is None:
            return None
        tx, block = found
        payments = tuple(self._transfers(tx, block, None))
        return Finding(txid, block, False, payments, low_fee=block is None and self.source.low_fee(txid))

    def used(self, addresses: Sequence[str]) -> set[str]:
        """Return those with a history (Esplora), or those that hold something in a block now (Core: one reading of all
        unspent outputs, minutes on a main chain; what was emptied again is not seen)."""
        return self.source.used(addresses)

    def destination(self, index: int) -> str:
        """Derive the receiving address with this index twice. BadAnswer if the two derivations differ."""
        return derived(self.family, self.xpub, self.versions, index, self.opinion)

    def key_fingerprint(self) -> str:
        """Return a short name of the operator's key."""
        return hd.fingerprint(self.xpub, self.versions)

    def check(self) -> None:
        """Check the chain and that both derivations agree: there are no contracts."""
        self.genesis()
        self.destination(0)

    def _confirmation(self, key: Key, place: Place | None) -> Confirmation | Replaced | None:
        if place is None:
            return self.source.replaced(key.txid, key.spends) if key.spends else None
        if (self.family.address_of(place.output.script), place.output.amount) != (key.address, key.amount):
            return None
        depth = place.depth if not place.coinbase or place.depth >= COINBASE_DEPTH else 0
        return Confirmation(place.block, depth, finalized=depth >= self.family.deepest)

    # --- reading --------------------------------------------------------------------------------------------------
    def _read_blocks(self, start: Start, head: Block, match: Match) -> tuple[list[Transfer], Block]:
        tip, transfers = start.tip, list[Transfer]()
        for height in range(start.next_height, min(head.height, start.next_height + self.max_blocks - 1) + 1):
            contents = self.source.contents(height)
            if tip and contents.parent != tip.hash:
                raise Unavailable(f"The {self.family.name} chain changed at block {height} while it was read.")
            transfers += self._ours_in(contents, match)
            start.recent.add(height, contents.block.hash)
            tip = contents.block
        return transfers, tip or head

    def _read_pool(self, match: Match) -> list[Transfer]:
        """Return every transfer of the pool that pays us, also those read in earlier passes: a pass may be repeated."""
        pool = self.source.pool()
        unread = self.memory.unread(pool, self.source.pool_limit)
        txs = [tx for tx in self.source.read(unread) if tx]
        self.memory.keep(pool, unread, self._ours(txs, None, match))
        return [transfer for transfers in self.memory.ours.values() for transfer in transfers]

    def _ours_in(self, contents: Contents, match: Match) -> list[Transfer]:
        """Return what a block pays us. Only transactions that do are read; their outputs are told by the script."""
        payees = self._payees(contents.outputs)
        found: list[Transfer] = []
        for address in sorted(match(payees)) if payees else ():
            script, seen = {self.family.script_of(address)}, len(found)
            for place in sorted(payees[address]):
                found += self._transfers(contents.read(place), contents.block, script)
            if len(found) == seen:
                height = contents.block.height
                raise BadAnswer(f"{self.source.node} says that block {height} pays {address}, and no script does.")
        return found

    def _payees(self, outputs: Iterable[Written]) -> dict[str, set[int]]:
        """Return the places of the transactions that pay each address.

        An address is what its script says. The node's own writing of it is taken, ten times as fast, for those kinds
        of script of which the first one in the block is written as we write it.
        """
        payees: dict[str, set[int]] = {}
        agreed: dict[tuple[str, int], bool] = {}
        for script, written, place in outputs:
            if written:
                kind = (script[:4], len(script))
                if kind not in agreed:
                    agreed[kind] = written == self.family.address_of(script)
                address = written if agreed[kind] else self.family.address_of(script)
            else:
                address = self.family.address_of(script)
            if address:
                payees.setdefault(address, set()).add(place)
        return payees

    def _ours(self, txs: Iterable[Tx], block: Block | None, match: Match) -> list[Transfer]:
        addresses = self.family.address_of
        payees = {
            output.script: address for tx in txs for output in tx.outputs if (address := addresses(output.script))
        }
        ours = match(payees.values()) if payees else set()
        scripts = {found for found, address in payees.items() if address in ours}
        paying = [tx for tx in txs if any(output.script in scripts for output in tx.outputs)] if scripts else []
        return [transfer for tx in paying for transfer in self._transfers(tx, block, scripts)]

    def _transfers(self, tx: Tx, block: Block | None, scripts: set[str] | None) -> Iterable[Transfer]:
        """Yield a transfer for each output to one of these scripts; none: to any that has an address."""
        (asset,) = self.family.assets
        for output in tx.outputs:
            if scripts is None or output.script in scripts:
                address = self.family.address_of(output.script)
                if address and output.amount:
                    place = f"out:{output.n}"
                    yield Transfer(tx.txid, place, address, output.amount, asset.method, None, block, tx.spends)


def output_of(position: str) -> int | None:
    """Return the output that "out:N" names; none for a position of another kind."""
    number = position.removeprefix("out:")
    return int(number) if number != position and number.isdecimal() else None


def accepted_versions(family: Utxo) -> tuple[bytes, ...]:
    """Return which kinds of extended keys this chain takes."""
    main = family.chain == MAIN
    if family.coin is BITCOIN:
        return hd.BITCOIN if main else hd.TEST
    return hd.LITECOIN if main else hd.LITECOIN_TEST


@lru_cache(maxsize=10_000)
def derived(family: Utxo, xpub: str, versions: tuple[bytes, ...], index: int, opinion: SecondOpinion) -> str:
    """Return the address with this index; BadAnswer unless both derivations agree on it.

    They are compared in the form of the main chain; on a test chain the same script is only written otherwise.
    """
    script = hd.output_script(hd.receiving(xpub, versions), index)
    ours = Utxo(family.coin).address_of(script)
    theirs = opinion(hd.account(xpub, versions), family.network, index)
    if ours is None or ours != theirs:
        raise BadAnswer(f"Two derivations of {family.name} address {index} differ: {ours} and {theirs}.")
    return family.address_of(script) or ours
