"""Amounts beyond belief, a node that lies or lags, a clock that jumps. Money is neither made nor lost."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone
from story import Network, ask, books_are_right, cursor, save_order

from accounts.models import User
from balance.models import Movement
from catalog.models import Offer
from orders.models import Order
from payments.actions import watching
from payments.models import ChainTransfer, PaymentIntent, ReviewItem
from payments.networks.base import Confirmation, Key
from payments.networks.simulated_node import SimulatedNode

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def order(customer: User, offer: Offer) -> Order:
    made: Order = save_order(customer, offer)
    return made


@pytest.fixture
def intent(network: Network, order: Order) -> PaymentIntent:
    made: PaymentIntent = ask(order)
    return made


def test_an_amount_that_no_column_holds_waits_for_a_person(
    network: Network, order: Order, intent: PaymentIntent
) -> None:
    network.pay(intent, 2**256 - 1)
    network.settle()
    network.watch()
    intent.refresh_from_db()
    order.refresh_from_db()
    assert (intent.settlement, order.payment) == ("review", "seen")
    assert ReviewItem.objects.get().reason == "amount_unbelievable"
    assert not Movement.objects.exists()
    books_are_right()


def test_it_does_not_stand_in_the_way_of_a_kept_promise(network: Network, order: Order, intent: PaymentIntent) -> None:
    """Late money beyond belief waits alone."""
    network.pay(intent)
    network.settle()
    with time_machine.travel(intent.expires_at + timedelta(hours=1), tick=True):
        network.price()
        network.pay(intent, 10**60)
        network.settle()
        intent.refresh_from_db()
    assert intent.settlement == "settled"
    assert [m.amount_cents for m in Movement.objects.filter(kind="transfer")] == [order.total_cents]
    assert ReviewItem.objects.get().reason == "amount_unbelievable"
    books_are_right()


def test_a_lagging_node_does_not_make_a_transfer_vanish(
    network: Network, intent: PaymentIntent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A provider answers from several nodes; one that has no receipt yet must not ask the payer to pay again."""

    def knows_nothing(node: SimulatedNode, keys: Sequence[Key]) -> list[Confirmation | None]:
        return [None for _ in keys]

    network.pay(intent)
    with monkeypatch.context() as lagging:
        lagging.setattr(SimulatedNode, "confirm", knows_nothing)
        network.mine()
    intent.refresh_from_db()
    assert ChainTransfer.objects.get().status == "included" and intent.funding == "covered"
    network.chain.reorg(2, keep=False)  # now its block is gone, and so is the transfer
    network.watch()
    assert ChainTransfer.objects.get().status == "dropped"


def test_a_block_from_the_future_ends_no_promise(network: Network, intent: PaymentIntent) -> None:
    """What a block's time claims was not watched before it has come: else a promise ends while nobody looks."""
    network.mine(at=timezone.now() + timedelta(days=2))
    network.chain.go_down()
    with time_machine.travel(intent.expires_at + timedelta(hours=1), tick=True):
        network.watch()
        intent.refresh_from_db()
    assert intent.quote == "open"


def test_a_lease_of_a_clock_that_went_back_keeps_nobody_away(network: Network) -> None:
    with time_machine.travel(timezone.now() + timedelta(days=1), tick=True):
        assert watching.claim("ethereum")
    assert watching.claim("ethereum")
    assert watching.claim("ethereum") is None


def test_a_fault_of_ours_shows_beside_the_network(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OverflowError("too large")

    with monkeypatch.context() as broken:
        broken.setattr(watching, "record_batch", fails)
        with pytest.raises(OverflowError):
            network.watch()
    assert cursor().error == "OverflowError: too large"
    assert network.watch()
