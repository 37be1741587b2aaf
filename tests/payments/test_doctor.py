"""The payment doctor: where a payment is, in words, for its owner alone; it credits nothing and hides nothing."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from story import ask, books_are_right, make_customer, make_operator, save_order

from balance.models import Movement
from payments import answering, doctor, tasks, watcher
from payments.actions import inquiries
from payments.actions.deciding import decide
from payments.errors import NothingToClaim, TooManyAsked
from payments.inquiry_pages import answer_of
from payments.models import ChainTransfer, Inquiry, PaymentIntent, ReviewItem
from payments.networks.ethereum import Ethereum
from payments.registry import families, method
from payments.tasks import answer_inquiries

pytestmark = pytest.mark.django_db
NOWHERE = "0123456789abcdef" * 4


def question(shop: Any, text: str, intent: PaymentIntent | None = None) -> Inquiry:
    """Ask, let a worker answer once, and return the question."""
    watch_others()
    made = inquiries.ask(text, intent=intent, actor=shop.customer)
    answering.answer(made.pk)
    made.refresh_from_db()
    return made


def watch_others() -> None:
    """Look at the networks that nobody pays on here: they are asked too."""
    for network in families():
        if network != "ethereum":
            watcher.watch(network)


def codes(inquiry: Inquiry) -> list[str]:
    return [line.word.code for line in answer_of(inquiry).lines]


def words(inquiry: Inquiry) -> str:
    return " ".join(f"{line.word.label}. {line.word.text}" for line in answer_of(inquiry).lines)


def ask_until_answered(shop: Any, inquiry: Inquiry) -> Inquiry:
    while inquiry.answered_at is None:
        shop.clock.move_to(inquiry.due_at)
        shop.network.watch()
        watch_others()
        answer_inquiries()
        inquiry.refresh_from_db()
    return inquiry


def test_a_payment_is_followed_from_the_pool_to_the_balance(shop: Any) -> None:
    intent = shop.ask(shop.order())
    txid = shop.network.pay(intent)
    assert codes(question(shop, txid)) == ["pool"]
    shop.wait(2)
    shop.block(2)
    confirming = question(shop, txid)
    assert str(answer_of(confirming).lines[0].word.label) == "Confirming, 2 of 3"
    shop.wait(2)
    shop.block()
    paid = question(shop, f"https://explorer.example/tx/{txid}?tab=logs")
    assert codes(paid) == ["credited"]
    assert "$100.00" in words(paid)
    buttons = answer_of(paid).lines[0].buttons
    assert [button.url for button in buttons] == [intent.order.get_absolute_url(), reverse("balance:statement")]
    books_are_right()


def test_a_payment_in_a_block_that_was_not_read_yet_is_found(shop: Any) -> None:
    intent = shop.ask(shop.order())
    txid = shop.network.pay(intent)
    shop.network.chain.mine()
    made = question(shop, txid, intent)
    assert (codes(made), made.answered_at) == (["found"], None)
    assert codes(ask_until_answered(shop, made)) == ["confirming"]


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-38"])
def test_one_transaction_named_for_two_instructions_pays_the_owner_of_its_address_alone(shop: Any, case: str) -> None:
    first, second = shop.ask(shop.order()), shop.ask(shop.order())
    txid = shop.network.pay(first)
    shop.block(3)
    for intent in (first, second):
        shop.wait(2)
        found = question(shop, txid, intent)
        assert [one["intent"] for one in found.answer["found"]] == [str(first.pk)]
    assert codes(found) == ["credited_older"]
    second.refresh_from_db()
    assert (second.settlement, second.funding) == ("unsettled", "none")
    assert Movement.objects.filter(kind=Movement.Kind.TRANSFER).count() == 1
    books_are_right()


def test_nobody_is_told_of_another_customer(shop: Any) -> None:
    """Not even that an address or a transaction is another customer's: the answer is that for a stranger's."""
    other = make_customer("eve@example.com")
    theirs = ask(save_order(other, shop.offer))
    txid = shop.network.pay(theirs)
    stranger = shop.network.chain.pay("0x" + "e" * 40, 5, method="eth")
    shop.block(3)
    of_theirs, of_nobody = question(shop, txid), question(shop, stranger)
    assert codes(of_theirs) == codes(of_nobody) == ["not_yours"]
    assert {**of_theirs.answer["found"][0], "txid": ""} == {**of_nobody.answer["found"][0], "txid": ""}
    shop.wait(2)
    address, nowhere = question(shop, theirs.address.address), question(shop, "0x" + "e" * 40)
    assert codes(address) == codes(nowhere) == ["not_own_address"]
    assert address.answer["found"] == nowhere.answer["found"]


def test_the_pages_of_a_question_are_its_customers_alone(shop: Any, client: Client) -> None:
    made = question(shop, NOWHERE)
    client.force_login(make_customer("eve@example.com"))
    for name in ("inquiry", "inquiry_status"):
        assert client.get(reverse(f"payments:{name}", args=[made.pk])).status_code == 404
    assert client.post(reverse("payments:inquiry_claim", args=[made.pk])).status_code == 404


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-41"])
def test_a_payment_on_another_network_is_claimed_and_credits_nothing(shop: Any, case: str) -> None:
    intent = shop.ask(shop.order())
    made = question(shop, f"https://bscscan.com/tx/0x{NOWHERE}", intent)
    assert (codes(made), made.answered_at is not None) == (["other_chain"], True)
    assert "BNB Smart Chain" in words(made)
    for note in ("From my wallet", "Again"):
        inquiries.claim_payment(made.pk, note=note, actor=shop.customer)
    item = ReviewItem.objects.get()
    assert (item.reason, item.facts["note"], item.facts["networks"]) == ("claim", "From my wallet", "BNB Smart Chain")
    assert answer_of(made).claimed
    decide(item.pk, ReviewItem.Outcome.NOTED, reason="Nothing of ours", actor=make_operator())
    inquiries.claim_payment(made.pk, note="Again after that", actor=shop.customer)
    assert ReviewItem.objects.count() == 1
    assert not Movement.objects.exists() and not ChainTransfer.objects.exists()


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-67"])
def test_a_token_that_nobody_can_pay_with_is_named_and_claimed(shop: Any, case: str) -> None:
    intent = shop.ask(shop.order())
    txid = shop.network.chain.pay(intent.address.address, 5 * 10**6, contract="0x" + "f" * 40)
    shop.block(4)
    made = question(shop, txid, intent)
    line = answer_of(made).lines[0]
    assert (line.word.code, line.amount) == ("unknown_token", f"5000000 × 0x{'f' * 40}")
    inquiries.claim_payment(made.pk, note="", actor=shop.customer)
    claim = ReviewItem.objects.get(reason="claim")
    assert claim.transfer == ChainTransfer.objects.get()
    assert not Movement.objects.exists()


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-64"])
def test_what_a_network_does_not_show_yet_is_not_called_unpaid(shop: Any, case: str) -> None:
    intent = shop.ask(shop.order())
    made = question(shop, NOWHERE, intent)
    assert (codes(made), made.answered_at) == (["not_visible"], None)
    assert "Not visible yet" in words(made) and "unpaid" not in words(made).lower()
    asset = method(intent.method).asset
    shop.network.chain.pay(intent.address.address, intent.amount, method=asset.method, txid=NOWHERE)
    assert codes(ask_until_answered(shop, made)) == ["pool"]


def test_what_never_shows_may_be_claimed_after_some_tries(shop: Any) -> None:
    made = ask_until_answered(shop, question(shop, NOWHERE))
    assert (codes(made), made.tries) == (["not_found"], 1 + len(inquiries.DELAYS))
    assert "unpaid" not in words(made).lower()
    inquiries.claim_payment(made.pk, note="", actor=shop.customer)
    assert ReviewItem.objects.filter(reason="claim").count() == 1


def test_a_node_that_does_not_answer_leaves_the_question_open(shop: Any) -> None:
    intent = shop.ask(shop.order())
    txid = shop.network.pay(intent)
    shop.network.chain.go_down()
    made = question(shop, txid, intent)
    assert (codes(made)[0], made.answered_at) == ("unreachable", None)
    assert "We cannot ask Ethereum" in words(made)
    assert "unpaid" not in words(made).lower()
    shop.network.chain.come_up()
    assert codes(ask_until_answered(shop, made)) == ["pool"]


def test_a_network_that_is_not_watched_is_named_beside_those_that_do_not_know_it(shop: Any) -> None:
    question(shop, NOWHERE)
    shop.wait(30)
    shop.network.watch()
    made = inquiries.ask(NOWHERE, intent=None, actor=shop.customer)
    answering.answer(made.pk)
    made.refresh_from_db()
    assert codes(made) == ["not_visible", "unreachable"]
    assert "does not show on Ethereum yet" in words(made) and "We cannot ask" in words(made)


def test_an_address_of_ones_own_says_what_it_got(shop: Any) -> None:
    intent = shop.ask(shop.order())
    made = question(shop, intent.address.address)
    assert codes(made) == ["own_address_empty"]
    shop.network.pay(intent)
    shop.block(3)
    shop.wait(2)
    assert codes(question(shop, intent.address.address)) == ["own_address", "credited"]


def test_what_cannot_be_read_says_what_can(shop: Any) -> None:
    assert codes(question(shop, "I sent it yesterday")) == ["unreadable"]
    with pytest.raises(NothingToClaim):
        inquiries.claim_payment(Inquiry.objects.get().pk, note="", actor=shop.customer)


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-101"])
def test_the_same_text_again_is_the_same_question_with_the_same_answer(shop: Any, case: str) -> None:
    intent = shop.ask(shop.order())
    txid = shop.network.pay(intent)
    shop.block(3)
    first = question(shop, txid, intent)
    again = question(shop, txid, intent)
    assert (again.pk, again.answer) == (first.pk, first.answer)
    assert (Inquiry.objects.count(), ChainTransfer.objects.count()) == (1, 1)
    shop.wait(2)
    later = question(shop, txid, intent)
    assert later.pk != first.pk and later.answer["found"] == first.answer["found"]
    assert Movement.objects.filter(kind=Movement.Kind.TRANSFER).count() == 1


def test_asking_again_brings_the_text_along_for_its_customer_alone(shop: Any, client: Client) -> None:
    made = ask_until_answered(shop, question(shop, NOWHERE))
    again = answer_of(made).lines[0].buttons[0]
    assert str(again.label) == "Ask again"
    client.force_login(shop.customer)
    assert NOWHERE in client.get(again.url).content.decode()
    client.force_login(make_customer("eve@example.com"))
    assert NOWHERE not in client.get(again.url).content.decode()
    assert client.get(reverse("payments:doctor") + "?again=x&intent=y").status_code == 200


def test_questions_of_an_hour_are_limited(shop: Any, settings: Any) -> None:
    settings.INQUIRIES_PER_HOUR = 3
    for number in range(3):
        question(shop, f"{number}" * 64)
    with pytest.raises(TooManyAsked):
        question(shop, "9" * 64)
    assert question(shop, "1" * 64).tries == 1  # the same one again costs nothing
    shop.wait(61)
    question(shop, "9" * 64)


def test_a_worker_that_died_is_followed_by_another_after_a_minute(shop: Any) -> None:
    made = inquiries.ask(NOWHERE, intent=None, actor=shop.customer)
    assert inquiries.claim(made.pk)
    answer_inquiries()
    made.refresh_from_db()
    assert made.answer == {}
    shop.clock.move_to(timezone.now() + inquiries.LEASE)
    answer_inquiries()
    made.refresh_from_db()
    assert made.answer["found"]


def test_many_questions_leave_the_worker_to_the_networks_in_between(shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same worker reads blocks: whoever asks a lot must not keep the money of all from being seen."""
    monkeypatch.setattr(tasks, "RUN_SECONDS", 0)
    asked = [inquiries.ask(f"{number}" * 64, intent=None, actor=shop.customer) for number in range(4)]

    def answered() -> int:
        return Inquiry.objects.filter(tries=1).count()

    answer_inquiries()
    assert answered() == 1
    answer_inquiries()  # each question sends a message of its own
    assert answered() == 1
    late = inquiries.ask("9" * 64, intent=None, actor=make_customer("eve@example.com"))
    answer_inquiries()
    late.refresh_from_db()
    assert (late.tries, answered()) == (1, 2)
    monkeypatch.setattr(tasks, "RUN_SECONDS", 60)
    shop.clock.move_to(timezone.now() + inquiries.PAUSE)
    answer_inquiries()
    assert Inquiry.objects.filter(pk__in=[made.pk for made in asked], tries__gt=0).count() == len(asked)


