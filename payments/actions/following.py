"""Write what the network says about payouts that were sent. Nothing moves in the ledger."""

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from events.actions import record

from ..models import Payout
from ..networks.base import Block
from ..quotes import BELIEVED_CENTS
from ..registry import families
from .payouts import SIGHT_COLUMNS, locked

State, Problem = Payout.State, Payout.Problem
LEASE = timedelta(minutes=1)  # longer than the slowest answer; a killed worker's payout is looked at again after it
SELDOM = timedelta(minutes=10)  # for one that the network does not show a day after it was sent
AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class Sight:
    """What the network shows of a payout's transaction: its payment's `position` and block, or a `problem`."""

    problem: str = ""
    position: str = ""
    block: Block | None = None
    confirmations: int = 0
    finalized: bool = False


def due() -> list[int]:
    """Return the sent payouts that are to be looked at now, longest waiting first."""
    rows = Payout.objects.filter(state=State.SENT, look_at__lte=timezone.now()).order_by("look_at")
    return list(rows.values_list("pk", flat=True)[:AT_ONCE])


def claim(payout_id: int) -> Payout | None:
    """Begin to look at a sent payout that is due; none if another worker is at it."""
    with transaction.atomic(durable=True):
        payout, now = locked(payout_id), timezone.now()
        if payout.state != State.SENT or payout.look_at is None or payout.look_at > now:
            return None
        payout.look_at = now + LEASE
        payout.save(update_fields=["look_at"])
        return payout


def put_off(claimed: Payout) -> None:
    """Look again a little later: the network could not be asked."""
    rows = Payout.objects.filter(pk=claimed.pk, state=State.SENT, txid=claimed.txid)
    rows.update(look_at=timezone.now() + pause_of(claimed))


def settle(claimed: Payout, sight: Sight) -> None:
    """Write what was seen of a claimed payout; nothing if it has another transaction by now."""
    with transaction.atomic(durable=True):
        payout = locked(claimed.pk)
        if payout.state != State.SENT or payout.txid != claimed.txid:
            return
        before = (payout.position, payout.problem)
        note(payout, sight)
        if is_final(payout, sight):
            payout.final_at, payout.look_at = timezone.now(), None
            columns = (*SIGHT_COLUMNS, "problem", "final_at", "look_at")
            payout.move_to(State.FINAL, columns=columns, actor=None, height=payout.block_height)
            return
        payout.look_at = timezone.now() + pause_of(payout)
        payout.save(update_fields=[*SIGHT_COLUMNS, "problem", "look_at"])
        tell(payout, *before)


def note(payout: Payout, sight: Sight) -> None:
    """Take over what was seen. Who was seen and is gone again is not seen: its operator may have to send again."""
    payout.problem, payout.position = sight.problem, sight.position
    payout.seen_at = (payout.seen_at or timezone.now()) if sight.position else None
    payout.block_height = sight.block.height if sight.block else None
    payout.block_hash = sight.block.hash if sight.block else ""
    payout.confirmations = sight.confirmations


def tell(payout: Payout, position: str, problem: str) -> None:
    """Record what became different: seen for the first time, or wrong."""
    if payout.position and not position:
        record("payout.seen", subject=payout, thread=payout.story(), actor=None, height=payout.block_height)
    if payout.problem != problem and payout.problem in (Problem.FAILED, Problem.OTHER):
        record("payout.went_wrong", subject=payout, thread=payout.story(), actor=None, problem=payout.problem)


def is_final(payout: Payout, sight: Sight) -> bool:
    """Tell whether it is as deep as the network asks for its worth; for the most where no worth is known."""
    if not sight.position or sight.block is None:
        return False
    needed = families()[payout.network].finality(payout.usd_cents or BELIEVED_CENTS)
    return sight.finalized or (not needed.finalized and sight.confirmations >= needed.confirmations)


def pause_of(payout: Payout) -> timedelta:
    """Return how long to wait until the next look: about a block."""
    if not payout.position and payout.sent_at and timezone.now() - payout.sent_at > timedelta(days=1):
        return SELDOM
    return timedelta(seconds=min(max(families()[payout.network].block_seconds, 2.0), 60.0))
