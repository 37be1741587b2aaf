"""What a watcher writes about a network: claim a pass, then facts and cursor together. The calls to the node happen in
between. What a pass read of transfers is written by `arriving`, what it read again by `confirming`."""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Min
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.models import User
from events.actions import record, recording

from ..models import NetworkCursor, ReservedAddress, ReviewItem
from ..networks.base import Batch, Held
from ..registry import families
from .arriving import rewind, store_all
from .reviews import open_review

# How long a watcher that gives no sign of life keeps others away: longer than the slowest answers for one block (four
# calls of 10 s), and after a killed worker short enough that a network does not count as stale (90 s).
LEASE = timedelta(seconds=40)
# The pool counts as watched if it was looked at this lately: a payment can't come and go in between.
POOL_GAP = timedelta(minutes=2)


class LostTurn(Exception):
    """Another watcher wrote since this pass began; its facts are thrown away, the next pass reads them again."""


def claim(network: str) -> NetworkCursor | None:
    """Begin a pass: one watcher per network at a time. None if another one is at it, or the network was stopped."""
    NetworkCursor.objects.get_or_create(network=network)
    with transaction.atomic(durable=True):
        cursor = NetworkCursor.objects.select_for_update(no_key=True).get(pk=network)
        now = timezone.now()
        leased = now < cursor.leased_until <= now + LEASE  # a later end was written by a clock that went back since
        if leased or cursor.state == NetworkCursor.State.STOPPED:
            return None
        cursor.leased_until, cursor.turn = now + LEASE, cursor.turn + 1
        cursor.save(update_fields=["leased_until", "turn"])
        return cursor


def last_pass_ended(cursor: NetworkCursor) -> bool:
    """Tell whether the pass before this one advanced every intent that it told something new."""
    return cursor.ended_turn == cursor.turn - 1


def renew(network: str, turn: int) -> None:
    """Show that the pass is still at work: others stay away for another lease."""
    NetworkCursor.objects.filter(pk=network, turn=turn).update(leased_until=timezone.now() + LEASE)


def free_leases() -> None:
    """Let passes begin at once: the only process with a worker has just started, so whoever held a lease is dead.

    Were one alive after all, it would lose its turn and write nothing.
    """
    now = timezone.now()
    NetworkCursor.objects.filter(leased_until__gt=now).update(leased_until=now)


def my_turn(network: str, turn: int) -> NetworkCursor:
    """Return the cursor, locked; LostTurn if another pass began meanwhile."""
    cursor = NetworkCursor.objects.select_for_update(no_key=True).get(pk=network)
    if cursor.turn != turn or cursor.state == NetworkCursor.State.STOPPED:
        raise LostTurn(network)
    return cursor


def record_batch(network: str, turn: int, batch: Batch) -> set[uuid.UUID]:
    """Write what a pass read: a rewind, the transfers, and the cursor, in one transaction. Return the intents that it
    told something new."""
    with recording():
        cursor = my_turn(network, turn)
        now = timezone.now()
        slack = slack_of(cursor, now)
        changed = rewind(network, batch.rewound_to) if batch.rewound_to is not None else []
        changed += store_all(network, batch.transfers, slack)
        keep_held(network, batch.held, now)
        cursor.genesis = batch.cursor.genesis
        cursor.recent = [list(block) for block in batch.cursor.recent]
        cursor.head, cursor.watched_until = batch.head, watched_by_looks(network, batch.watched_until)
        cursor.leased_until = now + LEASE
        columns = ["genesis", "recent", "head", "watched_until", "leased_until"]
        if not batch.more:
            cursor.last_pass_at, cursor.error = now, ""
            columns += ["last_pass_at", "error"]
        cursor.save(update_fields=columns)
        return {row.intent_id for row in changed}


def slack_of(cursor: NetworkCursor, now: datetime) -> int:
    """Return the seconds by which a block's time may be later than a payment that is first seen in it: what the network
    says where its pool was not watched since the last complete pass, else 0."""
    watched = cursor.last_pass_at is not None and now - cursor.last_pass_at <= POOL_GAP
    return 0 if watched else families()[cursor.network].pool_slack_seconds


def watched_by_looks(network: str, watched: datetime) -> datetime:
    """Return until when a network was watched whose addresses are looked at one by one: where there are more live
    promises than a pass can look at, until the look that is longest ago."""
    if not families()[network].looks_decide:
        return watched
    live = ReservedAddress.objects.filter(network=network, intent__ended_at=None, issued_at__isnull=False)
    oldest = live.aggregate(oldest=Min(Coalesce("looked_at", "issued_at")))["oldest"]
    return min(watched, oldest) if oldest else watched


def keep_held(network: str, held: Sequence[Held], now: datetime) -> None:
    """Keep what was seen at each address that the network looks at one by one, in the order of locks of one table."""
    known = {one.address: one for one in held}
    rows = list(ReservedAddress.objects.filter(network=network, address__in=known).order_by("pk"))
    for row in rows:
        one = known[row.address]
        row.balance, row.mark, row.looked_at = "" if one.balance is None else str(one.balance), one.mark, now
    ReservedAddress.objects.bulk_update(rows, ["balance", "mark", "looked_at"], batch_size=200)


def note_error(network: str, turn: int, error: str) -> None:
    """Keep why a pass failed and let the next one begin; the cursor stays where it was."""
    NetworkCursor.objects.filter(pk=network, turn=turn).update(
        error=error[:500], error_at=timezone.now(), leased_until=timezone.now()
    )


def end_pass(network: str, turn: int, *, advanced: bool) -> None:
    """Give the lease back. `advanced`: nothing of what was read still waits for its intent to hear of it."""
    ended = {"ended_turn": turn} if advanced else {}
    NetworkCursor.objects.filter(pk=network, turn=turn).update(leased_until=timezone.now(), **ended)


def stop(network: str, turn: int, error: str) -> None:
    """Stop a network whose chain is not ours any more, and alarm. Nothing is reversed."""
    with transaction.atomic(durable=True):
        cursor = NetworkCursor.objects.select_for_update(no_key=True).get(pk=network)
        if cursor.turn != turn:
            return
        cursor.state, cursor.error, cursor.error_at = NetworkCursor.State.STOPPED, error[:500], timezone.now()
        cursor.leased_until = timezone.now()
        cursor.save(update_fields=["state", "error", "error_at", "leased_until"])
        record("network.stopped", subject=cursor, actor=None, error=error)
        open_review(
            ReviewItem.Reason.STOPPED,
            subject=cursor,
            error=error,
            suggestion=gettext_noop(
                "Check that the node is on the right chain and fully synced, then resume the network."
            ),
        )


def resume(network: str, *, actor: User) -> None:
    """Watch a stopped network again from where it was; an operator says that the node is right."""
    with transaction.atomic(durable=True):
        cursor = NetworkCursor.objects.select_for_update(no_key=True).get(pk=network)
        if cursor.state != NetworkCursor.State.STOPPED:
            return
        cursor.state, cursor.error = NetworkCursor.State.WATCHING, ""
        cursor.save(update_fields=["state", "error"])
        record("network.resumed", subject=cursor, actor=actor)
