"""One pass over one network: claim, call the node, settle. Runs in workers only."""

import logging
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from django.utils import timezone

from . import queries
from .actions import confirming, reserve, watching
from .actions.settling import advance, reads_of
from .models import ChainTransfer, NetworkCursor
from .networks.base import BadAnswer, Batch, Cursor, Family, ForeignChain, Key, Match, Node, Unavailable
from .registry import families, has_second_provider, second_provider
from .registry import node as node_of

log = logging.getLogger(__name__)
PASSES = 40  # scans in one go; the timer calls again
GAP = 20  # so many unused addresses in a row end what a wallet looks at, by common agreement
CHECKED: set[Family] = set()  # families whose contracts this process has checked


def watch(network: str) -> bool:
    """Read on from the cursor and bring every touched intent to what the facts say; False if nothing was read.

    Intents advance also when the node is down: what is final stays creditable, and a promise that could not be watched
    for a day must end, also on a network that was stopped. There nothing is credited.
    """
    cursor = watching.claim(network)
    if cursor is None:
        if NetworkCursor.objects.filter(pk=network, state=NetworkCursor.State.STOPPED).exists():
            advance_all(network, None, None, complete=False)
        return False
    try:
        node = node_of(network)
        found = read_safely(network, cursor.turn, node)
        if found is None:
            return False
        news = found.news if watching.last_pass_ended(cursor) else None
        advanced = advance_all(network, node, news, complete=found.complete)
        if found.complete:
            watching.end_pass(network, cursor.turn, advanced=advanced)
        return found.complete
    except watching.LostTurn:
        log.info("%s: another watcher was quicker", network)
        return False
    except Exception as error:  # a fault of ours: it shows beside the network, and the next pass may begin at once
        watching.note_error(network, cursor.turn, f"{type(error).__name__}: {error}")
        raise


class Found(NamedTuple):
    """What came of reading: whether it was complete, and the intents that it told something new; none: not known."""

    complete: bool
    news: set[uuid.UUID] | None


def read_safely(network: str, turn: int, node: Node) -> Found | None:
    """Read; keep the reason of a failure. None: the network was stopped."""
    try:
        return Found(True, read(network, turn, node))
    except ForeignChain as error:
        log.error("%s stopped: %s", network, error)
        watching.stop(network, turn, str(error))
        return None
    except (Unavailable, BadAnswer) as error:
        log.warning("%s: %s", network, error)
        watching.note_error(network, turn, str(error))
        return Found(False, None)


def read(network: str, turn: int, node: Node) -> set[uuid.UUID]:
    """Scan to the head, then ask again about every transfer whose fate is open. Return the intents that were told
    something new."""
    news: set[uuid.UUID] = set()
    for _ in range(PASSES):
        row = NetworkCursor.objects.get(pk=network)
        cursor = Cursor(row.genesis, tuple((height, block_hash) for height, block_hash in row.recent))
        batch = scan(network, node, cursor, matching(network, turn))
        check_once(network, node)
        news |= watching.record_batch(network, turn, batch)
        if not batch.more:
            break
    work = queries.open_work(network, timezone.now()).select_related("intent__address")
    rows = list(work.prefetch_related("spent"))
    if rows:
        answers = node.confirm([key_of(row) for row in rows])
        news |= confirming.record_confirmations(network, turn, list(zip(rows, answers, strict=True)))
    ask_second(network, turn)
    return news


def scan(network: str, node: Node, cursor: Cursor, match: Match) -> Batch:
    """Read with the first provider, or with the second while the first one can't: sights and the clock go on. Money
    does not: what a transfer is and how deep is always confirmed by the first."""
    held = queries.held_addresses(network)
    try:
        return node.scan(cursor, match, held)
    except Unavailable as error:
        second = second_provider(network)
        if second is None:
            raise
        log.warning("%s; asking the second provider", error)
        try:
            return second.scan(cursor, match, held)
        except (Unavailable, BadAnswer) as other:
            log.warning("%s, second provider: %s", network, other)
            raise error from other


