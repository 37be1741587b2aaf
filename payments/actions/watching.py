"""What a watcher writes: claim a pass, then facts and cursor together. The calls to the node happen in between."""

import logging
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, models, transaction
from django.db.models import Min
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.models import User
from events.actions import record

from ..models import ChainTransfer, NetworkCursor, PaymentIntent, ReservedAddress, ReviewItem, SpentOutput
from ..networks.base import Batch, Block, Confirmation, Held, Replaced, Transfer
from ..quotes import is_dust
from ..registry import families
from .reviews import open_review

log = logging.getLogger(__name__)
Status = ChainTransfer.Status
# How long a watcher that gives no sign of life keeps others away: longer than the slowest answers for one block (four
# calls of 10 s), and after a killed worker short enough that a network does not count as stale (90 s).
LEASE = timedelta(seconds=40)


# The pool counts as watched if it was looked at this lately: a payment can't come and go in between.
POOL_GAP = timedelta(minutes=2)
BLOCK_CLOCKS = timedelta(hours=3)
Answer = Confirmation | Replaced | None


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
    with transaction.atomic(durable=True):
        cursor = my_turn(network, turn)
        now = timezone.now()
        slack = slack_of(cursor, now)
        changed = rewind(network, batch.rewound_to) if batch.rewound_to is not None else []
        known = known_of(network, batch.transfers)
        changed += [row for transfer in batch.transfers if (row := store(network, transfer, slack, known))]
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


def rewind(network: str, height: int) -> list[ChainTransfer]:
    """Take transfers of blocks above `height` out of their blocks, and return them; the scan finds again what is still
    there.

    A final one that is not found again is reversed by `advance`; it comes before a person at once.
    """
    rows = ChainTransfer.objects.filter(network=network, block_height__gt=height)
    orphaned = list(rows.select_for_update(of=("self",), no_key=True).order_by("pk"))
    for row in orphaned:
        if row.status == Status.FINAL:
            alarm_about_final(row, height)
        change(row, Status.SEEN, "transfer.orphaned")
    return orphaned


def alarm_about_final(row: ChainTransfer, height: int) -> None:
    """Put before a person that a block which held a final transfer is gone."""
    log.error("%s: its block %s was replaced above %s although the transfer was final", row, row.block_height, height)
    open_review(
        ReviewItem.Reason.ORPHANED,
        subject=row,
        thread=row.intent.purpose,
        transfer=row,
        block=row.block_hash,
        common_height=str(height),
        suggestion="Look the transaction up in an explorer. If it is gone, stop the rental and ask the customer.",
    )


Known = set[tuple[str, str]]
"""Transaction and position of stored transfers."""


def known_of(network: str, found: Sequence[Transfer]) -> Known:
    """Return which of these transfers are stored already. One query."""
    rows = ChainTransfer.objects.filter(network=network, txid__in={one.txid for one in found})
    return set(rows.values_list("txid", "position")) if found else set()


def store(network: str, found: Transfer, slack: int = 0, known: Known | None = None) -> ChainTransfer | None:
    """Insert a transfer, or update where and what it is: a reorg may change both. Final ones stay as they are. Return
    it if it is new or became different. `known`: those of its batch that were stored
    before; none: not known."""
    key, row = (found.txid, found.position), None
    if known is None or key in known:
        row = ChainTransfer.objects.filter(network=network, txid=found.txid, position=found.position).first()
    if row is None:
        return insert(network, found, slack)
    corrected = not same_transfer(row, found)
    if corrected:
        if found.block is None or row.status in (Status.INCLUDED, Status.FINAL) or row.credited:
            contradict(row, found)
            return None
        correct(row, found)
    return row if place(row, found) or corrected else None


