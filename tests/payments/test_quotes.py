"""Prices and amounts: pure functions, judged in base units."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments import quotes
from payments.quotes import Guard, Sample

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


def sample(source: str, price: int, age: float = 0, source_age: float | None = None) -> Sample:
    received = NOW - timedelta(seconds=age)
    made = received if source_age is None else NOW - timedelta(seconds=source_age)
    return Sample(received, made, price, source)


def guard(quorum: int = 2) -> Guard:
    return Guard(MAX_AGE, quorum, lowest_e8=10, highest_e8=10**6, apart_basis_points=200)


def price(*samples: Sample, quorum: int = 2) -> int | None:
    found = quotes.median(samples, guard(quorum), now=NOW)
    return found.price_e8 if found else None


def dropped(*samples: Sample) -> dict[str, str]:
    found = quotes.median(samples, guard(), now=NOW)
    assert found
    return {one.sample.source: one.why for one in found.dropped}


def test_case_78_and_82_too_few_live_sources_give_no_price() -> None:
    assert price() is None
    assert price(sample("kraken", 100)) is None
    assert price(sample("kraken", 100), sample("kraken", 110)) is None  # one source twice is one source
    assert price(sample("kraken", 100), sample("bitstamp", 102, age=121)) is None
    assert price(sample("kraken", 100), sample("bitstamp", 102)) == 101
    assert price(quorum=0) is None


def test_the_newest_sample_of_each_source_counts() -> None:
    assert price(sample("kraken", 90, age=60), sample("kraken", 100), sample("bitstamp", 102)) == 101
    assert price(sample("a", 100), sample("b", 102), sample("c", 101)) == 101
    assert price(sample("a", 100, age=60), sample("a", 5), sample("b", 100)) is None  # not what it said before nonsense


def test_pay_8_a_sample_from_the_future_is_not_live() -> None:
    assert price(sample("kraken", 100), sample("bitstamp", 102, age=-121)) is None


def test_a_price_that_the_source_itself_calls_old_is_not_live() -> None:
    fresh = sample("kraken", 100), sample("bitstamp", 102)
    assert price(fresh[0], sample("coingecko", 102, source_age=121)) is None
    assert dropped(*fresh, sample("coingecko", 101, source_age=121)) == {"coingecko": "stale"}


@pytest.mark.cases
@pytest.mark.parametrize("wrong", [1, 9, 10**6 + 1], ids=["case-78-one", "case-78-low", "case-78-high"])
def test_a_price_outside_the_sane_range_counts_for_nothing(wrong: int) -> None:
    assert price(sample("a", wrong), sample("b", wrong), sample("c", wrong)) is None
    assert price(sample("a", wrong), sample("b", 100)) is None
    assert dropped(sample("a", wrong), sample("b", 100), sample("c", 100)) == {"a": "insane"}


def test_sources_far_from_the_median_do_not_count() -> None:
    near = sample("a", 1000), sample("b", 1000), sample("c", 1000)
    assert price(*near, sample("d", 1020)) == 1000  # 2 % apart still counts
    assert dropped(*near, sample("d", 1020)) == {}
    assert dropped(*near, sample("d", 1021)) == {"d": "outlier"}
    assert price(sample("a", 1000), sample("b", 1050)) is None  # each 2.4 % from the middle: which one is right?


def test_case_82_one_of_four_down_is_enough_and_three_of_four_are_not() -> None:
    four = [sample(name, 1000 + step) for step, name in enumerate(("a", "b", "c", "d"))]
    assert price(*four) == price(*four[1:3])
    assert price(*four[1:]) == 1002
    assert price(four[3]) is None


SAMPLES = st.lists(
    st.builds(sample, st.sampled_from("abcdef"), st.integers(1, 3 * 10**6), st.integers(-200, 200), st.none()),
    max_size=12,
) | st.lists(
    st.builds(sample, st.sampled_from("abcdef"), st.integers(980, 1030), st.integers(0, 130), st.none()), max_size=12
)


@pytest.mark.invariants
@given(samples=SAMPLES, quorum=st.integers(0, 4), random=st.randoms())
def test_a_price_lies_among_its_sources_needs_a_quorum_and_knows_no_order(
    samples: list[Sample], quorum: int, random: Random
) -> None:
    found = quotes.median(samples, guard(quorum), now=NOW)
    shuffled = random.sample(samples, len(samples))
    assert quotes.median(shuffled, guard(quorum), now=NOW) == found
    if found is None:
        return
    live = [s.price_e8 for s in found.samples]
    assert len({s.source for s in found.samples}) == len(live) >= max(quorum, 1)
    assert min(live) <= found.price_e8 <= max(live)
    assert all(not quotes.fault(s, guard(quorum), NOW) for s in found.samples)
    assert max(live) <= min(live) * 105 // 100 + 1
    counted = {s.source for s in found.samples} | {d.sample.source for d in found.dropped}
    assert counted == {s.source for s in samples}


def test_the_price_at_a_moment_passes_the_same_guards_as_todays() -> None:
    """A single wild sample next to the moment is none; what two sources agreed on a little further away is."""
    known = [
        sample("a", 1000, age=200), sample("b", 1002, age=200),
        sample("a", 1100, age=60), sample("b", 1, age=60),
        sample("a", 1200), sample("b", 1202),
    ]  # fmt: skip
    window = timedelta(minutes=5)

    def at(age: float) -> int | None:
        found = quotes.price_at(known, guard(), moment=NOW - timedelta(seconds=age), window=window)
        return found.price_e8 if found else None

    assert at(200) == 1001
    assert at(60) == 1201  # nearest in time that holds: now, 60 seconds later
    assert at(131) == 1001
    assert at(0) == 1201
    assert at(-301) is None
    assert at(501) is None
