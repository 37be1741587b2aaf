"""What each network's nodes say, and how far the worker has read."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_noop as _

from .. import queries
from ..findings import ATTENTION, BAD, GOOD, Finding
from ..models import NetworkCursor
from ..networks.base import BadAnswer, Block, Family, Node, Unavailable
from ..registry import REAL, families, is_simulated, node, second_provider
from .addresses import ADDRESSES, of_addresses
from .hush import hush

BLOCKS_LATE = 10  # the usual time of so many blocks without one: the node is behind
SECOND_LATE = 5  # blocks that one of two providers may be behind the other
NETWORKS = _("Networks")


@dataclass(slots=True)
class Seen:
    """What a node said: none and "" where it did not get that far. `contracts`: what is wrong with them."""

    genesis: str = ""
    head: Block | None = None
    contracts: str = ""
    error: str = ""
    addresses: tuple[str, ...] = ()


@dataclass(slots=True)
class Looked:
    """The first provider of a network and the second one; none where there is none."""

    first: Seen
    second: Seen | None


def networks() -> Iterator[Finding]:
    """Ask all nodes at the same time: a silent one must not add its waiting to the others'."""
    made = {network: nodes_of(network) for network in families()}
    pairs = {network: pair for network, pair in made.items() if isinstance(pair, tuple)}
    with ThreadPoolExecutor(max_workers=2 * len(made)) as pool:
        firsts = {network: pool.submit(look, pair[0], contracts=True) for network, pair in pairs.items()}
        seconds = {network: pool.submit(look, pair[1], contracts=False) for network, pair in pairs.items() if pair[1]}
    for network, family in families().items():
        pair = made[network]
        if isinstance(pair, str):
            yield wrong_settings(network, family, pair)
            continue
        second = seconds[network].result() if network in seconds else None
        yield from of_network(network, family, Looked(firsts[network].result(), second))


def nodes_of(network: str) -> tuple[Node, Node | None] | str:
    """Return both providers, or in a sentence why they cannot be made. Here, since it may read the database."""
    try:
        if not is_simulated() and not REAL[network].has_node:
            return f"{REAL[network].url} is not set for this process."
        return node(network), second_provider(network)
    except (ValueError, Unavailable, BadAnswer) as error:
        return hush(str(error))


def look(one: Node, *, contracts: bool) -> Seen:
    """Ask one node everything; the first question that it does not answer is the last."""
    seen = Seen()
    try:
        seen.addresses = tuple(addresses_of(one)) if contracts else ()
        seen.genesis = one.genesis()
        seen.head = one.head()
        if contracts:
            check_contracts(one, seen)
    except (Unavailable, BadAnswer, ValueError) as error:
        seen.error = hush(str(error))
    except Exception as error:  # a fault of ours: the others must be told all the same
        seen.error = type(error).__name__
    return seen


def check_contracts(one: Node, seen: Seen) -> None:
    try:
        one.check()
    except BadAnswer as error:
        seen.contracts = hush(str(error))


def addresses_of(one: Node) -> Iterator[str]:
    """Yield the first addresses, as far as the operator's list reaches, where it is a list."""
    for index in range(ADDRESSES):
        try:
            yield one.destination(index)
        except Unavailable:
            return


def wrong_settings(network: str, family: Family, error: str) -> Finding:
    return Finding(
        NETWORKS,
        BAD,
        _("%(network)s: the node cannot be asked: %(error)s"),
        _("No payment on this network is seen until it can. What arrives meanwhile is not lost."),
        _("Set %(url)s and %(key)s as docs/settings.md says, for the worker and for this command."),
        names(network, family) | {"error": error},
    )


def names(network: str, family: Family) -> dict[str, Any]:
    real = REAL[network]
    return {"network": family.name, "url": real.url, "key": real.key, "second": real.second}


def of_network(network: str, family: Family, looked: Looked) -> Iterator[Finding]:
    cursor, facts = NetworkCursor.objects.filter(pk=network).first(), names(network, family)
    yield of_node(family, looked.first, facts)
    if looked.first.head:
        yield from of_chain(family, cursor, looked.first, facts)
    yield of_reading(cursor, facts)
    yield of_second(looked, facts)
    if looked.first.addresses:
        yield of_addresses(network, family, looked.first.addresses, facts)


def of_node(family: Family, seen: Seen, facts: dict[str, Any]) -> Finding:
    """Say whether the node answers, and how old its newest block is."""
    if seen.head is None:
        return Finding(
            NETWORKS,
            BAD,
            _("%(network)s: the node does not answer: %(error)s"),
            _("No payment on this network is seen or credited until it does. What arrives meanwhile is not lost."),
            _("Check that the node runs, that this machine reaches it, and %(url)s."),
            facts | {"error": seen.error},
        )
    age = round((timezone.now() - seen.head.time).total_seconds())
    facts = facts | {"height": seen.head.height, "seconds": abs(age)}
    if age > max(BLOCKS_LATE * family.block_seconds, 300):
        return Finding(
            NETWORKS,
            ATTENTION,
            _("%(network)s: the node's newest block %(height)d is %(seconds)d seconds old."),
            _("The node is behind its network, or this machine's clock is ahead. Payments are seen late."),
            _("Let the node catch up; compare its height with a public explorer; check the clock (NTP)."),
            facts,
        )
    if age < -max(2 * family.block_seconds, 120):
        return Finding(
            NETWORKS,
            ATTENTION,
            _("%(network)s: the node's newest block %(height)d is %(seconds)d seconds in the future."),
            _("This machine's clock is behind: promises would end too late and prices look too new."),
            _("Set the clock by NTP."),
            facts,
        )
    text = _("%(network)s: the node answers; its newest block is %(height)d, %(seconds)d seconds old.")
    return Finding(NETWORKS, GOOD, text, facts=facts)


