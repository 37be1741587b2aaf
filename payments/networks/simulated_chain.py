"""The simulated chain: blocks, a pool and the faults of a node, in one small SQLite file of its own.

Several processes and threads share it: the page of the demo wallet pays, a timer mines, the watcher reads. Each call
opens its own connection. Only the standard library is used: the web process loads this module.
"""

import hashlib
import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from .base import Block, Unavailable

LARGEST_AMOUNT = 2**256 - 1
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
GROWN = "balance:"  # the position of money that no transaction explains
SPENT = 16  # so many letters of a transaction's id name the output that it spends
TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE blocks (
    height INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, parent TEXT NOT NULL, time INTEGER NOT NULL
);
CREATE TABLE transactions (
    number INTEGER PRIMARY KEY AUTOINCREMENT, txid TEXT NOT NULL UNIQUE, height INTEGER, place INTEGER,
    sent INTEGER NOT NULL
);
CREATE INDEX transactions_height ON transactions (height);
CREATE TABLE payments (
    txid TEXT NOT NULL, position TEXT NOT NULL, address TEXT NOT NULL, amount TEXT NOT NULL, method TEXT, contract TEXT,
    PRIMARY KEY (txid, position)
);
"""
BLOCK_AT = "SELECT height, hash, time FROM blocks WHERE height = ? AND height <= ?"
BLOCK_WITH = "SELECT height, hash, time FROM blocks WHERE hash = ? AND height <= ?"
PAYMENTS = """
SELECT p.txid, p.position, p.address, p.amount, p.method, p.contract, t.sent, b.height, b.hash, b.time
FROM transactions t JOIN payments p ON p.txid = t.txid LEFT JOIN blocks b ON b.height = t.height AND b.height <= ?
"""


@dataclass(frozen=True, slots=True)
class Payment:
    """What a wallet sends: base units to an address. `contract` is none for the network's own coin."""

    address: str
    amount: int
    method: str | None = None
    contract: str | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """A payment as the chain shows it, and when its wallet sent it. `block` is none while it waits in the pool."""

    txid: str
    position: str
    payment: Payment
    sent_at: datetime
    block: Block | None