REAL = Ethereum(chain_id=1, usdt_contract="0xdAC17F958D2ee523a2206206994597C13D831ec7")
HASH = "0x" + "0123456789abcdef" * 4
SAMPLE = "0x52908400098527886E0F7030069857D2E4169EE7"


@pytest.mark.parametrize(
    ("text", "transactions", "addresses"),
    [
        (HASH, [HASH], []),
        (f"  {HASH.upper().replace('X', 'x')}\n", [HASH], []),
        (f"https://etherscan.io/tx/{HASH}#eventlog", [HASH], []),
        (f"https://explorer.example/?chain=1&tx={HASH}", [HASH], []),
        (f"sent from {SAMPLE} in {HASH}", [HASH], []),
        (SAMPLE, [], [SAMPLE.lower()]),
        (f"ethereum:{SAMPLE}@1?value=5", [], [SAMPLE.lower()]),
        (SAMPLE[:-1] + "e", [], []),
        ("https://etherscan.io/", [], []),
        ("", [], []),
    ],
)
def test_texts_are_read_wherever_the_id_stands(text: str, transactions: list[str], addresses: list[str]) -> None:
    reading = doctor.read(text, [REAL])
    assert [clue.value for clue in reading.transactions] == transactions
    assert [clue.value for clue in reading.addresses] == addresses
    assert not reading.elsewhere


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-49"])
def test_a_transaction_that_failed_moved_nothing(shop: Any, case: str) -> None:
    from payments.networks.base import Block, Finding

    reverted = Finding(NOWHERE, Block(5, "0x5", timezone.now()), True, ())
    found = doctor.of_finding("ethereum", reverted, {})
    made = inquiries.ask(NOWHERE, intent=shop.ask(shop.order()), actor=shop.customer)
    claimed = inquiries.claim(made.pk)
    assert claimed
    inquiries.settle(claimed, found)
    made.refresh_from_db()
    assert words(made).startswith("Failed on the chain, nothing moved.")
    assert not Movement.objects.exists()


