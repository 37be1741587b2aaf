"""Write what a pass found of transfers: first sights, what they replace, where they are, and what a reorg took away."""

import logging
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from events.actions import record

from ..models import ChainTransfer, PaymentIntent, ReservedAddress, ReviewItem, SpentOutput
from ..networks.base import Transfer
from ..quotes import is_dust
from .moving import change, story
from .reviews import open_review

log = logging.getLogger(__name__)
Status = ChainTransfer.Status
BLOCK_CLOCKS = timedelta(hours=3)
Known = set[tuple[str, str]]
"""Transaction and position of stored transfers."""


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
        suggestion=gettext_noop(
            "Look the transaction up in an explorer. If it is gone, stop the rental and ask the customer."
        ),
    )


def known_of(network: str, found: Sequence[Transfer]) -> Known:
    """Return which of these transfers are stored already. One query."""
    rows = ChainTransfer.objects.filter(network=network, txid__in={one.txid for one in found})
    return set(rows.values_list("txid", "position")) if found else set()


def store_all(network: str, found: Sequence[Transfer], slack: int) -> list[ChainTransfer]:
    """Store what a pass read, in its order; return the rows that are new or became different. First sights are inserted
    together."""
    known = known_of(network, found)
    fresh = insert_together(network, [one for one in found if key_of(one) not in known], slack)
    changed = []
    for transfer in found:
        row = fresh.pop(key_of(transfer), None)
        if row is not None:
            announce(row, transfer)
            known.add(key_of(transfer))  # the same transfer once more is an update
        else:
            row = store(network, transfer, slack, known)
        changed += [row] if row else []
    return changed


def key_of(found: Transfer) -> tuple[str, str]:
    return found.txid, found.position


def insert_together(network: str, found: Sequence[Transfer], slack: int) -> dict[tuple[str, str], ChainTransfer]:
    """Insert first sights for our intents with one statement; return the rows by key. None of them if another process
    was quicker with one: then each is looked at by itself."""
    intents = intents_at(network, {one.address for one in found})
    rows: dict[tuple[str, str], ChainTransfer] = {}
    for one in found:
        if one.amount > 0 and one.address in intents and key_of(one) not in rows:
            rows[key_of(one)] = fresh_row(network, one, intents[one.address], slack)
    if not rows:
        return {}
    try:
        with transaction.atomic():
            ChainTransfer.objects.bulk_create(rows.values())
    except IntegrityError:
        return {}
    return rows


def intents_at(network: str, addresses: Collection[str]) -> dict[str, PaymentIntent]:
    """Return the intents with these addresses, by address, with what they are for."""
    intents = PaymentIntent.objects.select_related("address", "order", "topup")
    rows = intents.filter(network=network, address__network=network, address__address__in=addresses)
    return {intent.address.address: intent for intent in rows} if addresses else {}


def store(network: str, found: Transfer, slack: int = 0, known: Known | None = None) -> ChainTransfer | None:
    """Insert a transfer, or update where and what it is: a reorg may change both. Final ones stay as they are. Return
    it if it is new or became different. `known`: those of its batch that were stored before; none: not known."""
    key, row = key_of(found), None
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
        suggestion=gettext_noop(
            "Look the transaction up in an explorer. What is stored is kept; nothing was credited twice."
        ),
    )


def insert(network: str, found: Transfer, slack: int) -> ChainTransfer | None:
    """Insert a first sight; none for an address that was never issued, or issued before a back-up was restored."""
    if found.amount <= 0:
        return None
    intent = intents_at(network, {found.address}).get(found.address)
    if intent is None:
        keep_stray(network, found)
        return None
    row = fresh_row(network, found, intent, slack)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        row = ChainTransfer.objects.get(network=network, txid=found.txid, position=found.position)
        return row if place(row, found) else None
    announce(row, found)
    return row


def fresh_row(network: str, found: Transfer, intent: PaymentIntent, slack: int) -> ChainTransfer:
    """Build the row of a first sight; it is not saved yet."""
    return ChainTransfer(
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


def announce(row: ChainTransfer, found: Transfer) -> None:
    """Record a first sight, and what it means for others."""
    record("transfer.seen", subject=row, thread=story(row), actor=None, amount=str(row.amount), method=row.method)
    replace_rivals(row, found.spends)
    ask_about_strangers(row)
    if found.block:
        record("transfer.included", subject=row, thread=story(row), actor=None, height=row.block_height)


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
        suggestion=gettext_noop(
            "Find the customer who was given this address before the back-up, and adjust the balance by hand. "
            "If another wallet uses the key, this is its money."
        ),
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
            gettext_noop(
                "Look the address up in an explorer: an internal transfer, a reward? Then credit it at the market rate."
            ),
        )
    elif not row.method:
        reason = ReviewItem.Reason.TOKEN
        suggestion = gettext_noop("Anybody can make a token of any name. Usually: do not credit it.")
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
