"""Where a promise stands, from facts alone: the table of docs/payments.md, and what holds for any facts."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.models import PaymentIntent
from payments.standing import Fact, Promise, Standing, shares, stand, worth

Quote, Funding, Settlement = PaymentIntent.Quote, PaymentIntent.Funding, PaymentIntent.Settlement
T0 = datetime(2026, 5, 1, 12, tzinfo=UTC)
END = T0 + timedelta(minutes=15)
PROMISE = Promise(
    amount=100_000, usd_cents=10_000, shortfall=500, expires_at=END, quote=Quote.OPEN, closed_at=None,
    settlement=Settlement.UNSETTLED, ended=False,
)  # fmt: skip


def fact(
    amount: int, minute: float = 5, *, final: bool = False, included: bool = True, credited: bool = False, id: int = 1
) -> Fact:
    return Fact(id, amount, T0 + timedelta(minutes=minute), included or final, final, credited)


def standing(
    *facts: Fact, promise: Promise = PROMISE, payable: bool = True, watched: float | None = 5, now: float = 5
) -> Standing:
    """Return the standing; `watched` and `now` in minutes after the promise was made."""
    until = None if watched is None else T0 + timedelta(minutes=watched)
    return stand(promise, facts, order_payable=payable, watched_until=until, now=T0 + timedelta(minutes=now))


def test_nothing_seen_in_time_is_open() -> None:
    assert standing() == Standing(Quote.OPEN, Funding.NONE, False, False, False, False, False, (), 0)


@pytest.mark.parametrize(
    ("watched", "now", "ended", "unwatched"),
    [
        (14, 14, False, False),
        (15, 16, False, False),  # watched up to the very end: a block of that time may still come
        (16, 16, True, False),
        (16, 15, False, False),  # a block's clock runs ahead of ours: ours is not over yet
        (5, 60, False, False),
        (None, 60, False, False),
        (5, 24 * 60 + 15, False, False),
        (5, 24 * 60 + 16, True, True),
        (None, 24 * 60 + 16, True, True),
    ],
)
def test_case_17_a_promise_expires_only_once_its_network_was_watched_beyond_its_end(
    watched: float | None, now: float, ended: bool, unwatched: bool
) -> None:
    found = standing(watched=watched, now=now)
    assert (found.ended, found.unwatched) == (ended, unwatched)
    assert found.quote == (Quote.EXPIRED if ended else Quote.OPEN)


@pytest.mark.parametrize(
    ("amounts", "funding"),
    [([1], "partial"), ([99_499], "partial"), ([99_500], "covered"), ([100_000], "covered"), ([100_001], "over"),
     ([60_000, 40_000], "covered")],
)  # fmt: skip
def test_funding_follows_live_transfers(amounts: list[int], funding: str) -> None:
    assert standing(*[fact(a, id=n) for n, a in enumerate(amounts)]).funding == funding


def test_a_transfer_in_the_pool_is_seen_and_final_ones_alone_settle() -> None:
    pool = standing(fact(50_000, included=False))
    assert (pool.funding, pool.settle, pool.credit) == (Funding.SEEN, False, ())
    covered = standing(fact(100_000))
    assert (covered.funding, covered.settle, covered.credit) == (Funding.COVERED, False, ())
    assert standing(fact(100_000, final=True)).settle


def test_case_12_and_28_half_confirmed_is_covered_and_not_settled() -> None:
    half = standing(fact(50_000, final=True), fact(50_000, included=False, id=2))
    assert (half.funding, half.settle, half.credit) == (Funding.COVERED, False, ())


def test_case_19_money_that_covers_keeps_a_promise_open_however_late_it_becomes_final() -> None:
    found = standing(fact(100_000), watched=600, now=600)
    assert (found.quote, found.ended) == (Quote.OPEN, False)


def test_a_partial_promise_expires_and_its_final_part_is_credited() -> None:
    found = standing(fact(80_000, final=True), watched=16, now=16)
    assert (found.quote, found.ended, found.settle) == (Quote.EXPIRED, True, False)
    assert [f.amount for f in found.credit] == [80_000]


def test_a_partial_promise_is_not_credited_before_its_end() -> None:
    assert standing(fact(80_000, final=True)).credit == ()


@pytest.mark.parametrize("quote", [Quote.EXPIRED, Quote.SUPERSEDED])
def test_on_time_money_settles_an_expired_or_superseded_promise(quote: str) -> None:
    found = standing(
        fact(100_000, 14, final=True), promise=replace(PROMISE, quote=quote, ended=True), watched=60, now=60
    )
    assert (found.settle, found.quote, found.late) == (True, quote, False)


def test_late_money_is_credited_and_settles_nothing() -> None:
    found = standing(fact(100_000, 15.1, final=True), watched=60, now=60)
    assert (found.settle, found.late, found.quote, len(found.credit)) == (False, True, Quote.EXPIRED, 1)


def test_a_cancelled_promise_is_on_time_until_it_was_cancelled() -> None:
    cancelled = replace(PROMISE, quote=Quote.CANCELLED, closed_at=T0 + timedelta(minutes=3), ended=True)
    assert standing(fact(100_000, 2, final=True), promise=cancelled).settle
    after = standing(fact(100_000, 4, final=True), promise=cancelled)
    assert (after.settle, after.late, len(after.credit)) == (False, True, 1)


def test_money_of_an_order_that_is_not_payable_is_credited() -> None:
    found = standing(fact(100_000, final=True), payable=False)
    assert (found.settle, len(found.credit)) == (False, 1)


def test_a_settled_promise_never_becomes_anything_else() -> None:
    settled = replace(PROMISE, settlement=Settlement.SETTLED, ended=True)
    found = standing(
        fact(100_000, final=True, credited=True), fact(100_000, final=True, id=2), promise=settled, watched=60, now=60
    )
    assert (found.quote, found.settle) == (Quote.OPEN, False)
    assert [f.id for f in found.credit] == [2]


# --- for any facts ------------------------------------------------------------------------------------------------
facts = st.builds(
    lambda amount, minute, stage: fact(amount, minute, included=stage > 0, final=stage > 1, credited=stage > 2),
    st.integers(1, 250_000),
    st.floats(0, 2000),
    st.integers(0, 3),
)
moments = st.floats(0, 3000)


@given(found=st.lists(facts, max_size=6), watched=st.none() | moments, now=moments, payable=st.booleans())
def test_case_2_settling_needs_95_percent_of_final_money_that_was_on_time(
    found: list[Fact], watched: float | None, now: float, payable: bool
) -> None:
    result = standing(*found, watched=watched, now=now, payable=payable)
    on_time_final = sum(f.amount for f in found if f.final and f.known_at <= END)
    assert result.settle == (payable and on_time_final >= PROMISE.amount - PROMISE.shortfall)
    assert not result.settle or on_time_final * 100 >= PROMISE.amount * 95
    assert all(f.final and not f.credited for f in result.credit)


@given(found=st.lists(facts, max_size=6), watched=st.none() | moments, now=moments)
def test_rule_5_the_standing_does_not_depend_on_the_order_of_facts(
    found: list[Fact], watched: float | None, now: float
) -> None:
    one, other = standing(*found, watched=watched, now=now), standing(*found[::-1], watched=watched, now=now)
    assert replace(one, credit=()) == replace(other, credit=())
    assert sorted(f.amount for f in one.credit) == sorted(f.amount for f in other.credit)


@given(found=st.lists(facts, max_size=6))
def test_invariant_7_an_on_time_payer_is_never_expired(found: list[Fact]) -> None:
    enough = sum(f.amount for f in found if f.known_at <= END) >= PROMISE.amount
    for now in (5.0, 16.0, 1500.0, 9000.0):
        if enough:
            assert standing(*found, watched=now, now=now).quote == Quote.OPEN


@given(amounts=st.lists(st.integers(1, 150_000), min_size=1, max_size=6))
def test_invariant_3_received_is_promised_plus_market_and_parts_add_up(amounts: list[int]) -> None:
    found = [fact(amount, final=True, id=n) for n, amount in enumerate(amounts)]
    split = shares(PROMISE, standing(*found, watched=16, now=16))
    assert [s.locked + s.market for s in split] == amounts
    locked = sum(s.locked for s in split)
    assert locked == min(sum(amounts), 110_000)  # the promised rate counts up to 110 %: more would be a free option
    assert sum(s.locked_cents for s in split) == worth(PROMISE, locked)
    assert all(s.locked_cents >= 0 for s in split)


@given(first=st.integers(1, 99_999))
def test_an_exact_payer_in_two_halves_is_credited_exactly_the_promise(first: int) -> None:
    found = [fact(first, final=True), fact(100_000 - first, final=True, id=2)]
    split = shares(PROMISE, standing(*found))
    assert sum(s.locked_cents for s in split) == PROMISE.usd_cents
    assert not any(s.market for s in split)