def place(row: ChainTransfer, found: Transfer) -> bool:
    """Note where a known transfer was found now; tell whether that is news."""
    if row.status == Status.FINAL or (found.block is None and row.status == Status.INCLUDED):
        return False
    if found.block is None:
        if row.is_gone:
            change(row, Status.SEEN, "transfer.seen")
            return True
    elif (row.status, row.block_hash) != (Status.INCLUDED, found.block.hash):
        row.block_height, row.block_hash, row.block_time = found.block.height, found.block.hash, found.block.time
        change(row, Status.INCLUDED, "transfer.included")
        return True
    return False


def same_transfer(row: ChainTransfer, found: Transfer) -> bool:
    """Tell whether what was found is what was stored under its key; run again after a reorg it may be another."""
    known = (row.amount, row.method, row.contract)
    return known == (found.amount, found.method or "", found.contract or "") and (
        ReservedAddress.objects.filter(address=found.address, intent=row.intent_id).exists()
    )


def contradict(row: ChainTransfer, found: Transfer) -> None:
    """Put before a person that the network tells something else than before without a reorg. Nothing is changed."""
    open_review(
        ReviewItem.Reason.CHANGED,
        subject=row,
        thread=row.intent.purpose,
        stored=str(row.amount),
        amount=str(found.amount),
        address=found.address,
        suggestion="Look the transaction up in an explorer. What is stored is kept; nothing was credited twice.",
    )


def insert(network: str, found: Transfer, slack: int) -> ChainTransfer | None:
    """Insert a first sight; none for an address that was never issued, or issued before a back-up was restored."""
    intents = PaymentIntent.objects.select_related("address", "order", "topup")
    intent = intents.filter(network=network, address__network=network, address__address=found.address).first()
    if found.amount <= 0:
        return None
    if intent is None:
        keep_stray(network, found)
        return None
    try:
        with transaction.atomic():
            row = ChainTransfer.objects.create(
                network=network,
                txid=found.txid,
                position=found.position,
                intent=intent,
                method=found.method or "",
                contract=found.contract or "",
                amount=found.amount,
                dust=is_dust_for(intent, found),
                explained=found.explained and not older_than_issue(intent, found),
                slack_seconds=slack if found.block else 0,
                **place_of(found),
            )
    except IntegrityError:
        row = ChainTransfer.objects.get(network=network, txid=found.txid, position=found.position)
        return row if place(row, found) else None
    record("transfer.seen", subject=row, thread=story(row), actor=None, amount=str(row.amount), method=row.method)
    replace_rivals(row, found.spends)
    ask_about_strangers(row)
    if found.block:
        record("transfer.included", subject=row, thread=story(row), actor=None, height=row.block_height)
    return row


def place_of(found: Transfer) -> dict[str, Any]:
    """Return the columns of a new row that say where a transfer was found."""
    if found.block is None:
        return {}
    return {
        "status": Status.INCLUDED,
        "block_height": found.block.height,
        "block_hash": found.block.hash,
        "block_time": found.block.time,
    }


def keep_stray(network: str, found: Transfer) -> None:
    """Put before a person money at an address of ours that no instructions have: they were lost with a restored
    back-up, or the key is used elsewhere too. The address is given to nobody any more. Once per address."""
    address = ReservedAddress.objects.get(network=network, address=found.address)
    ReservedAddress.objects.filter(pk=address.pk, issued_at=None).update(issued_at=timezone.now())
    open_review(
        ReviewItem.Reason.STRAY,
        subject=address,
        txid=found.txid,
        address=found.address,
        asset=found.method or found.contract or "",
        amount=str(found.amount),
        suggestion="Find the customer who was given this address before the back-up, and adjust the balance by hand. "
        "If another wallet uses the key, this is its money.",
    )


def older_than_issue(intent: PaymentIntent, found: Transfer) -> bool:
    """Tell whether a transfer was in a block before anybody here was given its address, so that it can't be for this
    intent: a list that an operator brought may hold used addresses. Clocks of blocks are off by two hours at most."""
    issued = intent.address.issued_at
    return bool(found.block and issued and found.block.time < issued - BLOCK_CLOCKS)


def is_dust_for(intent: PaymentIntent, found: Transfer) -> bool:
    return found.method == intent.method and is_dust(found.amount, intent.amount, intent.usd_cents)


