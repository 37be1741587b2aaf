from collections.abc import Callable

import pytest
from django.db import IntegrityError, transaction
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from catalog.actions import StockError, give_back_lots, set_price, set_stock, take_lots
from catalog.models import Offer, Price
from catalog.templatetags.catalog import stock

pytestmark = pytest.mark.django_db


def test_cat_6_lots_are_taken_all_or_none(rtx: Offer) -> None:
    assert take_lots(rtx.pk, 3)
    assert not take_lots(rtx.pk, 3)
    assert take_lots(rtx.pk, 2)
    rtx.refresh_from_db()
    assert (rtx.taken, rtx.available_lots) == (5, 0)


def test_s15_a_lot_of_b200_is_one_lot_of_stock_and_two_cards(b200: Offer) -> None:
    assert take_lots(b200.pk, 1)
    b200.refresh_from_db()
    assert b200.available_lots == 3
    assert stock(b200) == "3 two-card lots available"


def test_s6_an_offer_that_is_not_published_gives_no_lots(make_offer: Callable[..., Offer]) -> None:
    assert not take_lots(make_offer(published=False).pk, 1)


def test_nothing_and_less_than_nothing_cannot_be_taken(rtx: Offer) -> None:
    for lots in (0, -1):
        with pytest.raises(StockError):
            take_lots(rtx.pk, lots)
        with pytest.raises(StockError):
            give_back_lots(rtx.pk, lots)


def test_s10_lots_come_back_once(rtx: Offer) -> None:
    take_lots(rtx.pk, 2)
    give_back_lots(rtx.pk, 2)
    with pytest.raises(StockError):
        give_back_lots(rtx.pk, 2)
    rtx.refresh_from_db()
    assert rtx.taken == 0


def test_the_database_itself_refuses_to_oversell(rtx: Offer) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Offer.objects.filter(pk=rtx.pk).update(taken=6)


def test_s16_fewer_lots_than_are_taken_show_as_a_shortfall(rtx: Offer) -> None:
    take_lots(rtx.pk, 4)
    set_stock(offer=rtx, lots=1)
    assert (rtx.lots, rtx.taken, rtx.short, rtx.available_lots) == (1, 4, 3, 0)
    assert not take_lots(rtx.pk, 1)
    give_back_lots(rtx.pk, 2)
    rtx.refresh_from_db()
    assert (rtx.taken, rtx.short) == (2, 1)
    set_stock(offer=rtx, lots=6)
    assert (rtx.short, rtx.available_lots) == (0, 4)


def test_stock_cannot_be_set_below_none(rtx: Offer) -> None:
    with pytest.raises(StockError):
        set_stock(offer=rtx, lots=-1)


def test_a_price_is_set_once_per_term_and_for_known_terms_only(rtx: Offer) -> None:
    set_price(offer=rtx, term_days=3, unit_price_cents=1234)
    assert Price.objects.get(offer=rtx, term_days=3).unit_price_cents == 1234
    for facts in ({"term_days": 5, "unit_price_cents": 1}, {"term_days": 3, "unit_price_cents": 0}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Price.objects.create(offer=rtx, **facts)


@pytest.mark.parametrize(
    ("cards_per_lot", "lots", "words"),
    [
        (1, 12, "12 cards available"),
        (1, 1, "1 card available"),
        (2, 4, "4 two-card lots available"),
        (2, 1, "1 two-card lot available"),
        (4, 3, "3 lots of 4 cards available"),
        (1, 0, "Sold out at the moment"),
        (2, 0, "Sold out at the moment"),
    ],
)
def test_cat_6_stock_is_said_in_cards_or_in_two_card_lots(cards_per_lot: int, lots: int, words: str) -> None:
    assert stock(Offer(cards_per_lot=cards_per_lot, lots=lots, taken=0)) == words


@pytest.mark.invariants
class AnySequence(TestCase):
    """Taking, giving back and restocking in any order: taken never passes lots + short, and no move is half done."""

    @settings(deadline=None, max_examples=50)
    @given(st.lists(st.tuples(st.sampled_from(["take", "give", "stock"]), st.integers(1, 12)), max_size=15))
    def test_cat_6_stock_adds_up_after_any_sequence(self, moves: list[tuple[str, int]]) -> None:
        offer = Offer.objects.create(
            name="X", slug="x", vendor="V", architecture="A", memory_gb=1, memory_type="M", bandwidth_gbps=1,
            board_power_w=1, backend="CUDA", lots=5,
        )  # fmt: skip
        lots, taken = 5, 0
        for move, number in moves:
            if move == "take":
                fits = taken + number <= lots
                assert take_lots(offer.pk, number) is fits
                taken += number if fits else 0
            elif move == "stock":
                set_stock(offer=offer, lots=number)
                lots = number
            elif number <= taken:
                give_back_lots(offer.pk, number)
                taken -= number
            offer.refresh_from_db()
            assert (offer.lots, offer.taken, offer.short) == (lots, taken, max(0, taken - lots))
