"""What workers run by timer. The rows are the truth; a lost or doubled message costs nothing."""

import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from celery import shared_task
from django.conf import settings

from . import answering, following, rates, reconciling, watcher
from .actions import following as payouts
from .actions import inquiries, reserve
from .actions.rates import record_failure, record_samples
from .models import NetworkCursor
from .networks.base import BadAnswer, Unavailable
from .registry import families, simulated_chain

log = logging.getLogger(__name__)
RUN_SECONDS = 3.0  # for answers to customers in one go: the same worker reads the networks


@shared_task
def watch_all() -> None:
    for network in families():
        try:
            watcher.watch(network)
        except Exception:  # what one network does must not keep the others waiting
            log.exception("%s could not be watched", network)


@shared_task
def sample_rates() -> None:
    """Ask every source, all at the same time: a slow one must not keep the others waiting. Then write."""
    asked = rates.sources()
    with ThreadPoolExecutor(max_workers=len(asked)) as pool:
        answers = list(pool.map(ask, asked))
    for source, answer in zip(asked, answers, strict=True):
        if isinstance(answer, str):
            record_failure(source.name, answer)
        else:
            record_samples(source.name, answer)


def ask(source: rates.Source) -> Sequence[rates.Quotation | rates.Unpriced] | str:
    """Return what a source answered, or in a sentence why it did not."""
    try:
        return source.fetch()
    except (Unavailable, BadAnswer) as error:
        return str(error)
    except Exception:  # what one source does must not take the others away
        log.exception("rate source %s", source.name)
        return "Its answer could not be read; the log says more."


@shared_task
def fill_reserves() -> None:
    """Fill each reserve once a quarter of it is used: each filling asks a node for histories, which may take long."""
    for network in families():
        try:
            watcher.fill_reserve(network, settings.RESERVE_SIZE, least=settings.RESERVE_SIZE * 3 // 4)
        except (Unavailable, BadAnswer) as error:
            log.warning("address reserve of %s: %s", network, error)
        alarm_if_low(network)


def alarm_if_low(network: str) -> None:
    """Say in the log that customers will soon get no address, while there still are some."""
    cursor = NetworkCursor.objects.filter(pk=network).first()
    if cursor is None or not cursor.genesis:
        return  # the first look at a new installation's network is still to come: no alarm for its owner to read
    left = reserve.ready(cursor).count()
    if left < settings.RESERVE_LOW:
        log.error("%s: only %d addresses are ready; below %d none is given", network, left, settings.RESERVE_EMPTY)


@shared_task
def mine_simulated() -> None:
    for network in families():
        simulated_chain(network).mine(waited=timedelta(seconds=settings.SIMULATED_BLOCK_SECONDS))


@shared_task
def answer_inquiries() -> None:
    """Answer what customers ask the payment doctor. A page nudges it; the timer asks again.

    What is left after RUN_SECONDS is put off: else the message of the next question would go on with it at once.
    """
    ends, waiting = time.monotonic() + RUN_SECONDS, inquiries.due()
    for done, inquiry_id in enumerate(waiting, start=1):
        answering.answer(inquiry_id)
        if time.monotonic() >= ends:
            inquiries.put_off(waiting[done:])
            return


@shared_task
def follow_payouts() -> None:
    """Look at the payouts that were sent. Recording one nudges it; the timer asks again."""
    for payout_id in payouts.due():
        try:
            following.follow(payout_id)
        except Exception:  # what one network does must not keep the others waiting
            log.exception("payout %s could not be looked at", payout_id)


@shared_task
def reconcile() -> None:
    """Compare chain and books; what differs comes before a person."""
    read = set(NetworkCursor.objects.exclude(genesis="").values_list("network", flat=True))
    for network in families().keys() & read:  # of one that was never read there is nothing to check yet
        try:
            reconciling.reconcile(network)
        except Exception:  # what one network does must not keep the others waiting
            log.exception("%s could not be reconciled", network)
    reconciling.reconcile_ledger()