def replace_rivals(row: ChainTransfer, spends: Sequence[str]) -> None:
    """Note what a transaction spends. What spends the same is what it replaces: a raised fee inherits the first sight,
    so that nobody pays late because they paid more. A raised amount does not: a cent in time would keep a price."""
    if not spends:
        return
    SpentOutput.objects.bulk_create(SpentOutput(transfer=row, network=row.network, output=output) for output in spends)
    rivals = ChainTransfer.objects.filter(
        network=row.network,
        spent__output__in=spends,
        intent=row.intent_id,
        status__in=(Status.SEEN, *ChainTransfer.GONE),
    ).exclude(txid=row.txid)
    paid = paid_by(row)
    for rival in rivals.distinct().order_by("pk"):
        if rival.status == Status.SEEN:
            rival.replaced_by = row.txid
            change(rival, Status.REPLACED, "transfer.replaced")
        if rival.first_seen_at < row.first_seen_at and paid <= paid_by(rival):
            row.first_seen_at = rival.first_seen_at
            row.save(update_fields=["first_seen_at"])


def paid_by(row: ChainTransfer) -> int:
    """Return what the whole transaction of a transfer pays to its intent, as far as it is stored."""
    rows = ChainTransfer.objects.filter(network=row.network, txid=row.txid, intent=row.intent_id, method=row.method)
    return sum(rows.values_list("amount", flat=True))


def correct(row: ChainTransfer, found: Transfer) -> None:
    """Take over what a transfer pays now: executed again after a reorg, a contract may move another amount."""
    intent = PaymentIntent.objects.get(network=row.network, address__address=found.address)
    before = str(row.amount)
    row.amount, row.method, row.contract, row.intent = found.amount, found.method or "", found.contract or "", intent
    row.dust = is_dust_for(intent, found)
    row.save(update_fields=["amount", "method", "contract", "intent", "dust"])
    record("transfer.changed", subject=row, thread=story(row), actor=None, before=before, amount=str(row.amount))
    ask_about_strangers(row)


def ask_about_strangers(row: ChainTransfer) -> None:
    """Put before a person what no rule can value: an unknown token, and a balance that grew without a transaction."""
    if not row.explained:
        reason, suggestion = (
            ReviewItem.Reason.UNEXPLAINED,
            ("Look the address up in an explorer: an internal transfer, a reward? Then credit it at the market rate."),
        )
    elif not row.method:
        reason, suggestion = ReviewItem.Reason.TOKEN, "Anybody can make a token of any name. Usually: do not credit it."
    else:
        return
    open_review(
        reason,
        subject=row if row.method else row.intent,  # anybody can send a thousand tokens: one item for an intent
        thread=row.intent.purpose,
        transfer=row,
        asset=row.method or row.contract,
        amount=str(row.amount),
        suggestion=suggestion,
    )


def change(row: ChainTransfer, status: ChainTransfer.Status, kind: str) -> None:
    """Move a transfer to what the chain says now and record it on the order's timeline."""
    if status != row.status and status not in ChainTransfer.TRANSITIONS[row.status]:
        raise RuntimeError(f"transfer {row}: {row.status} → {status} can't be")
    if status not in (Status.INCLUDED, Status.FINAL):
        row.block_height, row.block_hash, row.block_time = None, "", None
        row.confirmations, row.finalized, row.seconded = 0, False, None
    row.status = status
    row.save(
        update_fields=[
            "status",
            "block_height",
            "block_hash",
            "block_time",
            "confirmations",
            "finalized",
            "seconded",
            "replaced_by",
        ]
    )
    record(kind, subject=row, thread=story(row), actor=None, height=row.block_height)


def story(row: ChainTransfer) -> models.Model:
    """Return the row whose timeline shows the transfer: dust stays out of the order's."""
    return row if row.dust else row.intent.purpose


