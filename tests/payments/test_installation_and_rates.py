"""What an installation was born as, and what its operator wrote into the settings."""

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from story import Network

from payments import rates
from payments.installation import NotThisKind, birth
from payments.models import Installation, RateSample, ReservedAddress
from payments.tasks import sample_rates

pytestmark = pytest.mark.django_db


def test_an_installation_is_born_once(network: Network) -> None:
    first = Installation.objects.get()
    assert birth() == first
    assert (first.kind, Installation.objects.count()) == ("simulated", 1)


@pytest.mark.parametrize(("born", "asked"), [("simulated", "real"), ("real", "simulated")])
def test_demo_money_never_becomes_spendable(network: Network, settings: Any, born: str, asked: str) -> None:
    Installation.objects.update(kind=born)
    settings.NETWORKS_KIND = asked
    with pytest.raises(NotThisKind, match=f"belong to a {born} installation, but NETWORKS={asked} asks for a {asked}"):
        birth()
    assert Installation.objects.get().kind == born


def test_addresses_of_another_birth_are_worth_nothing(shop: Any) -> None:
    """The kind is part of every seal: rows carried over to a real installation are refused."""
    from payments.errors import BrokenSeal

    order = shop.order()
    Installation.objects.update(kind="real")
    with pytest.raises(BrokenSeal):
        shop.ask(order)
    assert not ReservedAddress.objects.exclude(issued_at=None).exists()


@pytest.mark.parametrize("text", ["0", "-1", "NaN", "Infinity", "1e400", "", "abc", "1,5", "0.000000001", "1/0"])
def test_case_79_a_price_that_is_none_is_named_and_never_zero(settings: Any, text: str) -> None:
    settings.FIXED_RATES = {"ETH": text}
    with pytest.raises(ImproperlyConfigured, match=f"FIXED_RATES: ETH={text} is not a price in USD above zero"):
        rates.fixed_prices()


@pytest.mark.parametrize(("text", "price"), [("3000", 3000 * 10**8), ("0.99990001", 99_990_001), ("1e3", 10**11)])
def test_prices_are_exact(settings: Any, text: str, price: int) -> None:
    settings.FIXED_RATES = {"ETH": text}
    assert rates.fixed_prices() == {"ETH": price}


def test_every_sample_is_kept(network: Network, settings: Any) -> None:
    before = RateSample.objects.count()
    sample_rates()
    sample_rates()
    assert RateSample.objects.count() == before + 2 * len(settings.FIXED_RATES)