def ask_second(network: str, turn: int) -> None:
    """Let the second provider confirm what it must; while it does not answer, that money waits."""
    rows = list(queries.wants_second(network)) if has_second_provider(network) else []
    second = second_provider(network) if rows else None
    if second is None:
        return
    try:
        if NetworkCursor.objects.get(pk=network).genesis != second.genesis():
            raise BadAnswer("The second provider is on another chain.")
        answers = second.confirm([key_of(row) for row in rows])
    except (Unavailable, BadAnswer) as error:
        log.warning("%s, second provider: %s", network, error)
        return
    confirming.record_second(network, turn, list(zip(rows, answers, strict=True)))


def check_once(network: str, node: Node) -> None:
    """Check the pinned contracts before this process keeps anything it read: BadAnswer names the one that is wrong.

    After the scan, which knows a foreign chain first: that one is stopped, not merely refused.
    """
    family = families()[network]
    if family not in CHECKED:
        node.check()
        CHECKED.add(family)


def matching(network: str, turn: int) -> Match:
    """Return the look-up of our addresses. Being asked about a block is a sign of life: it keeps the lease."""
    renewed_at = timezone.now()

    def match(addresses: Iterable[str]) -> set[str]:
        nonlocal renewed_at
        if timezone.now() - renewed_at > watching.LEASE / 2:
            watching.renew(network, turn)
            renewed_at = timezone.now()
        return queries.ours_among(network, addresses)

    return match


def key_of(row: ChainTransfer) -> Key:
    spends = tuple(spent.output for spent in row.spent.all())
    address = row.intent.address.address
    return Key(row.txid, row.position, address, row.amount, row.contract or None, spends, row.block_hash)


def advance_all(network: str, node: Node | None, news: set[uuid.UUID] | None, *, complete: bool) -> bool:
    """Advance what may have to move: of those that only wait for their transfers to be final, these `news`, or all if
    that is none. One that fails does not keep the others waiting; then the answer is False. `complete`: the network was
    read to its end just now."""
    failed = False
    for read in reads_of(network, queries.due_intents(network, timezone.now(), news)):
        intent = read.intent
        try:
            derived = node.destination(intent.address.index) if node else None
            advance(intent.pk, now=timezone.now(), derived=derived, complete=complete, read=read)
        except Exception:
            failed = True
            log.exception("intent %s could not be advanced", intent.pk)
    return not failed


def fill_reserve(network: str, size: int, *, least: int | None = None) -> None:
    """Derive addresses until `size` are ready, and store them sealed; nothing is done while `least` are ready.

    The node is asked which of them have a history, and some beyond: a key that another wallet uses too, or one whose
    addresses were handed out before a back-up was restored. Whatever lies before the last used one is not handed out.
    Unavailable: the reserve does not grow now.
    """
    node = node_of(network)
    fingerprint, genesis = node.key_fingerprint(), node.genesis()
    known = NetworkCursor.objects.filter(pk=network).values_list("genesis", flat=True).first()
    if known and known != genesis:
        return  # the watcher stops the network; addresses for another chain are not made
    if least is not None and reserve.ready_of(network, fingerprint) >= least:
        return
    indexes = reserve.missing_indexes(network, fingerprint, size)
    derived = list(derive(node, indexes))
    taken = used_before(node, derived, reserve.skipped_below(network, fingerprint)) if derived else 0
    reserve.add_addresses(network, genesis=genesis, fingerprint=fingerprint, derived=derived, taken_below=taken)


def derive(node: Node, indexes: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Yield each index with its address, as far as the operator's list of addresses reaches, where it is a list."""
    for index in indexes:
        try:
            yield index, node.destination(index)
        except Unavailable as error:
            log.warning("%s", error)
            return


def used_before(node: Node, derived: Sequence[tuple[int, str]], known: int) -> int:
    """Return one more than the last used index of these and of the next few; 0 if none is used. Those below `known`
    need no question: they are not handed out anyway."""
    end = derived[-1][0] + 1
    asked = {address: index for index, address in [*derived, *derive(node, range(end, end + GAP))] if index >= known}
    used = node.used(list(asked))
    return max((asked[address] + 1 for address in used), default=0)