def record_confirmations(network: str, turn: int, answers: Sequence[tuple[ChainTransfer, Answer]]) -> set[uuid.UUID]:
    """Write what the network says now about transfers whose fate is open. Return the intents that it told something
    new; how deep a transfer is meanwhile is none.

    A transfer can't be gone while its block is on the chain that was read: behind one address there may be several
    nodes, and one of them lags. Its payer must not be told to pay again.
    """
    told = {asked.pk: answer for asked, answer in answers}
    moved: set[uuid.UUID] = set()
    with transaction.atomic(durable=True):
        read = {tuple(block) for block in my_turn(network, turn).recent}
        rows = ChainTransfer.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=told).order_by("pk")
        for row in rows.select_related("intent__order", "intent__topup"):
            answer = told[row.pk]
            if not isinstance(answer, Confirmation) and (row.block_height, row.block_hash) in read:
                log.warning("%s: the node does not know a transfer of a block that it gave us", row)
            elif row.status != Status.FINAL and confirm(row, answer):
                moved.add(row.intent_id)
    return moved


def confirm(row: ChainTransfer, answer: Answer) -> bool:
    """Write what the network says about one transfer; tell whether more than its depth became different."""
    if isinstance(answer, Replaced):
        row.replaced_by = answer.by or row.replaced_by
        status, news = Status.REPLACED, row.status != Status.REPLACED
    elif answer is None:
        status, news = Status.DROPPED, not row.is_gone
    elif answer.block is None:
        status, news = Status.SEEN, row.is_gone
    else:
        return confirm_in_block(row, answer, answer.block)
    if news:
        change(row, status, f"transfer.{status}")
    return news


def confirm_in_block(row: ChainTransfer, answer: Confirmation, block: Block) -> bool:
    columns = ("block_height", "block_hash", "block_time", "confirmations", "finalized")
    before = [getattr(row, column) for column in columns]
    row.block_height, row.block_hash, row.block_time = block.height, block.hash, block.time
    row.confirmations, row.finalized = answer.confirmations, answer.finalized
    if is_final(row):
        change(row, Status.FINAL, "transfer.final")
        return True
    if row.status != Status.INCLUDED:
        change(row, Status.INCLUDED, "transfer.included")
        return True
    if before == [getattr(row, column) for column in columns]:
        return False
    row.save(update_fields=columns)
    return before[:3] != [block.height, block.hash, block.time]


def record_second(network: str, turn: int, answers: Sequence[tuple[ChainTransfer, Answer]]) -> None:
    """Write what the second provider says about final transfers. One that it does not know waits, and stands before a
    person: it may lag, or the first one may lie."""
    with transaction.atomic(durable=True):
        my_turn(network, turn)
        for asked, answer in answers:
            row = ChainTransfer.objects.select_for_update(of=("self",), no_key=True).get(pk=asked.pk)
            agrees = isinstance(answer, Confirmation) and answer.block is not None
            agrees = agrees and answer.block.hash == row.block_hash  # type: ignore[union-attr]
            if row.status != Status.FINAL or row.seconded == agrees:
                continue
            row.seconded = agrees
            row.save(update_fields=["seconded"])
            if agrees:
                record("transfer.seconded", subject=row, thread=story(row), actor=None)
            else:
                disagree(row)


def disagree(row: ChainTransfer) -> None:
    open_review(
        ReviewItem.Reason.DISAGREE,
        subject=row,
        thread=row.intent.purpose,
        transfer=row,
        block=row.block_hash,
        amount=str(row.amount),
        suggestion="If the second provider is only behind, wait. Else look the transaction up in a third explorer.",
    )


def is_final(row: ChainTransfer) -> bool:
    """Tell whether a transfer is deep enough for what it is worth: its own value or its promise's, the larger."""
    intent = row.intent
    value = intent.usd_cents
    if row.method == intent.method:
        value = max(value, row.amount * intent.usd_cents // intent.amount)
    needed = families()[row.network].finality(value)
    return row.finalized or (not needed.finalized and row.confirmations >= needed.confirmations)


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
            suggestion="Check that the node is on the right chain and fully synced, then resume the network.",
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
