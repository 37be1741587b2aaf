"""What Ethereum nodes answer, read as it is: pure functions over decoded JSON.

Another shape than agreed raises KeyError, TypeError, ValueError and the like; the node half makes them BadAnswer.
"""

import re
from collections.abc import Collection, Container, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from .base import BadAnswer, Block
from .rpc import RpcError

Json = dict[str, Any]
TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"  # Transfer(address,address,uint256)
VALUE = "value"
WRONG_SHAPE = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError)
# How nodes say that they threw away what an old block was or did.
PRUNED = re.compile(r"missing trie node|pruned|historical state|state .*not available|no state|archive", re.IGNORECASE)
# How nodes say that they have no such method, or not for us.
NOT_OFFERED = re.compile(
    r"method.*\b(not|disabled)\b|unknown method|not available on|not supported|unsupported|not whitelisted|upgrade",
    re.IGNORECASE,
)
NOT_OFFERED_CODES = (-32601, -32004)


class Pruned(RpcError):
    """The node no longer keeps what an old block was or did; asking it again does not help."""


def number(text: str) -> int:
    """Read a quantity or a word: at most 256 bits, never negative."""
    if not text.startswith("0x") or len(text) > 66:
        raise ValueError(f"{text!r:.80} is no number")
    return int(text, 16)


def as_list(answer: Any) -> list[Json]:
    if not isinstance(answer, list):
        raise TypeError(f"{answer!r:.80} is no list")
    return answer


def block_of(raw: Json) -> Block:
    time = datetime.fromtimestamp(number(raw["timestamp"]), UTC)
    return Block(number(raw["number"]), raw["hash"].lower(), time)


def coins_in(raw: Json) -> list[tuple[str, Json]]:
    """Return payee and transaction of each that carries the coin itself."""
    return [(tx["to"].lower(), tx) for tx in as_list(raw["transactions"]) if tx["to"] and tx["value"] != "0x0"]


def sent_by(raw: Json, senders: Collection[str]) -> list[Json]:
    """Return the transactions that these addresses sent: they pay value and fee."""
    return [tx for tx in raw["transactions"] if tx["from"].lower() in senders] if senders else []


def cost_of(tx: Json, receipt: Json) -> int:
    """Return what a transaction took from its sender: the fee, and the value unless it was reverted."""
    fee = number(receipt["gasUsed"]) * number(receipt["effectiveGasPrice"])
    fee += number(receipt.get("blobGasUsed") or "0x0") * number(receipt.get("blobGasPrice") or "0x0")
    return fee + (number(tx["value"]) if number(receipt["status"]) == 1 else 0)


def payee(log: Json) -> str:
    return "0x" + str(log["topics"][2][26:]).lower()  # an address is the last 20 of a topic's 32 bytes


def content(log: Json) -> tuple[str, str, int]:
    """Return contract, payee and amount of a transfer's log."""
    return log["address"].lower(), payee(log), number(log["data"])


def is_transfer(log: Json) -> bool:
    """Tell whether a log has the shape of a token payment; those of collectibles have a fourth topic."""
    topics = log["topics"]
    return len(topics) == 3 and topics[0].lower() == TRANSFER and len(topics[2]) == 66 and len(log["data"]) == 66


def content_at(receipt: Json, position: str) -> tuple[str, str, int] | None:
    """Return what the log at "log:N" of a receipt pays; none if it is no payment."""
    place, logs = int(position.removeprefix("log:")), receipt["logs"]
    return content(logs[place]) if place < len(logs) and is_transfer(logs[place]) else None


def payments_in(logs: Iterable[Json], block: Block, pinned: Container[str], node: str) -> list[tuple[str, Json]]:
    """Return payee and log of each token payment of one block; every log is checked to be of this block.

    Contracts do as they like: a strange log of one that is not pinned says nothing. A pinned one's can't be strange.
    """
    found, checked = [], None
    for log in logs:
        topics, data, place = log["topics"], log["data"], (log["blockHash"], log["blockNumber"])
        if place != checked:  # thousands in a block write it the same way
            if place[0].lower() != block.hash or number(place[1]) != block.height:
                raise BadAnswer(f"{node} gave a log of another block than {block.height}.")
            checked = place
        if topics[0] != TRANSFER and topics[0].lower() != TRANSFER:
            raise BadAnswer(f"{node} gave a log of block {block.height} that was not asked for.")
        if len(topics) != 3 or len(topics[2]) != 66 or len(data) != 66:
            if log["address"].lower() in pinned:
                raise BadAnswer(f"{node} gave a transfer log of another shape in block {block.height}.")
        elif (int(data, 16) if data.startswith("0x") else number(data)) and not log.get("removed"):
            found.append(("0x" + topics[2][26:].lower(), log))  # `number` and `payee`, without a call for each
    return found


def place_in(receipt: Json, log: Json, node: str) -> int:
    """Return a log's place in its own receipt. Its `logIndex` counts in the block and moves in a reorg."""
    places = [n for n, other in enumerate(receipt["logs"]) if other["logIndex"] == log["logIndex"]]
    if len(places) != 1 or content(receipt["logs"][places[0]]) != content(log):
        raise BadAnswer(f"{node} tells log {log['logIndex']} of transaction {receipt['transactionHash']} in two ways.")
    return places[0]


def words(data: str, count: int) -> Sequence[int]:
    """Read the words of 32 bytes that a call returned; ValueError unless there are as many as asked for."""
    raw = bytes.fromhex(data.removeprefix("0x"))
    if len(raw) != 32 * count:
        raise ValueError(f"{len(raw)} bytes are not {count} words")
    return [int.from_bytes(raw[at : at + 32]) for at in range(0, len(raw), 32)]
