"""Prices and amounts: pure functions, judged in base units."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments import quotes
from payments.quotes import Sample

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
MAX_AGE = timedelta(seconds=120)
CENTS = st.integers(1, 10**9)
RATES = st.integers(10**4, 10**14)  # $0.0001 to $1,000,000 for a whole coin
DECIMALS = st.sampled_from([6, 8, 9, 18])


@given(cents=CENTS, rate=RATES, decimals=DECIMALS, shown=st.integers(2, 8))
def test_an_exact_payer_covers_the_dollars_and_less_than_one_shown_step_more(
    cents: int, rate: int, decimals: int, shown: int
) -> None:
    units = quotes.units_for(cents, rate, decimals, shown)
    step = 10 ** max(decimals - shown, 0)
    assert units > 0
    assert units % step == 0
    assert quotes.cents_for(units, rate, decimals) >= cents
    below = units - step
    assert below <= 0 or quotes.cents_for(below, rate, decimals) <= cents


@given(units=st.integers(0, 10**30), more=st.integers(0, 10**30), rate=RATES, decimals=DECIMALS)
def test_dollars_are_rounded_down_and_parts_never_exceed_the_whole(
    units: int, more: int, rate: int, decimals: int
) -> None:
    whole = quotes.cents_for(units + more, rate, decimals)
    parts = quotes.cents_for(units, rate, decimals) + quotes.cents_for(more, rate, decimals)
    assert 0 <= whole - parts <= 1


@given(amount=st.integers(1, 10**24), cents=CENTS, share=st.integers(0, 10_000), cap=st.integers(0, 10**6))
def test_case_1_and_2_no_setting_settles_under_95_percent_or_for_nothing(
    amount: int, cents: int, share: int, cap: int
) -> None:
    short = quotes.tolerated_shortfall(amount, cents, share, cap)
    needed = amount - short
    assert 0 <= short
    assert needed > 0
    assert needed * 100 >= amount * 95


@pytest.mark.parametrize(
    ("received", "settles"),
    [(100_000, True), (99_999, True), (99_500, True), (99_499, False), (80_000, False), (1_000, False), (0, False)],
)
def test_case_4_short_in_a_volatile_coin_by_half_a_percent_at_most(received: int, settles: bool) -> None:
    """0.00100000 BTC for $100.00."""
    short = quotes.tolerated_shortfall(100_000, 10_000, 50, 200)
    assert (received >= 100_000 - short) is settles


@pytest.mark.parametrize(("received", "settles"), [("99.90", True), ("99.89", False), ("99.00", False)])
def test_case_11_short_in_a_stablecoin_by_a_tenth_of_a_percent_at_most(received: str, settles: bool) -> None:
    """100.00 USDT for $100.00."""
    units = int(received.replace(".", "")) * 10**4
    assert (units >= 10**8 - quotes.tolerated_shortfall(10**8, 10_000, 10, 50)) is settles


def test_the_cap_in_dollars_wins_for_large_sums() -> None:
    assert quotes.tolerated_shortfall(10**6, 100_000, 50, 200) == 2 * 10**6 // 1000  # $2.00 of $1,000.00, not $5.00


@pytest.mark.parametrize(("cents", "short"), [(19, 1_000), (20, 50_000), (100, 10_000)])
def test_case_2_the_floor_of_one_cent_needs_a_due_of_20_cents(cents: int, short: int) -> None:
    assert quotes.tolerated_shortfall(10**6, cents, 10, 50) == short


def test_rounding_of_the_due_at_known_prices() -> None:
    rate = quotes.with_markup(3000 * 10**8, 100)  # 1 % lower than the market's
    assert rate == 2970 * 10**8
    assert quotes.units_for(15_000, rate, 18, 6) == 50_506 * 10**12  # 0.050505… → 0.050506 ETH
    assert quotes.units_for(10_000, quotes.with_markup(10**8, 30), 6, 2) == 100_310_000  # 100.3009 → 100.31 USDT


def sample(source: str, price: int, age: int = 0) -> Sample:
    return Sample(source, price, NOW - timedelta(seconds=age))


def price(*samples: Sample, quorum: int = 2) -> int | None:
    found = quotes.median(samples, now=NOW, max_age=MAX_AGE, quorum=quorum)
    return found and found.price_e8


def test_case_78_and_82_too_few_live_sources_give_no_price() -> None:
    assert price() is None
    assert price(sample("kraken", 100)) is None
    assert price(sample("kraken", 100), sample("kraken", 110)) is None  # one source twice is one source
    assert price(sample("kraken", 100), sample("bitstamp", 104, age=121)) is None
    assert price(sample("kraken", 100), sample("bitstamp", 104)) == 102
    assert price(quorum=0) is None


def test_the_newest_sample_of_each_source_counts() -> None:
    assert price(sample("kraken", 90, age=60), sample("kraken", 100), sample("bitstamp", 102)) == 101
    assert price(sample("a", 1), sample("b", 5), sample("c", 3)) == 3


def test_pay_8_a_sample_from_the_future_is_not_live() -> None:
    assert price(sample("kraken", 100), sample("bitstamp", 104, age=-121)) is None