def test_the_page_asks_polls_and_claims(shop: Any, client: Client) -> None:
    intent = shop.ask(shop.order())
    client.force_login(shop.customer)
    page = client.get(reverse("payments:doctor") + f"?intent={intent.pk}")
    assert reverse("payments:intent", args=[intent.pk]) in page.content.decode()
    assert 'aria-current="true">My rentals' not in page.content.decode()
    asked = client.post(reverse("payments:doctor") + f"?intent={intent.pk}", {"text": f"https://bscscan.com/tx/{HASH}"})
    made = Inquiry.objects.get()
    assert (asked.headers["Location"], made.intent) == (reverse("payments:inquiry", args=[made.pk]), intent)
    status = reverse("payments:inquiry_status", args=[made.pk])
    assert f'hx-get="{status}"' in client.get(asked.headers["Location"]).content.decode()
    answer_inquiries()
    answered = client.get(status).content.decode()
    assert "hx-get" not in answered and 'data-code="other_chain"' in answered
    client.post(reverse("payments:inquiry_claim", args=[made.pk]), {"note": "MetaMask"})
    assert ReviewItem.objects.get().facts["note"] == "MetaMask"
    assert "A person was told." in client.get(asked.headers["Location"]).content.decode()


def test_a_note_that_no_database_keeps_is_an_answer_all_the_same(shop: Any, client: Client) -> None:
    client.force_login(shop.customer)
    made = question(shop, f"https://bscscan.com/tx/{HASH}")
    client.post(reverse("payments:inquiry_claim", args=[made.pk]), {"note": "Meta\x00Mask"})
    assert ReviewItem.objects.get().facts["note"] == "MetaMask"
