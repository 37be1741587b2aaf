"""Pay a balance out (BAL-7): asked for by its customer, approved, sent and recorded by operators. Reserve first.

No key that can spend is here: an operator sends from a wallet of their own. The debit is written with the request, and
comes back only if the payout is refused or cancelled.
"""

import uuid
from datetime import datetime

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from balance.actions import Overdrawn, credit, debit
from balance.models import House, Movement
from events.actions import record
from events.nudge import nudge
from money.usd import localised
from orders.errors import AccountClosed, Refused
from orders.numbering import insert_with_fresh_number

from .. import errors
from ..models import Installation, Payout
from ..payouts import Figures, approval_figures, asked_lately, checked_address, figures_of, is_backed, needs_two
from ..quotes import BASIS
from ..registry import Method, families
from ..registry import method as method_by_code
from ..seals import payout_holds, seal_of_payout
from .intents import told

State, Problem = Payout.State, Payout.Problem
CHECKED_SLIP = 100  # basis points by which the price may move between the figures that are checked and the request
SENDING = ("sending_by", "sending_at")
SENT_COLUMNS = ("txid", "sent_by", "sent_at", "look_at", "problem", *SENDING)
SIGHT_COLUMNS = ("position", "seen_at", "block_height", "block_hash", "confirmations")


def request_payout(
    customer: User, method_code: str, usd_cents: int, address: str, *, shown_amount: int, form_key: uuid.UUID
) -> Payout:
    """Ask for so many cents of the balance in coins; they are debited at once. The same form key again returns the
    first payout. A `Refused` says why nothing was debited; RateMoved if what arrives is less than was shown."""
    method, now = method_by_code(method_code), timezone.now()
    with transaction.atomic(durable=True):
        if not User.objects.select_for_update(no_key=True).get(pk=customer.pk).is_active:
            raise AccountClosed
        existing = Payout.objects.filter(customer=customer, form_key=form_key).first()
        if existing:
            return existing
        figures = figures_of(method, usd_cents, now)
        if isinstance(figures, Refused):
            raise figures
        if figures.amount * BASIS < shown_amount * (BASIS - CHECKED_SLIP):
            raise errors.RateMoved
        if asked_lately(customer, now) >= settings.PAYOUTS_PER_HOUR:
            raise errors.TooManyPayouts
        return insert(balance_row(customer, figures, address, form_key, now), actor=customer)


def balance_row(customer: User, figures: Figures, address: str, form_key: uuid.UUID, now: datetime) -> Payout:
    """Return the row, not yet written, of a payout at these figures; BadReceiver names a fault of the address."""
    return Payout(
        kind=Payout.Kind.BALANCE,
        customer=customer,
        form_key=form_key,
        method=figures.method.code,
        network=figures.method.family.network,
        address=receiver(figures.method, address),
        usd_cents=figures.usd_cents,
        quoted_amount=figures.amount,
        amount=figures.amount,
        quoted_rate_e8=figures.market.price_e8,
        fee=figures.fee,
        requested_by=customer,
        requested_at=now,
    )


def receiver(method: Method, address: str) -> str:
    """Return the normalised address; BadReceiver says what is wrong with it."""
    try:
        return checked_address(method, address)
    except ValueError as error:
        raise errors.BadReceiver(str(error)) from error


def insert(payout: Payout, *, actor: User) -> Payout:
    """Seal and insert a payout and debit its cents; NotThatMuch if the balance does not cover them."""
    payout.seal = seal_of_payout(payout, Installation.objects.get())
    insert_with_fresh_number(payout)
    if payout.usd_cents:
        try:
            debit(
                payout.customer,
                payout.usd_cents,
                house=House.PAYOUTS,
                kind=Movement.Kind.PAYOUT,
                reference=payout.reference,
                actor=actor,
                reason=payout.reason,
            )
        except Overdrawn as short:
            refusal = errors.SpentOnOrder if payout.is_refund else errors.NotThatMuch
            raise refusal(localised(short.available_cents), localised(short.needed_cents)) from short
    record(
        "payout.requested",
        subject=payout,
        thread=payout.story(),
        actor=actor,
        method=payout.method,
        amount=str(payout.quoted_amount),
        usd_cents=payout.usd_cents,
    )
    return payout


def locked(payout_id: int) -> Payout:
    rows = Payout.objects.select_for_update(of=("self",), no_key=True).select_related("customer", "sending_by")
    return rows.get(pk=payout_id)


