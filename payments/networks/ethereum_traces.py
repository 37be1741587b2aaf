"""ETH that moves inside calls: contracts, smart wallets and some exchanges pay so, and no transaction names the payee.

Only a trace tells it. Nodes offer one of two kinds, or none; which one is found out once per process and node. Such a
payment is named by its path: "call:0.1" is the second call of the first call of the transaction.
"""

import hashlib
import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .base import BadAnswer, Block, Unavailable
from .ethereum_answers import NOT_OFFERED, NOT_OFFERED_CODES, PRUNED, WRONG_SHAPE, Json, as_list, number
from .http import HttpStatus
from .rpc import Rpc, RpcError

log = logging.getLogger(__name__)
NESTED = {"tracer": "callTracer"}
LONGEST_POSITION = 64
PATIENCE = 3  # failures in a row until traces are no longer asked for: reading blocks must not hang on them
Path = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Inner:
    """One movement of ETH inside a transaction, in a frame that was not reverted."""

    txid: str
    position: str
    address: str
    amount: int


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a trace. `address`: whom it pays; "" if it can pay nobody."""

    path: Path
    address: str
    amount: int
    failed: bool


def moved(txid: str, frames: Sequence[Frame]) -> list[Inner]:
    """Return what the inner frames of one transaction paid. Whatever lies below a reverted frame never happened, also
    where it has no error of its own. The outermost frame is the transaction itself."""
    failed = {frame.path for frame in frames if frame.failed}
    return [
        Inner(txid, position_of(frame.path), frame.address, frame.amount)
        for frame in frames
        if frame.path and frame.address and frame.amount and not _lies_below(frame.path, failed)
    ]


def position_of(path: Path) -> str:
    """Return the name of a place in a trace. Calls may lie a thousand deep: then the name is made of a hash."""
    text = "call:" + ".".join(map(str, path))
    return text if len(text) <= LONGEST_POSITION else "call:" + hashlib.sha256(text.encode()).hexdigest()[:40]


def _lies_below(path: Path, failed: set[Path]) -> bool:
    return bool(failed) and any(path[:length] in failed for length in range(len(path) + 1))


# --- the flat kind: trace_block, trace_transaction --------------------------------------------------------------------
def _flat_frame(trace: Json) -> Frame:
    action, kind = trace["action"], trace["type"]
    path, failed = tuple(trace["traceAddress"]), bool(trace.get("error"))
    if kind == "call" and action["callType"] == "call":
        return Frame(path, action["to"].lower(), number(action["value"]), failed)
    if kind == "suicide":
        return Frame(path, action["refundAddress"].lower(), number(action["balance"]), failed)
    return Frame(path, "", 0, failed)


def flat_transaction(answer: Any, txid: str) -> list[Inner]:
    """Read the answer of `trace_transaction`."""
    return moved(txid, [_flat_frame(trace) for trace in as_list(answer)])


def _says_something(trace: Json) -> bool:
    """Tell whether a trace moves anything or was reverted; most do neither."""
    return bool(trace["action"].get("value", "0x0") != "0x0" or trace["type"] == "suicide" or trace.get("error"))


def flat_block(answer: Any, block: Block, txids: Sequence[str]) -> list[Inner]:
    """Read the answer of `trace_block`: the traces of all transactions, one after the other."""
    seen, frames = set(), defaultdict(list)
    for trace in as_list(answer):
        txid = trace.get("transactionHash")
        if trace["blockHash"].lower() != block.hash:
            raise Unavailable(f"The chain changed at block {block.height} while it was traced.")
        if txid:  # rewards have none
            seen.add(txid)
            if _says_something(trace):
                frames[txid.lower()].append(_flat_frame(trace))
    if {txid.lower() for txid in seen} != set(txids):
        raise Unavailable(f"The traces of block {block.height} are not those of its transactions.")
    return [inner for txid, those in frames.items() for inner in moved(txid, those)]


# --- the nested kind: callTracer --------------------------------------------------------------------------------------
def _nested_frames(answer: Json) -> Iterator[Frame]:
    waiting: list[tuple[Path, Json]] = [((), answer)]  # no recursion: calls may lie deeper than Python's stack
    while waiting:
        path, call = waiting.pop()
        pays = call["type"] in ("CALL", "SELFDESTRUCT") and call.get("to")
        amount = number(call.get("value") or "0x0") if pays else 0
        yield Frame(path, call["to"].lower() if pays else "", amount, bool(call.get("error")))
        counted = [inner for inner in call.get("calls") or () if not _left_out(inner)]
        waiting += [((*path, place), inner) for place, inner in enumerate(counted)][::-1]


def _left_out(call: Json) -> bool:
    """Tell whether the flat kind leaves this call out: of built-in contracts, without value. Both must count alike."""
    built_in = (call.get("to") or "0x1" + "0" * 39).lower().startswith("0x" + "0" * 36)
    return built_in and not number(call.get("value") or "0x0") and not call.get("calls")


def nested_transaction(answer: Any, txid: str) -> list[Inner]:
    """Read the answer of `debug_traceTransaction`."""
    return moved(txid, list(_nested_frames(answer)))


def nested_block(answer: Any, block: Block, txids: Sequence[str]) -> list[Inner]:
    """Read the answer of `debug_traceBlockByHash`: one tree per transaction, in their order."""
    traces = as_list(answer)
    if [(trace.get("txHash") or txid).lower() for trace, txid in zip(traces, txids, strict=False)] != list(txids):
        raise Unavailable(f"The traces of block {block.height} are not complete yet.")
    return [
        inner for trace, txid in zip(traces, txids, strict=True) for inner in nested_transaction(trace["result"], txid)
    ]


# --- which of them a node offers --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Kind:
    """One way to ask for traces and to read the answer."""

    ask_block: Callable[[Block], tuple[str, list[Any]]]
    read_block: Callable[[Any, Block, Sequence[str]], list[Inner]]
    ask_transaction: Callable[[str], tuple[str, list[Any]]]
    read_transaction: Callable[[Any, str], list[Inner]]


# The flat kind first: its answers are several times smaller.
KINDS = (
    Kind(
        lambda block: ("trace_block", [hex(block.height)]),
        flat_block,
        lambda txid: ("trace_transaction", [txid]),
        flat_transaction,
    ),
    Kind(
        lambda block: ("debug_traceBlockByHash", [block.hash, NESTED]),
        nested_block,
        lambda txid: ("debug_traceTransaction", [txid, NESTED]),
        nested_transaction,
    ),
)


class Offer:
    """What one node offers, as far as this process has found out. `kinds`: those not refused yet, best first."""

    def __init__(self) -> None:
        self.kinds = list(KINDS)
        self.failures = 0


OFFERS: dict[str, Offer] = {}  # by the address of the node: watchers make a new `Traces` for each pass


class Traces:
    """Asks one node for traces, if it offers any."""

    def __init__(self, rpc: Rpc, url: str, wanted: bool = True) -> None:
        self.rpc = rpc
        self.offer = OFFERS.setdefault(url, Offer()) if wanted else Offer()
        if not wanted:
            self.offer.kinds.clear()

    def in_block(self, block: Block, txids: Sequence[str]) -> list[Inner]:
        """Return what moved inside the transactions of a block, with one call; nothing where no trace is to be had."""

        def read(kind: Kind) -> list[Inner]:
            method, params = kind.ask_block(block)
            return kind.read_block(self.rpc.call(method, *params), block, txids)

        return (self._ask(read) if txids else None) or []

    def of(self, txids: Sequence[str]) -> dict[str, list[Inner]] | None:
        """Return what moved inside these transactions; none where no trace is to be had."""

        def read(kind: Kind) -> dict[str, list[Inner]]:
            answers = self.rpc.batch([kind.ask_transaction(txid) for txid in txids])
            return {txid: kind.read_transaction(one, txid) for txid, one in zip(txids, answers, strict=True)}

        return self._ask(read)

    def _ask[T](self, read: Callable[[Kind], T]) -> T | None:
        while self.offer.kinds:
            kind = self.offer.kinds[0]
            try:
                answer = read(kind)
                self.offer.failures = 0
                return answer
            except Unavailable as error:
                if self._goes_on_without(kind, error):
                    return None
            except WRONG_SHAPE as error:
                raise BadAnswer(
                    f"{self.rpc.node} gave traces in a shape that can't be right: {error!r:.200}"
                ) from error
        return None

    def _goes_on_without(self, kind: Kind, error: Unavailable) -> bool:
        """Decide after a failure: True = do without a trace now; False = ask in the next way; or raise it again."""
        if PRUNED.search(str(error)):
            return True
        if _is_not_offered(error):
            self.offer.kinds.remove(kind)
            return False
        self.offer.failures += 1
        if self.offer.failures < PATIENCE:
            raise error
        log.warning("%s: traces fail again and again and are no longer asked for: %s", self.rpc.node, error)
        self.offer.kinds.clear()
        return True


def _is_not_offered(error: Unavailable) -> bool:
    if isinstance(error, RpcError):
        return error.code in NOT_OFFERED_CODES or bool(NOT_OFFERED.search(str(error)))
    return isinstance(error, HttpStatus) and error.status in (401, 403, 404, 405)
