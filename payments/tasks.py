"""What workers run by timer. The rows are the truth; a lost or doubled message costs nothing."""

import logging
from datetime import timedelta

from celery import shared_task
from django.conf import settings

from . import rates, watcher
from .actions.rates import record_samples
from .networks.base import BadAnswer, Unavailable
from .registry import families, simulated_chain

log = logging.getLogger(__name__)


@shared_task
def watch_all() -> None:
    for network in families():
        try:
            watcher.watch(network)
        except Exception:  # what one network does must not keep the others waiting
            log.exception("%s could not be watched", network)


@shared_task
def sample_rates() -> None:
    for source in rates.sources():
        try:
            record_samples(source.name, source.fetch())
        except (Unavailable, BadAnswer) as error:
            log.warning("rate source %s: %s", source.name, error)


@shared_task
def fill_reserves() -> None:
    for network in families():
        try:
            watcher.fill_reserve(network, settings.RESERVE_SIZE)
        except (Unavailable, BadAnswer) as error:
            log.warning("address reserve of %s: %s", network, error)


@shared_task
def mine_simulated() -> None:
    for network in families():
        simulated_chain(network).mine(waited=timedelta(seconds=settings.SIMULATED_BLOCK_SECONDS))