def of_chain(family: Family, cursor: NetworkCursor | None, seen: Seen, facts: dict[str, Any]) -> Iterator[Finding]:
    """Say whether it is the chain that we have always read, with the tokens that we take."""
    if cursor and cursor.genesis and cursor.genesis != seen.genesis:
        yield Finding(
            NETWORKS,
            BAD,
            _("%(network)s: the node is on another chain than the one that this installation has read."),
            _("The worker refuses to read it: money of one chain must not count on another."),
            _("Point %(url)s to a node of the right chain, then resume the network in the administration."),
            facts,
        )
    elif seen.contracts or seen.error:
        yield Finding(
            NETWORKS,
            BAD,
            _("%(network)s: the contracts of its tokens could not be confirmed: %(error)s"),
            _("Nothing on this network is read until they are: another contract is another token."),
            _("Check the node and the contract addresses in the settings."),
            facts | {"error": seen.contracts or seen.error},
        )
    elif tokens := [asset.symbol for asset in family.assets if asset.contract]:
        text = _("%(network)s: the right chain; the contracts of %(tokens)s are what they should be.")
        yield Finding(NETWORKS, GOOD, text, facts=facts | {"tokens": ", ".join(tokens)})
    else:
        yield Finding(NETWORKS, GOOD, _("%(network)s: the right chain."), facts=facts)


def of_reading(cursor: NetworkCursor | None, facts: dict[str, Any]) -> Finding:
    """Say how far the worker has read."""
    now = timezone.now()
    if cursor is None or cursor.last_pass_at is None:
        return Finding(
            NETWORKS,
            ATTENTION,
            _("%(network)s: the worker has not read it to its end yet."),
            _("Customers get no payment instructions for it until it has."),
            _("Wait a minute after a first start; then see whether a worker runs."),
            facts,
        )
    error = hush(cursor.error)
    facts = facts | {"seconds": seconds_since(cursor.last_pass_at, now), "error": error, "height": cursor.height}
    if cursor.state == NetworkCursor.State.STOPPED:
        return Finding(
            NETWORKS,
            BAD,
            _("%(network)s: stopped: %(error)s"),
            _("Nothing is credited on it. It does not go on by itself."),
            _("Put the node right, then let the owner resume the network in the administration."),
            facts,
        )
    if not queries.watching(cursor, now):
        return Finding(
            NETWORKS,
            BAD,
            _("%(network)s: the worker last read it to its end %(seconds)d seconds ago. %(error)s"),
            _("It takes no new payment instructions; payments are seen once it is read again."),
            _("See whether a worker runs and whether the node answers."),
            facts,
        )
    text = _("%(network)s: read up to block %(height)s, %(seconds)d seconds ago.")
    return Finding(NETWORKS, GOOD, text, facts=facts)


def seconds_since(moment: datetime, now: datetime) -> int:
    return round((now - moment).total_seconds())


def of_second(looked: Looked, facts: dict[str, Any]) -> Finding:
    """Say whether the second provider tells the same."""
    first, second = looked.first, looked.second
    if second is None:
        return Finding(
            NETWORKS,
            GOOD,
            _("%(network)s: there is no second provider."),
            _("The one node is believed for every amount."),
            _("Set %(second)s if you take large payments: then both must agree about them."),
            facts,
        )
    if second.head is None:
        return Finding(
            NETWORKS,
            ATTENTION,
            _("%(network)s: the second provider does not answer: %(error)s"),
            _("Large payments wait until it does; others are credited as always."),
            _("Check %(second)s."),
            facts | {"error": second.error},
        )
    if first.genesis and first.genesis != second.genesis:
        return Finding(
            NETWORKS,
            BAD,
            _("%(network)s: the second provider is on another chain than the first."),
            _("It confirms nothing, so large payments wait."),
            _("Check %(second)s."),
            facts,
        )
    return of_distance(first.head.height - second.head.height if first.head else 0, facts)


def of_distance(apart: int, facts: dict[str, Any]) -> Finding:
    """Say how many blocks the first provider is ahead of the second, or behind it."""
    facts = facts | {"blocks": abs(apart)}
    if abs(apart) > SECOND_LATE:
        text = (
            _("%(network)s: the second provider is %(blocks)d blocks behind.")
            if apart > 0
            else _("%(network)s: the node is %(blocks)d blocks behind the second provider.")
        )
        means = _("Payments are seen or confirmed later than they could be.")
        return Finding(NETWORKS, ATTENTION, text, means, _("Let the one that is behind catch up."), facts)
    return Finding(NETWORKS, GOOD, _("%(network)s: the second provider is %(blocks)d blocks away."), facts=facts)
