"""What a chain can do to a payment, and what it must not do to the books."""

import secrets
from typing import Any

import pytest
from django.utils import timezone
from story import ask, books_are_right, cursor, kinds, make_operator

from balance.models import Account, Movement
from payments.actions import arriving, confirming, watching
from payments.errors import NetworkUnwatched
from payments.models import Allocation, ChainTransfer, Installation, PaymentIntent, ReservedAddress, ReviewItem
from payments.networks.base import Block, Transfer
from payments.pages import page_of
from payments.registry import method
from payments.seals import seal

Quote, Funding, Settlement = PaymentIntent.Quote, PaymentIntent.Funding, PaymentIntent.Settlement
Status = ChainTransfer.Status
pytestmark = pytest.mark.django_db


def status() -> list[str]:
    return list(ChainTransfer.objects.order_by("pk").values_list("status", flat=True))


def word(intent: PaymentIntent) -> str:
    return page_of(PaymentIntent.objects.get(pk=intent.pk)).word.code


def settlement(intent: PaymentIntent) -> str:
    intent.refresh_from_db()
    return intent.settlement


def test_a_reorg_before_finality_takes_the_transfer_back_to_the_pool_and_credits_it_once(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent)
    shop.block(2)
    assert (status(), word(intent)) == ([Status.INCLUDED], "confirming")
    shop.network.chain.reorg(2)
    shop.network.watch()
    assert (status(), word(intent)) == ([Status.SEEN], "seen")
    assert not Movement.objects.exists()
    shop.block(2)
    assert settlement(intent) == Settlement.UNSETTLED
    shop.block()
    assert settlement(intent) == Settlement.SETTLED
    assert Allocation.objects.count() == 1
    assert "transfer.orphaned" in kinds(order)
    books_are_right()


