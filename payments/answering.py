"""Answer what customers ask the payment doctor: claim, read our rows and ask nodes, settle. Runs in workers only."""

import logging
import uuid
from collections.abc import Iterable

from django.utils import timezone

from . import doctor, queries
from .actions import inquiries
from .doctor import Asked, Clue, Diagnosis
from .models import Inquiry, NetworkCursor, PaymentIntent
from .networks.base import BadAnswer, Unavailable
from .registry import families, node

log = logging.getLogger(__name__)


def answer(inquiry_id: uuid.UUID) -> None:
    """Answer one question, or note when to ask again. May run twice and at once: one answer is kept."""
    inquiry = inquiries.claim(inquiry_id)
    if inquiry is None:
        return
    try:
        found = examine(inquiry)
    except Exception:  # a fault of ours: the customer must hear something, and the others must not wait
        log.exception("inquiry %s could not be answered", inquiry.pk)
        found = [Diagnosis("unreachable", networks=tuple(families()))]
    inquiries.settle(inquiry, found)


def examine(inquiry: Inquiry) -> list[Diagnosis]:
    """Return what is true of the text of a question."""
    reading = doctor.read(inquiry.text, families().values())
    if reading.transactions:
        return of_transactions(inquiry, reading.transactions, reading.elsewhere)
    if reading.elsewhere:
        return [Diagnosis("other_chain", name=reading.elsewhere)]
    if reading.addresses:
        return of_addresses(inquiry, reading.addresses)
    return [Diagnosis("unreadable")]


def of_transactions(inquiry: Inquiry, clues: Iterable[Clue], elsewhere: str) -> list[Diagnosis]:
    """Look at our rows first, then ask each network about what they do not have."""
    asked = Asked()
    for clue in clues:
        stored = queries.stored_transfers(inquiry.customer, clue.network, txid=clue.value)
        if stored:
            asked.found += [with_fee(doctor.of_row(one, inquiry.intent), clue) for one in stored]
        elif not elsewhere:
            ask_network(inquiry, clue, asked)
    if elsewhere and not asked.found:
        return [Diagnosis("other_chain", name=elsewhere)]
    concluded = asked.conclude(last=inquiries.is_last(inquiry))
    meant = inquiry.intent.network if inquiry.intent else ""
    return sorted(concluded, key=lambda one: meant not in one.networks)  # first the network that the customer means


def ask_network(inquiry: Inquiry, clue: Clue, asked: Asked) -> None:
    """Ask one network about a transaction; one that is not watched now is as silent as one that does not answer."""
    try:
        if not queries.watching(NetworkCursor.objects.filter(pk=clue.network).first(), timezone.now()):
            raise Unavailable(f"{clue.network} is not watched now.")
        finding = node(clue.network).look_up(clue.value)
    except (Unavailable, BadAnswer) as error:
        log.warning("inquiry %s, %s: %s", inquiry.pk, clue.network, error)
        asked.silent.append(clue.network)
        return
    if finding is None:
        asked.unknown.append(clue.network)
        return
    mine = own_intents(inquiry, clue.network, {one.address for one in finding.payments})
    asked.found += doctor.of_finding(clue.network, finding, mine)


def own_intents(inquiry: Inquiry, network: str, addresses: Iterable[str]) -> dict[str, PaymentIntent]:
    """Return the customer's own instructions that have one of these addresses. Nobody else's are looked at."""
    rows = PaymentIntent.objects.filter(
        customer=inquiry.customer, network=network, address__address__in=list(addresses)
    ).select_related("address")
    return {intent.address.address: intent for intent in rows}


def with_fee(found: Diagnosis, clue: Clue) -> Diagnosis:
    """Add to a transfer in the pool whether its fee is too low, where the node can tell."""
    if found.code != "pool":
        return found
    try:
        finding = node(clue.network).look_up(clue.value)
    except (Unavailable, BadAnswer):
        return found
    return doctor.with_fee(found, low=bool(finding and finding.low_fee))


def of_addresses(inquiry: Inquiry, clues: Iterable[Clue]) -> list[Diagnosis]:
    """Say which of the addresses are the customer's own and what each got. Of others nothing is said."""
    found: list[Diagnosis] = []
    for clue in clues:
        for intent in own_intents(inquiry, clue.network, [clue.value]).values():
            stored = queries.stored_transfers(inquiry.customer, clue.network, intent=intent)
            found.append(Diagnosis("own_address", networks=(clue.network,), intent=str(intent.pk)))
            found += [doctor.of_row(one, inquiry.intent) for one in stored]
            if not stored:
                found[-1] = Diagnosis("own_address_empty", networks=(clue.network,), intent=str(intent.pk))
    return found or [Diagnosis("not_own_address")]
