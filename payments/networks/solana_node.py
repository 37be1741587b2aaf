"""Solana, the half that talks to a node: balances of our addresses find what changed, transactions explain it.

Solana is the one network that is read address by address: its blocks are too many and too full. Only finalized state
counts as money. What is confirmed and not finalized yet is told as seen, for the first hundred addresses.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import batched
from typing import Any

from . import solana_keys, solana_read
from . import solana_requests as ask
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
    Recent,
    Replaced,
    Transfer,
    Unavailable,
)
from .chain_walk import Start, check_genesis
from .rpc import Plain, Rpc, RpcError
from .solana import Solana
from .solana_accounts import BALANCE, Account, Look, Mark, Shown, is_unchanged, transfer
from .solana_read import Change, Lamports, Listed, Told

ACCOUNTS = 100  # addresses in one call, the most that nodes take
STATUSES = 256  # signatures in one call
SEEN = 100  # addresses that are also looked at before finality
PAGES = 10  # of one address's history
TOGETHER = 10  # addresses that changed and are read in the same calls: what they did must fit in memory
# What nodes say about a block they do not have: cleaned up, skipped, skipped or lost in long-term storage.
NO_BLOCK = frozenset({-32001, -32007, -32009})
NEWER_VERSION = -32015  # of the transaction than we can read


class SolanaNode:
    """Reads one cluster through one JSON-RPC endpoint. `key` is the operator's public key, or `file:` and a list.

    `max_transactions`: of one address in one pass. Who floods an address must not stop the others.
    """

    def __init__(
        self, family: Solana, rpc_url: str, key: str, timeout: float = 10.0, max_transactions: int = 200
    ) -> None:
        self.family = family
        self.source = solana_keys.source(key)  # a wrong key is refused at start, not at the first address
        self.rpc = Rpc(family.name, rpc_url, Plain("2.0"), timeout)
        self.max_transactions = max_transactions

    def genesis(self) -> str:
        """Return the hash of the first block. ForeignChain if the node is on another cluster than configured."""
        with self._reading("its first block"):
            genesis = solana_read.text_of(self.rpc.call("getGenesisHash"), 32)
        if self.family.genesis not in (None, genesis):
            raise ForeignChain(f"{self.rpc.node} is not on Solana's {self.family.cluster}: its genesis is {genesis}.")
        return genesis

    def head(self) -> Block:
        """Return the newest finalized block."""
        method, params = ask.finalized_slot()
        with self._reading("its newest slot"):
            slot = solana_read.number(self.rpc.call(method, *params))
        head = self._block_at(slot)
        if head is None:
            raise Unavailable(f"{self.rpc.node} does not show block {slot}, which it calls its newest.")
        return head

    def scan(self, cursor: Cursor, match: Match, held: Sequence[Held] = ()) -> Batch:
        """Look at each of the addresses and read on from what was kept about it."""
        genesis = self.genesis()
        check_genesis(self.family.name, cursor, genesis)
        head = self.head()
        start = self._start(cursor, head)
        kept, looks, seen = self._look_at(held, head, start.tip or head, match)
        _add_blocks(start, looks, head)
        waiting = [since for look in looks if look.held.mark and (since := Mark.read(look.held.mark).waits_since)]
        return Batch(
            cursor=Cursor(genesis, tuple(start.recent.blocks)),
            transfers=(*(one for look in looks for one in look.transfers), *seen),
            watched_until=min([head.time, *waiting]),
            head=head.height,
            rewound_to=start.rewound_to,
            more=any(look.more for look in looks),
            held=(*kept, *(look.held for look in looks)),
        )

    def confirm(self, keys: Sequence[Key]) -> list[Confirmation | Replaced | None]:
        """Read each transaction again: what it paid to whom, and whether it is finalized."""
        if not keys:
            return []
        head = self.head()
        signatures = [key.txid for key in keys if not key.position.startswith(BALANCE) and self._is_signature(key.txid)]
        shown = self._shown(list(dict.fromkeys(signatures)))
        known = self._known([signature for signature in dict.fromkeys(signatures) if shown[signature] is None])
        return [self._confirmation(key, shown.get(key.txid), known, head) for key in keys]

    def look_up(self, txid: str) -> Finding | None:
        """Return everything that a transaction pays. Unavailable while the node knows it and does not show it."""
        if not self._is_signature(txid) or txid not in self._known([txid]):
            return None
        final = self._shown([txid])[txid]
        told = final.told if final else self._told([txid], ask.CONFIRMED)[txid]
        if told is None:
            raise Unavailable(f"{self.rpc.node} knows the transaction and does not show it yet.")
        block = final.block if final else None
        payments = tuple(transfer(told, change, block) for change in told.payments())
        return Finding(txid, block, told.failed, payments)

    def used(self, addresses: Sequence[str]) -> set[str]:
        """Return those that hold SOL, or that a transaction ever named."""
        held = self._balances(addresses, self.head())
        requests = [ask.history(address, ask.CONFIRMED, limit=1) for address in addresses]
        with self._reading("histories"):
            named = [bool(solana_read.items(one)) for one in self.rpc.batch(requests)]
        return {one for one, past in zip(addresses, named, strict=True) if past or held[one].amount}

    def destination(self, index: int) -> str:
        """Return the receiving address with this index. ListUsedUp if the operator's list is shorter."""
        return self.source.destination(index)

    def key_fingerprint(self) -> str:
        """Return a short name of the operator's key or list."""
        return self.source.fingerprint()

    def check(self) -> None:
        """Check that the node is on the cluster: there are no contracts to check."""
        self.genesis()

    # --- where to read on -----------------------------------------------------------------------------------------
    def _start(self, cursor: Cursor, head: Block) -> Start:
        """Find the newest block we read that the node still has. What is finalized never changes, so another hash there
        is an alarm; blocks that the node no longer keeps say nothing, and no payment hangs on them."""
        if cursor.height is not None and head.height < cursor.height:
            raise Unavailable(
                f"{self.rpc.node} is behind: it is at block {head.height}, we have read up to {cursor.height}."
            )
        recent, replaced = list(cursor.recent), False
        while recent:
            block = self._block_at(recent[-1][0])
            if block and block.hash == recent[-1][1]:
                return Start(block, Recent(recent), block.height if replaced else None)
            replaced |= block is not None
            recent.pop()
        if replaced:
            raise ForeignChain(f"{self.rpc.node} knows none of the last {len(cursor.recent)} blocks we read.")
        return Start(None, Recent(), None)

    # --- looking at addresses -------------------------------------------------------------------------------------
    def _look_at(
        self, held: Sequence[Held], head: Block, last: Block, match: Match
    ) -> tuple[list[Held], list[Look], list[Transfer]]:
        """Look at each address: those that hold what they held, what came of the others, and payments that are not
        final yet. Those that changed are asked about first, which is a sign of life, too. `last` is the head of the
        last pass."""
        balances = self._balances([one.address for one in held], head)
        kept, changed = [], []
        for one in held:
            now = balances[one.address]
            if is_unchanged(one, now):
                kept.append(one if one.balance is not None else replace(one, balance=now.amount))
            elif match([one.address]):
                changed.append(Account(one, Mark.read(one.mark), now, head, last))
        looks = [look for some in batched(changed, TOGETHER) for look in self._account_for(some)]
        return kept, looks, self._seen([*(look.held for look in looks), *kept][:SEEN], balances)

    def _account_for(self, accounts: Sequence[Account]) -> list[Look]:
        """Read what is new in the histories of addresses that changed, all in the same calls, and account for it."""
        histories = self._histories([(one.kept.address, one.mark.signature) for one in accounts], ask.FINALIZED)
        new = [one.new_of(lines) for one, lines in zip(accounts, histories, strict=True)]
        some = [lines[: self.max_transactions] for lines in new]
        shown = self._shown(list(dict.fromkeys(line.signature for lines in some for line in lines)))
        return [
            one.account_for(lines, [shown[line.signature] for line in lines], more=len(all_lines) > len(lines))
            for one, lines, all_lines in zip(accounts, some, new, strict=True)
        ]

    def _seen(self, held: Sequence[Held], final: dict[str, Lamports]) -> list[Transfer]:
        """Return payments that are confirmed and not finalized yet; what can't be read of them is read next time."""
        if not held:
            return []
        with self._reading("balances"):
            answer = self._ask(ask.balances([one.address for one in held], ask.CONFIRMED))
            _, now = solana_read.amounts(answer, len(held))
        grown = [one for one, seen in zip(held, now, strict=True) if seen > final[one.address].amount]
        transfers = []
        for one in grown:
            (lines,) = self._histories([(one.address, Mark.read(one.mark).signature)], ask.CONFIRMED)
            new = [line.signature for line in lines if not line.failed and line.slot > final[one.address].slot]
            for told in self._told(new[: self.max_transactions], ask.CONFIRMED).values():
                transfers += [transfer(told, each, None) for each in told.payments_to(one.address)] if told else []
        return transfers

    def _balances(self, addresses: Sequence[str], head: Block) -> dict[str, Lamports]:
        """Return what each address holds at the head or later, by finalized state."""
        groups = [list(some) for some in batched(addresses, ACCOUNTS)]
        with self._reading("balances"):
            answers = self.rpc.batch([ask.balances(some, ask.FINALIZED, head.height) for some in groups])
            found = [solana_read.balances(raw, len(some)) for raw, some in zip(answers, groups, strict=True)]
        known = dict(zip(addresses, (one for some in found for one in some), strict=True))
        if any(one.slot < head.height for one in known.values()):
            raise Unavailable(f"{self.rpc.node} told balances older than its newest block.")
        return known

    # --- transactions ---------------------------------------------------------------------------------------------
    def _histories(self, wanted: Sequence[tuple[str, str]], level: str) -> list[list[Listed]]:
        """Return the newest signatures of addresses, each down to its `until`, newest first: the first page of all in
        one call, the rare others one by one."""
        answers = self.rpc.batch([ask.history(address, level, until=until) for address, until in wanted])
        return [
            self._history_from(page, address, level, until)
            for page, (address, until) in zip(answers, wanted, strict=True)
        ]

    def _history_from(self, answer: Any, address: str, level: str, until: str) -> list[Listed]:
        """Read the first page of a history and those that follow."""
        lines: list[Listed] = []
        for number in range(1, PAGES + 1):
            with self._reading("a history"):
                page = [solana_read.listed(one) for one in solana_read.items(answer)]
            lines += page
            if len(page) < ask.PAGE or number == PAGES:
                break
            answer = self._ask(ask.history(address, level, until=until, before=lines[-1].signature))
        return lines

    def _shown(self, signatures: Sequence[str]) -> dict[str, Shown | None]:
        """Return finalized transactions with their blocks; none for those that the node does not show (yet)."""
        told = self._told(signatures, ask.FINALIZED)
        blocks = self._blocks(sorted({one.slot for one in told.values() if one}))
        return {signature: self._in_block(one, blocks) for signature, one in told.items()}

    def _in_block(self, told: Told | None, blocks: dict[int, Block | None]) -> Shown | None:
        block = blocks[told.slot] if told else None
        return Shown(told, block) if told and block else None

    def _told(self, signatures: Sequence[str], level: str) -> dict[str, Told | None]:
        requests = [ask.transaction(signature, level) for signature in signatures]
        answers = self._answers(requests, frozenset({NEWER_VERSION}))
        with self._reading("a transaction"):
            return {
                signature: None if raw is None else solana_read.told(raw, signature)
                for signature, raw in zip(signatures, answers, strict=True)
            }

    def _known(self, signatures: Sequence[str]) -> dict[str, bool]:
        """Return the transactions that the node knows, and whether each moved nothing."""
        known: dict[str, bool] = {}
        for some in batched(signatures, STATUSES):
            with self._reading("statuses"):
                values = solana_read.items(self._ask(ask.statuses(list(some)))["value"])
                known |= {s: one["err"] is not None for s, one in zip(some, values, strict=True) if one is not None}
        return known

    def _confirmation(self, key: Key, shown: Shown | None, known: dict[str, bool], head: Block) -> Confirmation | None:
        if key.position.startswith(BALANCE):
            return self._confirmed_balance(key, head)
        if shown:
            paid = any(agrees(key, change) for change in shown.told.payments())
            return Confirmation(shown.block, max(head.height - shown.block.height + 1, 1), True) if paid else None
        return Confirmation(None, 0, finalized=False) if known.get(key.txid) is False else None

    def _confirmed_balance(self, key: Key, head: Block) -> Confirmation | None:
        """Return where a balance grew that no transaction explains: the block at which it was read names it."""
        block = self._block_at(int(key.position.split(":")[1]))
        if block is None or block.hash != key.txid:
            return None
        return Confirmation(block, max(head.height - block.height + 1, 1), finalized=True)

    # --- one answer -----------------------------------------------------------------------------------------------
    def _block_at(self, slot: int) -> Block | None:
        return self._blocks([slot])[slot]

    def _blocks(self, slots: Sequence[int]) -> dict[int, Block | None]:
        """Return finalized blocks by slot; none for those that the node does not have."""
        answers = self._answers([ask.block(slot) for slot in slots], NO_BLOCK)
        with self._reading("a block"):
            return {slot: solana_read.block(slot, raw) for slot, raw in zip(slots, answers, strict=True)}

    def _ask(self, request: ask.Request) -> Any:
        return self.rpc.call(request[0], *request[1])

    def _answers(self, requests: Sequence[ask.Request], forgiven: frozenset[int]) -> list[Any]:
        """Return the answers in order; none where the node refuses one of them for a forgiven reason."""
        try:
            return self.rpc.batch(requests)
        except RpcError as error:
            if error.code not in forgiven:
                raise
        return [self._forgiving(request, forgiven) for request in requests]

    def _forgiving(self, request: ask.Request, forgiven: frozenset[int]) -> Any:
        try:
            return self._ask(request)
        except RpcError as error:
            if error.code not in forgiven:
                raise
            return None

    def _is_signature(self, text: str) -> bool:
        try:
            return bool(self.family.check_transaction(text))
        except ValueError:
            return False

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """Turn an answer of another shape than agreed into BadAnswer."""
        try:
            yield
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise BadAnswer(f"{self.rpc.node} gave {what} in a shape that can't be right: {error!r:.200}") from error


def _add_blocks(start: Start, looks: Sequence[Look], head: Block) -> None:
    """Note the head, and the blocks of what was found: what is in them can't be called gone by a node that lags."""
    found = {one.block for look in looks for one in look.transfers if one.block}
    for block in sorted(found | {head}, key=lambda one: one.height):
        if not start.recent.blocks or start.recent.blocks[-1][0] < block.height:
            start.recent.add(block.height, block.hash)


def agrees(key: Key, change: Change) -> bool:
    """Tell whether a transaction still pays what was stored."""
    seen = (change.position, change.address, change.received, change.mint or None)
    return seen == (key.position, key.address, key.amount, key.contract or None)