def cancel(payout_id: int, *, actor: User) -> Payout:
    """Take a request back before it is approved; its sum is in the balance again. Again is harmless."""
    with transaction.atomic(durable=True):
        payout = locked(payout_id)
        if payout.state != State.CANCELLED:
            if payout.state != State.REQUESTED:
                raise moved(payout)
            close(payout, State.CANCELLED, "", actor=actor)
        return payout


def refuse(payout_id: int, *, reason: str, actor: User) -> Payout:
    """Refuse a request, or an approved payout that was not sent; its sum is in the balance again."""
    if not reason.strip():
        raise errors.NoGrounds
    with transaction.atomic(durable=True):
        payout = locked(payout_id)
        if payout.state != State.REFUSED:
            refuse_own(payout, actor)
            if payout.state not in (State.REQUESTED, State.APPROVED):
                raise moved(payout)
            if payout.sending_by:
                raise errors.BeingSent(str(payout.sending_by))
            close(payout, State.REFUSED, reason.strip(), actor=actor)
        return payout


def refuse_own(payout: Payout, actor: User) -> None:
    """Who gets the money does not say that it was not sent: they could keep both."""
    if payout.customer_id == actor.pk:
        raise errors.OwnMoney


def moved(payout: Payout) -> errors.PayoutMoved:
    return errors.PayoutMoved(payout.get_state_display())


def close(payout: Payout, state: Payout.State, decision: str, *, actor: User) -> None:
    """End a payout that will not be sent, and give its cents back."""
    payout.closed_at, payout.closed_by, payout.decision = timezone.now(), actor, decision
    facts = {"reason": decision} if decision else {}
    payout.move_to(state, columns=("closed_at", "closed_by", "decision"), actor=actor, **facts)
    if payout.usd_cents:
        credit(
            payout.customer,
            payout.usd_cents,
            house=House.PAYOUTS,
            kind=Movement.Kind.UNSENT,
            reference=f"{payout.reference}:unsent",
            actor=actor,
            reason=decision,
        )


def approve(payout_id: int, *, actor: User) -> Payout:
    """Agree that it is sent, and fix the amount: of a balance at the market's price of this moment. OwnPayout for who
    asked for it. Where two operators are needed, the first one only notes it. Agreeing again changes nothing.

    The customer is locked: what one operator alone approves for them counts together.
    """
    with transaction.atomic(durable=True):
        User.objects.select_for_update(of=("self",), no_key=True).get(payouts=payout_id)
        payout = locked(payout_id)
        if actor.pk in (payout.approved_by_id, payout.checked_by_id) and not payout.is_closed:
            return payout
        if payout.state != State.REQUESTED:
            raise moved(payout)
        if actor.pk in (payout.requested_by_id, payout.customer_id):
            raise errors.OwnPayout
        require_seal(payout)
        fix_amount(payout)
        if payout.checked_by_id is None and needs_two(payout, actor):
            return note_first(payout, actor=actor)
        payout.approved_by, payout.approved_at = actor, timezone.now()
        payout.seal = seal_of_payout(payout, Installation.objects.get())
        columns = ("amount", "rate_e8", "rate_evidence", "approved_by", "approved_at", "seal")
        payout.move_to(State.APPROVED, columns=columns, actor=actor, amount=str(payout.amount))
        return payout


def note_first(payout: Payout, *, actor: User) -> Payout:
    """Note the first of two persons; the amount is fixed by the second."""
    payout.checked_by, payout.checked_at = actor, timezone.now()
    payout.save(update_fields=["checked_by", "checked_at"])
    record("payout.checked", subject=payout, thread=payout.story(), actor=actor)
    return payout


def fix_amount(payout: Payout) -> None:
    """Set what is to be sent: of a refund what was asked for, as long as its transfer is what it was."""
    if payout.is_refund:
        if not is_backed(payout):
            raise errors.NotBacked
        payout.amount = payout.quoted_amount
        return
    figures = approval_figures(payout)
    if isinstance(figures, Refused):
        raise figures
    payout.amount, payout.rate_e8 = figures.amount, figures.market.price_e8
    payout.rate_evidence = {
        "market_e8": str(figures.market.price_e8),
        "samples": [told(sample) for sample in figures.market.samples],
    }


def require_seal(payout: Payout) -> None:
    if not payout_holds(payout, Installation.objects.get()):
        raise errors.BrokenPayoutSeal


