"""One question asked many times at once is one question with one answer, and one call for a person."""

import pytest
from story import Network, ask, make_customer, make_offer, save_order
from together import at_once, errors

from balance.models import Movement
from payments import answering
from payments.actions import inquiries
from payments.models import ChainTransfer, Inquiry, ReviewItem

pytestmark = [pytest.mark.races, pytest.mark.django_db(transaction=True)]


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-101"])
def test_the_same_transaction_asked_about_at_once_is_one_question_with_one_answer(network: Network, case: str) -> None:
    customer = make_customer()
    intent = ask(save_order(customer, make_offer()))
    txid = network.pay(intent)
    network.settle()
    asked = at_once([lambda: str(inquiries.ask(txid, intent=intent, actor=customer).pk)] * 8)
    assert errors(asked) == {"": 8}
    [question] = Inquiry.objects.all()
    assert {one.value for one in asked} == {str(question.pk)}
    assert errors(at_once([lambda: answering.answer(question.pk)] * 8)) == {"": 8}
    question.refresh_from_db()
    assert (question.tries, [one["code"] for one in question.answer["found"]]) == (1, ["credited"])
    assert ChainTransfer.objects.count() == 1
    assert Movement.objects.filter(kind=Movement.Kind.TRANSFER).count() == 1


def test_a_claim_sent_many_times_at_once_comes_before_a_person_once(network: Network) -> None:
    customer = make_customer()
    question = inquiries.ask("https://bscscan.com/tx/0x" + "a" * 64, intent=None, actor=customer)
    answering.answer(question.pk)
    sent = at_once([lambda: inquiries.claim_payment(question.pk, note="mine", actor=customer)] * 8)
    assert errors(sent) == {"": 8}
    assert ReviewItem.objects.filter(reason="claim").count() == 1