def test_case_58_a_transfer_that_a_reorg_drops_is_gone_and_the_page_says_so(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    shop.network.pay(intent)
    shop.block(2)
    shop.network.chain.reorg(2, keep=False)
    shop.network.watch()
    assert (status(), word(intent)) == ([Status.DROPPED], "dropped")
    order.refresh_from_db()
    assert order.payment == "none"
    intent.refresh_from_db()
    assert intent.funding == Funding.NONE
    assert page_of(intent).may_send
    shop.block(4)
    assert not Movement.objects.exists()
    shop.network.pay(intent)
    shop.block(3)
    assert settlement(intent) == Settlement.SETTLED
    books_are_right()


def test_a_dropped_transfer_that_comes_back_is_credited_once(shop: Any) -> None:
    intent = shop.ask(shop.order())
    txid = shop.network.pay(intent)
    shop.network.watch()
    shop.network.chain.drop(txid)
    shop.network.watch()
    assert status() == [Status.DROPPED]
    asset = method(intent.method).asset
    shop.network.chain.pay(
        intent.address.address, intent.amount, method=asset.method, contract=asset.contract, txid=txid
    )
    shop.block(3)
    assert (status(), settlement(intent)) == ([Status.FINAL], Settlement.SETTLED)
    books_are_right()


def test_case_68_and_69_a_payment_that_the_sender_replaced_pays_nothing(shop: Any) -> None:
    intent = shop.ask(shop.order())
    txid = shop.network.pay(intent)
    shop.network.watch()
    for _ in range(3):
        txid = shop.network.chain.replace(txid, intent.address.address, intent.amount, method="eth")
        shop.network.watch()
    assert sorted(status()) == [Status.REPLACED, Status.REPLACED, Status.REPLACED, Status.SEEN]
    shop.network.chain.replace(txid, "0x" + "e" * 40, intent.amount, method="eth")
    shop.block(4)
    assert set(status()) == {Status.REPLACED}
    assert word(intent) == "replaced"
    assert not Movement.objects.exists()


def test_much_of_another_asset_at_the_address_comes_before_a_person_and_credits_nothing(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    usdt = method("usdt-ethereum").asset
    shop.network.chain.pay(intent.address.address, 101 * 10**6, method=usdt.method, contract=usdt.contract)
    shop.block(4)
    item = ReviewItem.objects.get()
    assert (item.reason, item.facts["asset"], item.facts["amount"]) == ("other_asset", "usdt-ethereum", "101000000")
    assert not Movement.objects.exists()
    assert word(intent) == "help"
    order.refresh_from_db()
    assert (order.state, order.payment) == ("open", "none")
    shop.network.pay(intent)
    shop.block(3)
    assert settlement(intent) == Settlement.SETTLED
    assert (ReviewItem.objects.count(), Allocation.objects.count()) == (1, 1)
    books_are_right()


def test_case_42_a_look_alike_token_is_no_money(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order, "usdt-ethereum")
    shop.network.chain.pay(intent.address.address, intent.amount, contract="0x" + "f" * 40)
    shop.block(4)
    item = ReviewItem.objects.get()
    assert item.facts["asset"] == "0x" + "f" * 40
    assert ChainTransfer.objects.get().method == ""
    assert not Movement.objects.exists()
    intent.refresh_from_db()
    assert (intent.funding, intent.settlement) == (Funding.NONE, Settlement.UNSETTLED)
    shop.end_of(intent)
    intent.refresh_from_db()
    assert intent.quote == Quote.EXPIRED


def seen(address: str, amount: int, **other: Any) -> Transfer:
    facts = {"method": "eth", "contract": None, "block": None} | other
    return Transfer(secrets.token_hex(32), "value", address, amount, **facts)


def test_case_43_a_log_of_value_zero_is_ignored(shop: Any) -> None:
    intent = shop.ask(shop.order())
    block = Block(99, "f" * 64, timezone.now())
    arriving.store("ethereum", seen(intent.address.address, 0, block=block))
    assert not ChainTransfer.objects.exists()


def test_an_address_that_was_never_issued_is_ignored(shop: Any) -> None:
    spare = ReservedAddress.objects.filter(issued_at=None).first()
    assert spare
    shop.network.chain.pay(spare.address, 10**18, method="eth")
    shop.network.chain.pay("0x" + "9" * 40, 10**18, method="eth")
    shop.block(4)
    assert not ChainTransfer.objects.exists()
    arriving.store("ethereum", seen(spare.address, 5))
    assert not ChainTransfer.objects.exists()


def test_an_address_is_watched_for_ever(shop: Any) -> None:
    intent = shop.ask(shop.order())
    shop.end_of(intent)
    shop.wait(400 * 24 * 60)
    shop.network.price()
    shop.network.pay(intent)
    shop.block(3)
    assert settlement(intent) == Settlement.CREDITED
    assert shop.balance() > 10_000


def test_case_38_and_p14_one_key_is_one_transfer_of_one_intent(shop: Any) -> None:
    one, other = shop.ask(shop.order()), shop.ask(shop.order())
    found = seen(one.address.address, one.amount)
    arriving.store("ethereum", found)
    arriving.store("ethereum", found)
    moved = Transfer(found.txid, found.position, other.address.address, one.amount, "eth", None, None)
    arriving.store("ethereum", moved)
    row = ChainTransfer.objects.get()
    assert row.intent == one


def test_case_p20_the_same_key_with_another_amount_comes_before_a_person(shop: Any) -> None:
    intent = shop.ask(shop.order())
    found = seen(intent.address.address, intent.amount)
    arriving.store("ethereum", found)
    arriving.store("ethereum", Transfer(found.txid, found.position, found.address, found.amount * 9, "eth", None, None))
    assert ChainTransfer.objects.get().amount == intent.amount
    assert ReviewItem.objects.get().reason == "transfer_changed"


# --- another chain ------------------------------------------------------------------------------------------------
def forget_chain(shop: Any) -> None:
    """Put another chain, with another genesis, in the place of ours."""
    path = shop.network.chain.path
    for file in path.parent.glob(f"{path.name}*"):
        file.rename(file.with_name("kept-" + file.name))
    shop.network.chain.mine(5)


def bring_chain_back(shop: Any) -> None:
    path = shop.network.chain.path
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()
    for file in path.parent.glob(f"kept-{path.name}*"):
        file.rename(file.with_name(file.name.removeprefix("kept-")))


def test_another_genesis_stops_the_network_reverses_nothing_and_makes_no_new_instructions(shop: Any) -> None:
    paid, order = shop.order(), shop.order()
    first = shop.ask(paid)
    shop.network.pay(first)
    shop.block(3)
    waiting = shop.ask(order)
    forget_chain(shop)
    assert not shop.network.watch()
    assert cursor().state == "stopped"
    assert ReviewItem.objects.get().reason == "network_stopped"
    assert settlement(first) == Settlement.SETTLED
    assert not shop.network.watch()
    assert ReviewItem.objects.count() == 1
    shop.network.price()
    with pytest.raises(NetworkUnwatched):
        ask(order)
    books_are_right()

    bring_chain_back(shop)
    assert not shop.network.watch()
    watching.resume("ethereum", actor=make_operator())
    shop.network.pay(waiting)
    shop.block(3)
    assert settlement(waiting) == Settlement.SETTLED
    books_are_right()


def test_a_reorg_deeper_than_we_remember_stops_the_network(shop: Any) -> None:
    shop.network.mine(200)
    shop.network.chain.reorg(150)
    assert not shop.network.watch()
    assert cursor().state == "stopped"
    assert "none of the last" in cursor().error


def test_promises_of_a_stopped_network_end_after_a_day_and_credit_nothing(shop: Any) -> None:
    intent = shop.ask(shop.order())
    shop.network.pay(intent, intent.amount // 2)
    shop.block(3)
    forget_chain(shop)
    shop.network.watch()
    shop.wait(15 + 24 * 60 - 1)
    shop.network.watch()
    intent.refresh_from_db()
    assert intent.quote == Quote.OPEN
    shop.wait(2)
    shop.network.watch()
    intent.refresh_from_db()
    assert (intent.quote, intent.unwatched, intent.settlement) == (Quote.EXPIRED, True, Settlement.UNSETTLED)
    assert not Movement.objects.exists()


# --- a changed row ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("changed", ["address", "index", "fingerprint", "genesis", "seal"])
def test_a_row_that_was_changed_after_it_was_issued_credits_nothing_and_comes_before_a_person(
    shop: Any, changed: str
) -> None:
    order = shop.order()
    intent = shop.ask(order)
    other = {"address": "0x" + "d" * 40, "index": 4711, "fingerprint": "f", "genesis": "g", "seal": "0" * 64}
    row = ReservedAddress.objects.filter(pk=intent.address_id)
    before = row.values(changed).get()
    row.update(**{changed: other[changed]})
    paid = PaymentIntent.objects.get(pk=intent.pk)
    shop.network.pay(paid)
    shop.block(4)
    assert not Movement.objects.exists()
    item = ReviewItem.objects.get()
    assert (item.reason, item.facts["stored"]) == ("address_mismatch", paid.address.address)
    assert (settlement(intent), word(intent)) == (Settlement.REVIEW, "help")
    order.refresh_from_db()
    assert order.state == "open"
    shop.block(3)
    assert ReviewItem.objects.count() == 1
    if changed != "address":
        row.update(**before)
        shop.block()
        assert settlement(intent) == Settlement.SETTLED
        books_are_right()


def test_addresses_swapped_between_two_customers_credit_neither(shop: Any) -> None:
    one, other = shop.ask(shop.order()), shop.ask(shop.order())
    first, second = one.address, other.address
    ReservedAddress.objects.filter(pk=first.pk).update(address="0x")
    ReservedAddress.objects.filter(pk=second.pk).update(address=first.address)
    ReservedAddress.objects.filter(pk=first.pk).update(address=second.address)
    shop.network.pay(PaymentIntent.objects.get(pk=one.pk))
    shop.network.pay(PaymentIntent.objects.get(pk=other.pk))
    shop.block(4)
    assert not Movement.objects.exists()
    assert ReviewItem.objects.filter(reason="address_mismatch").count() == 2


def test_an_address_that_our_key_does_not_derive_credits_nothing_even_under_a_right_seal(shop: Any) -> None:
    """Who took over the web process has the key of the seals, and still not the worker's key."""
    intent = shop.ask(shop.order())
    row = ReservedAddress.objects.get(intent=intent)
    row.address = "0x" + "d" * 40
    row.seal = seal(row, Installation.objects.get())
    row.save(update_fields=["address", "seal"])
    shop.network.pay(PaymentIntent.objects.get(pk=intent.pk))
    shop.block(4)
    assert not Movement.objects.exists()
    assert ReviewItem.objects.get().reason == "address_mismatch"


def test_a_pass_that_lost_its_turn_writes_nothing(shop: Any) -> None:
    intent = shop.ask(shop.order())
    mine = watching.claim("ethereum")
    assert mine
    assert watching.claim("ethereum") is None  # one watcher at a time
    shop.wait(3)  # its lease is over: it hangs
    theirs = watching.claim("ethereum")
    assert theirs
    shop.network.pay(intent)
    with pytest.raises(watching.LostTurn):
        confirming.record_confirmations("ethereum", mine.turn, [])
    watching.note_error("ethereum", mine.turn, "old news")
    assert cursor().error == ""
    assert cursor().leased_until == timezone.now() + watching.LEASE


def test_a_transaction_that_pays_another_amount_after_a_reorg_counts_with_it(shop: Any) -> None:
    """Run in another order, a contract may move another amount under the same transaction and place."""
    intent = shop.ask(shop.order())
    chain = shop.network.chain
    txid = shop.network.pay(intent)
    shop.network.mine()
    chain.reorg(1)
    shop.network.watch()
    assert ChainTransfer.objects.get().status == ChainTransfer.Status.SEEN
    chain.drop(txid)
    asset = method(intent.method).asset
    half = intent.amount // 2
    chain.pay(intent.address.address, half, method=asset.method, contract=asset.contract, txid=txid)
    shop.network.mine()
    row = ChainTransfer.objects.get()
    assert (row.amount, row.status) == (half, ChainTransfer.Status.INCLUDED)
    intent.refresh_from_db()
    assert intent.funding == PaymentIntent.Funding.PARTIAL
    assert not ReviewItem.objects.exists()


def test_case_72_a_reorg_below_finality_mirrors_the_credit_and_comes_before_a_person(shop: Any) -> None:
    """Deeper than what counts as final, within what we remember: the order stays paid, the balance shows the debt."""
    order = shop.order()
    shop.network.pay(shop.ask(order))
    shop.network.settle()
    shop.network.chain.reorg(4, keep=False)
    shop.network.mine(8)
    order.refresh_from_db()
    assert (order.state, order.needs_help_at is not None) == ("settled", True)
    assert ChainTransfer.objects.get().status == ChainTransfer.Status.DROPPED
    assert [(a.episode, a.live) for a in Allocation.objects.all()] == [(1, False)]
    assert PaymentIntent.objects.get().settlement == Settlement.REVERSED
    assert Account.objects.get(customer=shop.customer).balance_cents == -10_000
    assert [item.reason for item in ReviewItem.objects.all()] == ["final_orphaned"]
    assert cursor().state == "watching"
    books_are_right()


def test_case_72_money_that_comes_back_after_a_reversal_is_credited_once_more_as_it_was(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    txid = shop.network.pay(intent)
    shop.network.settle()
    shop.network.chain.reorg(4, keep=False)
    shop.network.mine(8)
    shop.network.chain.pay(intent.address.address, intent.amount, method="eth", txid=txid)
    shop.network.settle()
    assert [(a.episode, a.live, a.usd_cents) for a in Allocation.objects.order_by("pk")] == [
        (1, False, 10_000),
        (2, True, 10_000),
    ]
    order.refresh_from_db()
    intent.refresh_from_db()
    assert (order.needs_help_at, intent.settlement) == (None, Settlement.SETTLED)
    assert Account.objects.get(customer=shop.customer).balance_cents == 0
    assert Movement.objects.filter(kind="capture").count() == 1
    books_are_right()


def test_a_reorg_that_only_moves_a_final_transfer_reverses_nothing(shop: Any) -> None:
    shop.network.pay(shop.ask(shop.order()))
    shop.network.settle()
    shop.network.chain.reorg(4, reorder=True)
    shop.network.mine(4)
    assert [(a.episode, a.live) for a in Allocation.objects.all()] == [(1, True)]
    assert ChainTransfer.objects.get().status == ChainTransfer.Status.FINAL
    books_are_right()


def test_a_little_of_another_asset_is_credited_at_the_market(shop: Any) -> None:
    order = shop.order()
    intent = shop.ask(order)
    usdt = method("usdt-ethereum").asset
    shop.network.chain.pay(intent.address.address, 99 * 10**6, method=usdt.method, contract=usdt.contract)
    shop.block(4)
    assert [a.usd_cents for a in Allocation.objects.all()] == [9_900]
    assert not ReviewItem.objects.exists()
    shop.network.pay(intent)
    shop.block(4)
    order.refresh_from_db()
    assert (order.state, settlement(intent)) == ("settled", Settlement.SETTLED)
    books_are_right()