def begin_sending(payout_id: int, *, actor: User) -> Payout:
    """Take an approved payout to send it from one's own wallet: from here nobody else sends or refuses it, so that its
    coins and its cents are never both gone. Again changes nothing; BeingSent if somebody else was first."""
    with transaction.atomic(durable=True):
        payout = locked(payout_id)
        if payout.sending_by_id == actor.pk:
            return payout
        if payout.sending_by:
            raise errors.BeingSent(str(payout.sending_by))
        if payout.state != State.APPROVED:
            raise moved(payout)
        refuse_own(payout, actor)
        require_seal(payout)
        if payout.is_refund and not is_backed(payout):
            raise errors.NotBacked
        payout.sending_by, payout.sending_at = actor, timezone.now()
        payout.save(update_fields=SENDING)
        record("payout.sending", subject=payout, thread=payout.story(), actor=actor)
        return payout


def stop_sending(payout_id: int, *, actor: User) -> Payout:
    """Say that it was not sent after all: it can be sent by another or refused. Only who took it can say so, or an
    owner."""
    with transaction.atomic(durable=True):
        payout = locked(payout_id)
        if payout.sending_by is None:
            return payout
        if payout.sending_by_id != actor.pk and not actor.is_superuser:
            raise errors.BeingSent(str(payout.sending_by))
        refuse_own(payout, actor)
        payout.sending_by = payout.sending_at = None
        payout.save(update_fields=SENDING)
        record("payout.not_sent", subject=payout, thread=payout.story(), actor=actor)
        return payout


def mark_sent(payout_id: int, *, txid: str, actor: User) -> Payout:
    """Record the transaction by which an approved payout was sent. The same one again changes nothing; TransactionUsed
    if it is another payout's to the same address."""
    with transaction.atomic(durable=True):
        payout = locked(payout_id)
        try:
            found = families()[payout.network].check_transaction(txid)
        except ValueError as error:
            raise errors.BadTransaction(str(error)) from error
        if payout.state == State.SENT and payout.txid == found:
            return payout
        if payout.state != State.APPROVED:
            raise moved(payout)
        require_seal(payout)
        payout.txid, payout.sent_by, payout.sent_at = found, actor, timezone.now()
        payout.look_at, payout.problem = payout.sent_at, ""
        payout.sending_by = payout.sending_at = None
        try:
            with transaction.atomic():
                payout.move_to(State.SENT, columns=SENT_COLUMNS, actor=actor, txid=found)
        except IntegrityError:
            raise errors.TransactionUsed(holder_of(payout)) from None
        transaction.on_commit(lambda: nudge("payments.tasks.follow_payouts"), robust=True)
        return payout


def holder_of(payout: Payout) -> str:
    """Return the number of the payout that has this one's transaction and address."""
    rows = Payout.objects.filter(network=payout.network, txid=payout.txid, address=payout.address)
    return rows.exclude(pk=payout.pk).get().number


def take_back(payout_id: int, *, actor: User) -> Payout:
    """Take a recorded transaction back if the network was asked and does not show its payment; it waits to be
    sent again."""
    with transaction.atomic(durable=True):
        payout = locked(payout_id)
        if payout.state == State.APPROVED:
            return payout
        if payout.state != State.SENT:
            raise moved(payout)
        refuse_own(payout, actor)
        if payout.position:
            raise errors.SeenAlready
        if not payout.problem:
            raise errors.NotAskedYet  # it may be seen at any moment, and would be paid twice
        txid = payout.txid
        payout.txid, payout.sent_by, payout.sent_at, payout.look_at, payout.problem = "", None, None, None, ""
        payout.block_height, payout.block_hash, payout.confirmations = None, "", 0
        columns = (*SENT_COLUMNS, "block_height", "block_hash", "confirmations")
        payout.move_to(State.APPROVED, columns=columns, actor=actor, txid=txid)
        return payout


def accept(payout_id: int, *, reason: str, actor: User) -> Payout:
    """Call a payout done whose transaction is in a block and pays something else than it should: another person than
    who sent it has looked, and says why. Nothing moves in the ledger."""
    if not reason.strip():
        raise errors.NoGrounds
    with transaction.atomic(durable=True):
        payout = locked(payout_id)
        if payout.state == State.FINAL:
            return payout
        if payout.state != State.SENT or payout.problem != Problem.OTHER:
            raise errors.NothingToAccept
        if payout.sent_by_id == actor.pk:
            raise errors.OwnPayout
        payout.final_at, payout.look_at, payout.decision = timezone.now(), None, reason.strip()
        columns = ("final_at", "look_at", "decision")
        payout.move_to(State.FINAL, columns=columns, actor=actor, reason=payout.decision)
        return payout
