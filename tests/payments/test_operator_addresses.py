"""Keys that are used elsewhere, back-ups that were restored, and the list for the operator's wallet."""

import csv
import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from story import books_are_right

from balance.models import Movement
from payments import watcher
from payments.actions import reserve
from payments.models import ChainTransfer, NetworkCursor, ReservedAddress, ReviewItem
from payments.networks.base import Unavailable
from payments.registry import node

pytestmark = pytest.mark.django_db


def used_elsewhere(shop: Any, *indexes: int) -> None:
    """Let another wallet with the same key receive money, and forget what this installation had ready."""
    ReservedAddress.objects.all().delete()
    for index in indexes:
        shop.network.chain.pay(node("ethereum").destination(index), 7, method="eth")
    shop.network.chain.mine()


def free() -> list[int]:
    return list(ReservedAddress.objects.filter(issued_at=None).order_by("index").values_list("index", flat=True))


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-31"])
def test_a_key_that_is_used_elsewhere_is_told_and_its_addresses_are_given_to_nobody(
    shop: Any, case: str, caplog: pytest.LogCaptureFixture
) -> None:
    used_elsewhere(shop, 3)
    watcher.fill_reserve("ethereum", 20)
    assert free() == list(range(4, 20))
    assert "this key is used elsewhere: the address with the index 3 has a history" in caplog.text
    item = ReviewItem.objects.get(reason="key_used_elsewhere")
    assert item.facts["last_used_index"] == "3"
    watcher.fill_reserve("ethereum", 20)
    assert free() == list(range(4, 24))
    assert ReviewItem.objects.filter(reason="key_used_elsewhere").count() == 1
    assert shop.ask(shop.order()).address.index == 4
    assert not shop.network.chain.paid([shop.ask(shop.order()).address.address])


@pytest.mark.cases
@pytest.mark.parametrize("case", ["case-32"])
@pytest.mark.parametrize("size", [20, 200])
def test_a_wallet_with_used_indexes_0_to_40_goes_on_after_them(shop: Any, case: str, size: int) -> None:
    used_elsewhere(shop, *range(41))
    while not free():
        watcher.fill_reserve("ethereum", size)
    assert free()[0] == 41
    assert shop.ask(shop.order()).address.index == 41


def test_what_lies_just_beyond_the_batch_counts_too(shop: Any) -> None:
    """The other wallet has given out what lies before its newest paid address, though nobody paid there yet."""
    used_elsewhere(shop, 25)
    watcher.fill_reserve("ethereum", 20)
    assert free() == []
    watcher.fill_reserve("ethereum", 20)
    assert free()[0] == 26


def test_a_node_that_does_not_answer_lets_the_reserve_wait(shop: Any) -> None:
    used_elsewhere(shop, 0)
    shop.network.chain.go_down()
    with pytest.raises(Unavailable):
        watcher.fill_reserve("ethereum", 20)
    assert not ReservedAddress.objects.exists()


def test_after_a_restored_back_up_nobody_is_given_an_address_twice(shop: Any, capsys: Any) -> None:
    given = shop.ask(shop.order()).address.index
    call_command("restoreaddresses", "ethereum")
    assert "19 addresses of ethereum were free" in capsys.readouterr().out
    assert free() == []
    call_command("restoreaddresses", "ethereum")
    assert "0 addresses" in capsys.readouterr().out
    watcher.fill_reserve("ethereum", 20)
    assert free() == list(range(20, 40))
    assert shop.ask(shop.order()).address.index == 20 > given


def test_an_index_beyond_what_is_stored_can_be_named(shop: Any) -> None:
    for _ in range(2):
        call_command("restoreaddresses", "ethereum", "--below", "35", verbosity=0)
    assert free() == []
    watcher.fill_reserve("ethereum", 20)
    assert free() == list(range(35, 55))
    call_command("restoreaddresses", "ethereum", "--below", "40")
    assert free() == list(range(40, 55))
    call_command("restoreaddresses", "ethereum", "--below", "30")
    assert NetworkCursor.objects.get().skip_below == 40
    for wrong in ("0", "-5", str(2**31)):
        with pytest.raises(CommandError):
            call_command("restoreaddresses", "ethereum", "--below", wrong)
    with pytest.raises(CommandError):
        call_command("restoreaddresses", "nowhere")


def test_another_key_begins_at_its_first_index(shop: Any) -> None:
    call_command("restoreaddresses", "ethereum", "--below", "35")
    reserve.add_addresses("ethereum", genesis="g", fingerprint="new", derived=[(0, "0x" + "1" * 40)])
    assert ReservedAddress.objects.get(fingerprint="new").issued_at is None


@pytest.mark.parametrize("retired", [True, False])
def test_money_at_an_address_without_instructions_comes_before_a_person(shop: Any, retired: bool) -> None:
    """Its instructions were lost with a restored back-up. It is never handed out any more, and credits nobody."""
    row = ReservedAddress.objects.filter(issued_at=None).order_by("index").first()
    assert row
    if retired:
        call_command("restoreaddresses", "ethereum")
        watcher.fill_reserve("ethereum", 20)
    shop.network.chain.pay(row.address, 5 * 10**17, method="eth")
    shop.block(4)
    item = ReviewItem.objects.get(reason="no_instructions")
    assert (item.subject, item.facts["amount"]) == (f"reservedaddress:{row.pk}", str(5 * 10**17))
    row.refresh_from_db()
    assert row.issued_at
    assert shop.ask(shop.order()).address_id != row.pk
    assert not ChainTransfer.objects.exists() and not Movement.objects.exists()


def test_the_list_for_the_operators_wallet(shop: Any, capsys: Any) -> None:
    unpaid, paid, also = [shop.ask(shop.order()) for _ in range(3)]
    shop.network.pay(paid)
    shop.network.chain.pay(paid.address.address, 3, contract="=1+1")
    shop.network.pay(also)
    shop.block(3)
    call_command("exportaddresses", "ethereum")
    captured = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(captured.out)))
    assert [row["index"] for row in rows] == ["0", "1", "2"]
    assert rows[0]["given_for"] == unpaid.order.number and rows[0]["received"] == ""
    assert rows[1]["address"] == paid.address.address
    assert "0.033671 ETH" in rows[1]["received"] and "3 of =1+1" in rows[1]["received"]
    assert rows[1]["credited_usd_cents"] == "10000"
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]
    assert "gap limit of at least 20" in captured.err
    with pytest.raises(CommandError):
        call_command("exportaddresses", "nowhere")
    books_are_right()


def test_the_gap_limit_is_the_longest_run_of_unpaid_addresses(shop: Any, capsys: Any, settings: Any) -> None:
    settings.INTENTS_PER_HOUR = 100
    watcher.fill_reserve("ethereum", 40)
    asked = []
    for _ in range(10):
        order = shop.order(lots=1)
        asked += [shop.ask(order) for _ in range(3)]
        from orders.actions import cancel_order

        cancel_order(order.pk, actor=shop.customer)
    shop.network.pay(asked[2])
    shop.network.pay(asked[28])
    shop.block(3)
    call_command("exportaddresses", "ethereum")
    assert "gap limit of at least 26" in capsys.readouterr().err
