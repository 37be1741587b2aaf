"""What RATE_SOURCES may name, and what is refused at the start in one sentence."""

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from payments.rates import check_sources, sources
from payments.rates.table import PUBLIC


def choose(settings: Any, names: list[str], fixed: dict[str, str], kind: str = "simulated") -> None:
    settings.RATE_SOURCES, settings.FIXED_RATES, settings.NETWORKS_KIND = names, fixed, kind
    settings.RATE_QUORUM = 1 if names == ["fixed"] else 2


@pytest.mark.parametrize(
    ("names", "fixed", "said"),
    [
        (["kraken"], {}, "at least two public sources"),
        (["kraken", "kraken"], {}, "at least two public sources"),
        ([], {}, "at least two public sources"),
        (["fixed", "kraken", "bitstamp"], {"ETH": "1"}, "at least two public sources, or fixed alone"),
        (["kraken", "binance"], {}, "names binance; there are kraken, coinbase, .*, or fixed alone"),
        (["fixed"], {}, "RATE_SOURCES=fixed needs your prices"),
        (["kraken", "bitstamp"], {"ETH": "3000"}, "FIXED_RATES is set but not used"),
    ],
)
def test_a_choice_that_makes_no_price_or_one_that_nobody_confirms_is_refused(
    settings: Any, names: list[str], fixed: dict[str, str], said: str
) -> None:
    choose(settings, names, fixed, "real")
    with pytest.raises(ImproperlyConfigured, match=said):
        check_sources()


def test_an_asset_with_too_few_of_the_chosen_sources_is_named(settings: Any) -> None:
    choose(settings, ["coinbase", "bitstamp"], {})
    with pytest.raises(ImproperlyConfigured, match=r"USDC needs 2 sources and has 1; kraken, bitstamp, .* price it\."):
        check_sources()


@pytest.mark.parametrize(
    ("names", "fixed"),
    [(["kraken", "bitstamp"], {}), (list(PUBLIC), {}), (list(PUBLIC), {"ETH": "3000"}), (["fixed"], {"ETH": "3000"})],
)
def test_two_public_sources_or_the_operator_alone_will_do(
    settings: Any, names: list[str], fixed: dict[str, str]
) -> None:
    choose(settings, names, fixed)
    check_sources()
    assert [source.name for source in sources()] == names


def test_with_all_public_sources_every_asset_outlives_the_loss_of_one() -> None:
    for symbol in {symbol for source in PUBLIC.values() for symbol in source.pairs}:
        assert sum(symbol in source.pairs for source in PUBLIC.values()) >= 3, symbol
