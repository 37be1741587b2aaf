"""One watcher per network writes, and what it writes is judged whole."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from story import Network, ask, cursor, kinds, make_customer, make_offer, save_order
from together import at_once, errors

from payments import watcher
from payments.actions import settling, watching
from payments.models import ChainTransfer, NetworkCursor, PaymentIntent
from payments.registry import node

pytestmark = [pytest.mark.races, pytest.mark.django_db(transaction=True)]


def test_of_eight_watchers_that_begin_at_once_one_gets_the_turn(network: Network) -> None:
    turn = cursor().turn
    outcomes = at_once([lambda: getattr(watching.claim("ethereum"), "turn", None)] * 8)
    assert errors(outcomes) == {"": 8}
    assert sorted(str(outcome.value) for outcome in outcomes) == [*[str(turn + 1)], *["None"] * 7]


def test_a_watcher_that_was_overtaken_writes_nothing_of_its_old_pass(network: Network) -> None:
    order = save_order(make_customer(), make_offer())
    intent = ask(order)
    slow = watching.claim("ethereum")
    assert slow is not None
    assert not network.watch()  # the slow one is still at it
    NetworkCursor.objects.update(leased_until=timezone.now())
    network.chain.mine()
    assert network.watch()
    network.pay(intent)
    with pytest.raises(watching.LostTurn):
        watcher.read("ethereum", slow.turn, node("ethereum"))
    assert not ChainTransfer.objects.exists()
    assert network.watch()
    assert kinds(order).count("transfer.seen") == 1


def test_a_payment_found_while_its_promise_is_judged_keeps_the_promise_alive(
    network: Network, on_postgresql: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Facts and clock commit together, so whoever sees the clock past the end must see the facts before it too.

    On SQLite nobody can write while a promise is judged.
    """
    intent = ask(save_order(make_customer(), make_offer()))
    network.pay(intent)
    network.chain.mine(at=intent.expires_at + timedelta(minutes=1))
    look_at_the_clock = settling.watched_until

    def look_after_the_watcher_wrote(code: str) -> object:
        thread = threading.Thread(target=read_the_chain)
        thread.start()
        thread.join()
        return look_at_the_clock(code)

    monkeypatch.setattr(settling, "watched_until", look_after_the_watcher_wrote)
    settling.advance(intent.pk, now=intent.expires_at + timedelta(minutes=2), derived=None)
    assert cursor().watched_until == intent.expires_at + timedelta(minutes=1)
    intent.refresh_from_db()
    assert intent.quote == PaymentIntent.Quote.OPEN
    assert intent.ended_at is None
    assert intent.funding == PaymentIntent.Funding.COVERED


def read_the_chain() -> None:
    turn = watching.claim("ethereum")
    assert turn is not None
    watcher.read("ethereum", turn.turn, node("ethereum"))
    connection.close()
