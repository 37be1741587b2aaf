"""Proof of reconciliation: chain = books for each asset, and transfers that the node shows again."""

from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as some
from story import books_are_right, make_operator

from money.exact import PIECE, pieces, summed, total
from money.fields import DIGITS
from payments import proof, reconciling
from payments.models import Allocation, ChainTransfer, Reconciliation, ReviewItem
from payments.registry import method
from payments.tasks import reconcile

pytestmark = pytest.mark.django_db


def paid(shop: Any, code: str = "eth", *, percent: int = 100) -> ChainTransfer:
    intent = shop.ask(shop.order(), code)
    txid = shop.network.pay(intent, intent.amount * percent // 100)
    shop.block(4)
    return ChainTransfer.objects.get(txid=txid)


def test_what_arrived_is_what_became_of_it(shop: Any) -> None:
    whole, other, part = paid(shop), paid(shop, "usdt-ethereum", percent=103), paid(shop, percent=50)
    intent = shop.ask(shop.order())
    usdt = method("usdt-ethereum").asset
    shop.network.chain.pay(intent.address.address, 101 * 10**6, method=usdt.method, contract=usdt.contract)
    shop.network.chain.pay(intent.address.address, 3, method="eth")
    shop.block(4)
    sums = {one.method: one for one in proof.sums_of("ethereum")}
    eth, token = sums["eth"], sums["usdt-ethereum"]
    assert (eth.credited, eth.waiting, eth.dust, eth.transfers) == (whole.amount, part.amount, 3, 3)
    assert (token.credited, token.review) == (other.amount, 101 * 10**6)
    for one in (eth, token):
        rows = ChainTransfer.objects.filter(method=one.method, status="final")
        assert one.received == sum(row.amount for row in rows)
        assert one.difference == 0
    assert eth.usd_cents + token.usd_cents == proof.ledger().credits == proof.ledger().received
    books_are_right()


def test_a_check_is_kept_and_the_next_one_goes_on_from_it(shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconciling, "OLD", 1)
    first = paid(shop)
    reconcile()
    one = proof.newest("ethereum")
    assert one and (one.agrees, one.checked, one.missing, one.newest) == (True, 2, 0, first.pk)
    second = paid(shop)
    reconcile()
    two = proof.newest("ethereum")
    assert two and (two.checked, two.newest, two.oldest) == (2, second.pk, second.pk)
    reconcile()
    three = proof.newest("ethereum")
    assert three and (three.checked, three.oldest) == (0, 0)  # the round is over, and begins again
    reconcile()
    four = proof.newest("ethereum")
    assert four and (four.checked, four.oldest) == (1, first.pk)
    ledger = proof.newest("")
    assert ledger and ledger.agrees and ledger.sums["credits"] == 20_000


def test_what_may_still_become_final_is_looked_at_by_the_next_check(shop: Any) -> None:
    intent = shop.ask(shop.order())
    shop.network.pay(intent)
    shop.block(1)
    paid_later = paid(shop)
    ChainTransfer.objects.filter(pk__lt=paid_later.pk).update(status="included")
    assert reconciling.reconcile("ethereum").newest == paid_later.pk - 2


@pytest.mark.parametrize("how", ["gone", "elsewhere"])
def test_a_final_transfer_that_the_node_does_not_have_comes_before_a_person(shop: Any, how: str) -> None:
    row = paid(shop)
    shop.network.chain.reorg(5, keep=how == "elsewhere", reorder=True)
    shop.network.chain.mine(5)
    assert reconciling.reconcile("ethereum").missing >= 1
    item = ReviewItem.objects.get(reason="books_differ")
    assert (item.transfer, item.facts["amount"]) == (row, str(row.amount))
    again = reconciling.reconcile("ethereum", everything=True)
    assert (again.agrees, again.missing, ReviewItem.objects.filter(reason="books_differ").count()) == (False, 1, 1)


def test_a_node_that_is_away_or_behind_accuses_nobody(shop: Any) -> None:
    paid(shop)
    shop.network.chain.lag(5)
    behind = reconciling.reconcile("ethereum")
    assert "is behind" in behind.error and not behind.missing and behind.agrees
    shop.network.chain.lag(0)
    shop.network.chain.go_down()
    assert reconciling.reconcile("ethereum").error
    assert not ReviewItem.objects.exists()
    shop.network.chain.come_up()
    assert reconciling.reconcile("ethereum").checked


@pytest.mark.parametrize("fault", ["an allocation too much", "a transfer not marked"])
def test_books_that_differ_are_named(shop: Any, fault: str, capsys: Any) -> None:
    row = paid(shop)
    call_command("reconcile")
    assert "eth: received 0.033671, credited 0.033671, books 0.033671" in capsys.readouterr().out
    if fault == "a transfer not marked":
        ChainTransfer.objects.filter(pk=row.pk).update(credited=False)
    else:
        Allocation.objects.update(market_amount=1)
    with pytest.raises(SystemExit):
        call_command("reconcile", "--all")
    item = ReviewItem.objects.get(reason="books_differ")
    assert item.subject == "networkcursor:ethereum" and item.facts["method"] == "eth"


def test_the_page_says_that_and_when_and_shows_sums_to_staff_alone(shop: Any, client: Client) -> None:
    page = reverse("payments:proof")
    before = client.get(page).content.decode()
    assert "Not checked yet" in before and "no check has run yet" in before
    assert 'aria-current="true">My rentals' not in before
    paid(shop)
    reconcile()
    public = client.get(page).content.decode()
    assert "Chain = books" in public and "0.033671" not in public and "$100.00" not in public
    client.force_login(make_operator())
    inside = client.get(page).content.decode()
    assert "0.033671" in inside and "$100.00" in inside and "2 transfers read again, 0 missing" in inside
    Reconciliation.objects.filter(network="ethereum").update(agrees=False)
    assert "A person was told" in client.get(page).content.decode()


@given(some.lists(some.integers(0, 10**DIGITS - 1), max_size=5))
def test_sums_in_pieces_are_exact(amounts: list[int]) -> None:
    texts = [str(amount).zfill(DIGITS) for amount in amounts]
    parts = [sum(int(text[start - 1 : end - 1]) for text in texts) for start, end in pieces()]
    assert total(parts) == sum(amounts)
    assert max(parts, default=0) < len(amounts) * 10**PIECE or not amounts


def test_the_database_sums_the_largest_amounts_exactly(shop: Any) -> None:
    first, second = paid(shop), paid(shop)
    huge = 10**DIGITS - 1
    for row in (first, second):
        row.amount = huge
        row.save(update_fields=["amount"])
    with connection.cursor() as cursor:
        query = f"SELECT {', '.join(summed('amount', connection.vendor))} FROM payments_chaintransfer"  # noqa: S608
        cursor.execute(query)
        assert total(list(cursor.fetchone())) == 2 * huge
        cursor.execute(query + " WHERE amount IS NULL")
        assert total(list(cursor.fetchone())) == 0