class SimulatedChain:
    """One chain in one file, made with a random genesis when the file is not there.

    Paying and mining always work; only what a node would be asked (`head`, `block`, …) obeys `go_down` and `lag`.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path).absolute()
        if not self.path.exists():
            _create(self.path)

    # --- what a wallet does ---------------------------------------------------------------------------------------
    def pay(
        self, address: str, amount: int, method: str | None = None, contract: str | None = None, txid: str | None = None
    ) -> str:
        """Put a payment into the pool and return its transaction id. `amount` in base units, 1 to 2**256 - 1."""
        position = "value" if contract is None else "log:0"
        return self._send([(position, Payment(address, amount, method, contract))], txid)

    def pay_many(self, payments: Sequence[Payment], txid: str | None = None) -> str:
        """Put one transaction with several payments into the pool, at the positions "log:0", "log:1", …"""
        return self._send([(f"log:{place}", payment) for place, payment in enumerate(payments)], txid)

    def grow(self, address: str, amount: int, method: str) -> str:
        """Let an address hold more, with no transaction that says why: an internal transfer that a node can't tell."""
        return self._send([(f"{GROWN}0", Payment(address, amount, method))], None)

    def drop(self, txid: str) -> None:
        """Forget a transaction of the pool. ValueError if it is not there."""
        with self._writing() as connection:
            _drop(connection, txid)

    def replace(
        self, txid: str, address: str, amount: int, method: str | None = None, contract: str | None = None
    ) -> str:
        """Put another payment in the place of a pool transaction, as a wallet does that raises the fee. Both spend the
        same output, which shows in the beginning of their ids."""
        position = "value" if contract is None else "log:0"
        other = txid[:SPENT] + secrets.token_hex(32)[SPENT:]
        with self._writing() as connection:
            _drop(connection, txid)
            return _insert(connection, [(position, Payment(address, amount, method, contract))], other)

    # --- what the network does ------------------------------------------------------------------------------------
    def mine(self, n: int = 1, at: datetime | None = None, waited: timedelta = timedelta(0)) -> Block:
        """Add `n` blocks, the first with everything in the pool, and return the new head.

        Block times are `at` or now, but always later than the block before. What was sent less than `waited` ago stays
        in the pool: as on a real network, one can see it there first.
        """
        with self._writing() as connection:
            for _ in range(n):
                block = _append(connection, at or datetime.now(UTC))
                _include(connection, block, _pool(connection, datetime.now(UTC) - waited))
            return _head(connection, 0)

    def reorg(self, depth: int, keep: bool = True, reorder: bool = False) -> Block:
        """Replace the last `depth` blocks by as many others with the same times, and return the new head.

        Their transactions go back to the pool; with `reorder` into the first new block, in the opposite order; without
        `keep` they are gone.
        """
        with self._writing() as connection:
            ancestor = _head(connection, 0).height - depth
            if depth < 1 or ancestor < 0:
                raise ValueError(f"A reorg of {depth} blocks does not fit: the head is at {ancestor + depth}.")
            times = _column(connection, "SELECT time FROM blocks WHERE height > ? ORDER BY height", ancestor)
            lost = _column(
                connection,
                "SELECT txid FROM transactions WHERE height > ? ORDER BY height DESC, place DESC",
                ancestor,
            )
            connection.execute("DELETE FROM blocks WHERE height > ?", [ancestor])
            connection.execute("UPDATE transactions SET height = NULL, place = NULL WHERE height > ?", [ancestor])
            if not keep:
                for txid in lost:
                    _drop(connection, txid)
            blocks = [_append(connection, EPOCH + time * MICROSECOND) for time in times]
            if keep and reorder:
                _include(connection, blocks[0], lost)
            return _head(connection, 0)

    def go_down(self) -> None:
        """Make the node unreachable."""
        self._note("down", "1")

    def come_up(self) -> None:
        """Make the node reachable again."""
        self._note("down", "0")

    def second_provider(self, mood: str) -> None:
        """Let there be a second provider that "agrees", "disagrees" (knows nothing) or is "down"; "none": there is no
        second one."""
        self._note("second", mood)

    def second_mood(self) -> str:
        """Return what the second provider is like."""
        with self._transaction("BEGIN") as connection:
            row = connection.execute("SELECT value FROM facts WHERE name = 'second'").fetchone()
        return str(row[0]) if row else "none"

    def refuse_first(self, refused: bool) -> None:
        """Let the first provider refuse to tell what is in blocks, as some refuse logs; the rest it answers."""
        self._note("refused", "1" if refused else "0")

    def first_is_refused(self) -> bool:
        """Tell whether it does."""
        with self._transaction("BEGIN") as connection:
            row = connection.execute("SELECT value FROM facts WHERE name = 'refused'").fetchone()
        return row is not None and row[0] == "1"

    def lag(self, n: int) -> None:
        """Let the node see the chain without its last `n` blocks."""
        self._note("lag", str(n))

    # --- what a node is asked -------------------------------------------------------------------------------------
    def genesis(self) -> str:
        """Return the hash of the first block."""
        with self._asking() as (connection, _):
            return str(connection.execute("SELECT hash FROM blocks WHERE height = 0").fetchone()[0])

    def head(self) -> Block:
        """Return the newest block."""
        with self._asking() as (connection, lag):
            return _head(connection, lag)

    def block(self, height: int) -> Block | None:
        """Return the block at this height; none above the head."""
        return self._one_block(BLOCK_AT, height)

    def block_by_hash(self, block_hash: str) -> Block | None:
        """Return the block with this hash; none if it is unknown or was replaced."""
        return self._one_block(BLOCK_WITH, block_hash)

    def parent(self, block: Block) -> str:
        """Return the hash of the block before this one ("" for the first). Unavailable if the block was replaced."""
        with self._asking() as (connection, _):
            row = connection.execute("SELECT parent FROM blocks WHERE hash = ?", [block.hash]).fetchone()
        if row is None:
            raise Unavailable(f"The simulated node no longer knows block {block.height}: it was replaced.")
        return str(row[0])

    def payments_in(self, block: Block) -> list[Sent]:
        """Return what this block holds, in its order; nothing if the block was replaced meanwhile."""
        return self._sent("WHERE b.hash = ? ORDER BY t.place, p.rowid", block.hash)

    def pool(self) -> list[Sent]:
        """Return what is in no block that the node sees, oldest first."""
        return self._sent("WHERE b.height IS NULL ORDER BY t.number, p.rowid")

    def find(self, txid: str, position: str) -> Sent | None:
        """Return one payment; none if the node does not know it."""
        found = self._sent("WHERE p.txid = ? AND p.position = ?", txid, position)
        return found[0] if found else None

    def transaction(self, txid: str) -> list[Sent]:
        """Return every payment of one transaction; nothing if the node does not know it."""
        return self._sent("WHERE p.txid = ? ORDER BY p.rowid", txid)

    def spender(self, txid: str) -> str | None:
        """Return another transaction that spends the same output as this one and is known to the node."""
        found = self._sent("WHERE p.txid LIKE ? || '%' AND p.txid <> ? ORDER BY t.number DESC", txid[:SPENT], txid)
        return found[0].txid if found else None

    def paid(self, addresses: Sequence[str]) -> set[str]:
        """Return those of the addresses that were ever paid."""
        with self._asking() as (connection, _):
            rows = connection.execute("SELECT DISTINCT address FROM payments").fetchall()
        return {row[0] for row in rows} & set(addresses)

    # --- for people -----------------------------------------------------------------------------------------------
    def recent(self, limit: int = 20) -> list[Sent]:
        """Return the newest payments first, for the wallet's page: also while the node is down or behind."""
        with self._transaction("BEGIN") as connection:
            rows = connection.execute(
                f"{PAYMENTS} ORDER BY t.number DESC, p.rowid LIMIT ?", [_head(connection, 0).height, limit]
            ).fetchall()
        return [_sent(row) for row in rows]

    # --- inside ---------------------------------------------------------------------------------------------------
    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        uri = f"{self.path.as_uri()}?mode=rw"  # rw: a file that vanished is an error, never a new empty chain
        with closing(sqlite3.connect(uri, uri=True, timeout=20, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(begin)
            yield connection
            connection.execute("COMMIT")  # after an exception closing rolls back

    @contextmanager
    def _asking(self) -> Iterator[tuple[sqlite3.Connection, int]]:
        with self._transaction("BEGIN") as connection:
            facts = dict(connection.execute("SELECT name, value FROM facts").fetchall())
            if facts["down"] == "1":
                raise Unavailable("The simulated node does not answer.")
            yield connection, int(facts["lag"])

    def _writing(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._transaction("BEGIN IMMEDIATE")

    def _note(self, name: str, value: str) -> None:
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", [name, value])

    def _send(self, payments: Sequence[tuple[str, Payment]], txid: str | None) -> str:
        with self._writing() as connection:
            return _insert(connection, payments, txid)

    def _one_block(self, query: str, value: int | str) -> Block | None:
        with self._asking() as (connection, lag):
            row = connection.execute(query, [value, _head(connection, lag).height]).fetchone()
        return _block(*row) if row else None

    def _sent(self, condition: str, *values: str) -> list[Sent]:
        with self._asking() as (connection, lag):
            rows = connection.execute(f"{PAYMENTS} {condition}", [_head(connection, lag).height, *values]).fetchall()
        return [_sent(row) for row in rows]


def _create(path: Path) -> None:
    """Make the file apart and link it into place: of two processes that start together both use the one that won."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(TABLES)
            connection.executemany("INSERT INTO facts VALUES (?, ?)", [("down", "0"), ("lag", "0")])
            _append(connection, datetime.now(UTC))
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)


def _block(height: int, block_hash: str, time: int) -> Block:
    return Block(height, block_hash, EPOCH + time * MICROSECOND)


def _sent(row: tuple[str, str, str, str, str | None, str | None, int, int | None, str, int]) -> Sent:
    txid, position, address, amount, method, contract, sent, height, block_hash, time = row
    payment = Payment(address, int(amount), method, contract)
    block = None if height is None else _block(height, block_hash, time)
    return Sent(txid, position, payment, EPOCH + sent * MICROSECOND, block)


def _head(connection: sqlite3.Connection, lag: int) -> Block:
    row = connection.execute(
        "SELECT height, hash, time FROM blocks WHERE height <= max(0, (SELECT max(height) FROM blocks) - ?)"
        " ORDER BY height DESC LIMIT 1",
        [lag],
    ).fetchone()
    return _block(*row)


def _append(connection: sqlite3.Connection, at: datetime) -> Block:
    time = (at - EPOCH) // MICROSECOND
    last = connection.execute("SELECT height, hash, time FROM blocks ORDER BY height DESC LIMIT 1").fetchone()
    height, parent = (last[0] + 1, last[1]) if last else (0, "")
    time = max(time, last[2] + 1) if last else time
    # The random part makes a block that replaces another one a different block.
    block_hash = hashlib.sha256(f"{parent}:{height}:{time}:{secrets.token_hex(16)}".encode()).hexdigest()
    connection.execute("INSERT INTO blocks VALUES (?, ?, ?, ?)", [height, block_hash, parent, time])
    return _block(height, block_hash, time)


def _column(connection: sqlite3.Connection, query: str, *values: int) -> list[Any]:
    return [row[0] for row in connection.execute(query, values).fetchall()]


def _pool(connection: sqlite3.Connection, sent_until: datetime) -> list[str]:
    query = "SELECT txid FROM transactions WHERE height IS NULL AND sent <= ? ORDER BY number"
    return _column(connection, query, (sent_until - EPOCH) // MICROSECOND)


def _include(connection: sqlite3.Connection, block: Block, txids: Sequence[str]) -> None:
    connection.executemany(
        "UPDATE transactions SET height = ?, place = ? WHERE txid = ?",
        [(block.height, place, txid) for place, txid in enumerate(txids)],
    )


def _insert(connection: sqlite3.Connection, payments: Sequence[tuple[str, Payment]], txid: str | None) -> str:
    txid = txid or secrets.token_hex(32)
    if any(not 1 <= payment.amount <= LARGEST_AMOUNT for _, payment in payments):
        raise ValueError("A payment is at least 1 and at most 2**256 - 1 base units.")
    try:
        sent = (datetime.now(UTC) - EPOCH) // MICROSECOND
        connection.execute("INSERT INTO transactions (txid, sent) VALUES (?, ?)", [txid, sent])
    except sqlite3.IntegrityError as error:
        raise ValueError(f"There is a transaction {txid} already.") from error
    connection.executemany(
        "INSERT INTO payments VALUES (?, ?, ?, ?, ?, ?)",
        [(txid, position, p.address, str(p.amount), p.method, p.contract) for position, p in payments],
    )
    return txid


def _drop(connection: sqlite3.Connection, txid: str) -> None:
    dropped = connection.execute("DELETE FROM transactions WHERE txid = ? AND height IS NULL", [txid]).rowcount
    if not dropped:
        raise ValueError(f"Transaction {txid} is not in the pool.")
    connection.execute("DELETE FROM payments WHERE txid = ?", [txid])
