"""Compare chain and books: sums of one moment of the database, then transfers read again at the node. Workers only."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from . import proof
from .actions import proving
from .models import ChainTransfer, NetworkCursor, Reconciliation
from .networks.base import BadAnswer, Confirmation, Node, Unavailable
from .registry import node as node_of
from .verify import snapshot
from .watcher import key_of

log = logging.getLogger(__name__)
NEW, OLD = 2_000, 200  # transfers that one run reads again: those since the last run, and some older ones in turn
BATCH = 50


@dataclass(slots=True)
class Checked:
    """How far a run came, and what the node does not have."""

    newest: int
    oldest: int
    count: int = 0
    missing: int = 0
    error: str = ""


def reconcile(network: str, *, everything: bool = False) -> Reconciliation:
    """Check one network: sums, and what is new since the last run; `everything`: every transfer from the first."""
    last = proof.newest(network)
    with snapshot():
        sums = proof.sums_of(network)
    start = (last.newest, last.oldest) if last and not everything else (0, 0)
    checked = Checked(*start)
    try:
        read_again(network, node_of(network), checked, everything=everything)
    except (Unavailable, BadAnswer) as error:
        log.warning("%s could not be reconciled: %s", network, error)
        checked.error = str(error)
    return proving.record_run(
        network,
        sums=sums,
        checked=checked.count,
        missing=checked.missing,
        newest=checked.newest,
        oldest=checked.oldest,
        error=checked.error,
    )


def reconcile_ledger() -> Reconciliation:
    """Check that all credits are in the ledger's account of received money."""
    with snapshot():
        found = proof.ledger()
    return proving.record_ledger(found)


def read_again(network: str, node: Node, checked: Checked, *, everything: bool) -> None:
    """Read transfers again: new ones, then some older ones in turn, so that each comes up again and again."""
    cursor = NetworkCursor.objects.filter(pk=network).exclude(genesis="").first()
    if cursor is None:
        raise Unavailable(f"The network {network} was not read yet.")
    if cursor.genesis != node.genesis():
        raise BadAnswer("The node is on another chain.")
    for place in compare(network, node, checked, checked.newest, None if everything else NEW):
        checked.newest = place
    first_open = proof.first_open(network)
    if first_open is not None:  # it may become final later: the next run looks at it and at what follows
        checked.newest = min(checked.newest, first_open - 1)
    if everything:
        return
    before = checked.oldest
    for place in compare(network, node, checked, before, OLD):
        checked.oldest = place
    if checked.oldest == before:
        checked.oldest = 0  # the end: from the first one again


def compare(network: str, node: Node, checked: Checked, place: int, limit: int | None) -> Iterator[int]:
    """Compare the final transfers after `place` with the node in batches, and yield how far it came after each."""
    left = limit
    while batch := proof.final_after(network, place, BATCH if left is None else min(BATCH, left)):
        head = node.head().height
        if any((row.block_height or 0) > head for row in batch):
            raise Unavailable(f"The node of {network} is behind what was read already.")
        for row in absent(node, batch):
            checked.missing += proving.tell_of_missing(row)
        checked.count += len(batch)
        place = batch[-1].pk
        left = None if left is None else left - len(batch)
        yield place


def absent(node: Node, batch: Sequence[ChainTransfer]) -> Iterator[ChainTransfer]:
    """Yield the transfers that the node does not have in the block and with the amount that were stored."""
    for row, answer in zip(batch, node.confirm([key_of(row) for row in batch]), strict=True):
        there = answer.block if isinstance(answer, Confirmation) else None
        if there is None or there.hash != row.block_hash:
            yield row
