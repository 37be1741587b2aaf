"""Look at payouts that were sent: claim, ask the network about the transaction, settle. Workers only."""

import logging
from datetime import timedelta

from django.utils import timezone

from . import queries
from .actions import following
from .actions.following import Sight
from .models import NetworkCursor, Payout
from .networks.base import BadAnswer, Confirmation, Finding, Key, Node, Transfer, Unavailable
from .registry import method as method_by_code
from .registry import node

log = logging.getLogger(__name__)
Problem = Payout.Problem
BLOCK_CLOCKS = timedelta(hours=3)  # a block's time may be off by two hours


def follow(payout_id: int) -> None:
    """Look at one sent payout. May run twice and at once."""
    payout = following.claim(payout_id)
    if payout is None:
        return
    try:
        if not queries.watching(NetworkCursor.objects.filter(pk=payout.network).first(), timezone.now()):
            raise Unavailable(f"{payout.network} is not watched now.")
        sight = look(node(payout.network), payout)
    except (Unavailable, BadAnswer) as error:
        log.warning("payout %s, %s: %s", payout, payout.network, error)
        following.put_off(payout)
        return
    following.settle(payout, sight)


def look(asked: Node, payout: Payout) -> Sight:
    """Return what a node shows of a payout. A node without an index finds its transaction in the block it was in."""
    if payout.block_hash and (again := confirmed(asked, payout, payout.position, payout.block_hash)):
        return again
    finding = asked.look_up(payout.txid)
    if finding is None:
        return Sight(Problem.UNKNOWN)
    if finding.failed:
        return Sight(Problem.FAILED)
    payment = payment_of(finding, payout)
    if payment is None:
        # Of what waits in the pool not every network tells all that it pays.
        return Sight(Problem.OTHER, block=finding.block) if finding.block else Sight(Problem.UNKNOWN)
    if finding.block is None:
        return Sight(position=payment.position)
    return confirmed(asked, payout, payment.position, finding.block.hash) or Sight(Problem.UNKNOWN)


def payment_of(finding: Finding, payout: Payout) -> Transfer | None:
    """Return the payment of exactly the amount in exactly the asset to the address. One from before the approval is
    another one."""
    if finding.block and payout.approved_at and finding.block.time < payout.approved_at - BLOCK_CLOCKS:
        return None
    wanted = (payout.address, payout.amount, payout.method)
    return next((one for one in finding.payments if (one.address, one.amount, one.method) == wanted), None)


def confirmed(asked: Node, payout: Payout, position: str, block: str) -> Sight | None:
    """Read the payment again at its place; none if it is not there."""
    contract = method_by_code(payout.method).asset.contract
    key = Key(payout.txid, position, payout.address, payout.amount, contract, block=block)
    answer = asked.confirm([key])[0]
    if not isinstance(answer, Confirmation):
        return None
    return Sight("", position, answer.block, answer.confirmations, answer.finalized)
