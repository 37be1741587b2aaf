from collections import Counter

import pytest
from django.core.management import call_command

from catalog import sample
from catalog.actions import set_price, set_stock, take_lots
from catalog.architectures import KNOWN
from catalog.models import Offer, Price

pytestmark = pytest.mark.django_db


def load(*options: str) -> None:
    call_command("loadcatalog", *options, verbosity=0)


def test_cat_10_the_sample_has_24_offers_or_more_of_three_backends() -> None:
    load()
    backends = Counter(Offer.objects.values_list("backend", flat=True))
    assert Offer.objects.count() == 46
    assert backends["CUDA"]
    assert backends["ROCm"]
    assert backends["Metal"] == 1
    assert Price.objects.count() == 3 * 46


def test_cat_2_a_lot_holds_one_card_except_for_b200() -> None:
    load()
    assert list(Offer.objects.exclude(cards_per_lot=1).values_list("name", "cards_per_lot")) == [("B200 (SXM)", 2)]


def test_cat_10_loading_again_changes_nothing_that_operators_edited() -> None:
    load()
    offer = Offer.objects.get(slug="rtx-4090")
    set_price(offer=offer, term_days=3, unit_price_cents=9999)
    set_stock(offer=offer, lots=1)
    Offer.objects.filter(pk=offer.pk).update(name="RTX 4090 (quiet)", published=False)
    load()
    offer.refresh_from_db()
    assert (offer.name, offer.lots, offer.published, offer.unit_price_cents(3)) == ("RTX 4090 (quiet)", 1, False, 9999)


def test_cat_10_a_reset_undoes_edits_but_not_what_is_taken() -> None:
    load()
    offer = Offer.objects.get(slug="rtx-4090")
    take_lots(offer.pk, 2)
    set_price(offer=offer, term_days=3, unit_price_cents=9999)
    set_stock(offer=offer, lots=1)
    load("--reset")
    offer.refresh_from_db()
    assert (offer.lots, offer.taken, offer.short) == (40, 2, 0)
    assert offer.unit_price_cents(3) == 3400
    assert Offer.objects.count() == 46


@pytest.mark.parametrize("one", list(sample.read()), ids=lambda one: one.slug)
def test_a_longer_term_costs_less_a_day_and_every_architecture_says_what_to_check(one: sample.SampleOffer) -> None:
    assert one.cents[3] / 3 > one.cents[7] / 7 > one.cents[30] / 30
    assert 2 <= one.facts["lots"] <= 40
    assert one.facts["architecture"] in KNOWN
