"""A person refuses a transfer at the moment in which a second provider lets it be credited: one of both happens."""

import threading
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from story import Network, ask, books_are_right, make_customer, make_offer, make_operator, save_order

from payments import errors
from payments.actions import intents, settling
from payments.actions.deciding import decide
from payments.models import ChainTransfer, PaymentIntent, ReviewItem
from payments.registry import node

pytestmark = [pytest.mark.races, pytest.mark.django_db(transaction=True)]


def large_late(network: Network) -> PaymentIntent:
    """Let $6,000 of another asset's worth arrive for a promise that is cancelled: no promise applies to it."""
    intent: PaymentIntent = ask(save_order(make_customer(), make_offer()))
    intents.cancel(intent.pk, actor=intent.customer)
    network.pay(intent, 2 * 10**18)
    network.settle()
    return intent


def test_a_refusal_waits_for_the_credit_that_is_being_written(
    network: Network, on_postgresql: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    intent = large_late(network)
    item = ReviewItem.objects.get(reason="large_unpromised")
    ChainTransfer.objects.update(seconded=True)  # what the second provider says a moment later
    planned, refused = threading.Event(), threading.Event()
    plan, said = settling.plan_of, []

    def slowly(*arguments: Any) -> Any:
        made = plan(*arguments)
        planned.set()
        refused.wait(1)
        return made

    def refuse() -> None:
        planned.wait(10)
        try:
            decide(item.pk, ReviewItem.Outcome.KEPT, reason="spam", actor=make_operator())
        except errors.CreditedAlready as error:
            said.append(error)
        finally:
            refused.set()
            connection.close()

    monkeypatch.setattr(settling, "plan_of", slowly)
    person = threading.Thread(target=refuse)
    person.start()
    derived = node("ethereum").destination(intent.address.index)
    settling.advance(intent.pk, now=timezone.now(), derived=derived)
    person.join(20)
    transfer = ChainTransfer.objects.get()
    assert transfer.credited is not (transfer.verdict == ChainTransfer.Verdict.KEEP)
    assert said
    books_are_right()
