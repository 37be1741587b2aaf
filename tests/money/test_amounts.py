"""Amounts as text: plain ASCII for wallets and files, words for people."""

import re

import pytest
from django.template import Context, Template
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from money import units, usd

AMOUNTS = st.integers(0, 2**256 - 1)
DECIMALS = st.integers(0, 18)


@given(amount=AMOUNTS, decimals=DECIMALS)
def test_case_84_an_amount_as_text_is_plain_and_means_the_same(amount: int, decimals: int) -> None:
    text = units.plain(amount, decimals)
    assert re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII)
    assert len(text.partition(".")[2]) <= decimals
    assert units.parse(text, decimals) == amount


@pytest.mark.parametrize(
    ("amount", "decimals", "text"),
    [(1, 18, "0.000000000000000001"), (546, 8, "0.00000546"), (100, 0, "100"), (10**36, 18, str(10**18)), (0, 6, "0"),
     (100_000_000, 6, "100"), (50_000_000_000_000_000, 18, "0.05")],
)  # fmt: skip
def test_case_84_small_and_huge_amounts(amount: int, decimals: int, text: str) -> None:
    assert units.plain(amount, decimals) == text


def test_an_amount_of_coins_is_never_negative() -> None:
    with pytest.raises(ValueError, match="never negative"):
        units.plain(-1, 6)


@pytest.mark.parametrize(
    "text",
    ["", ".", "1.", ".5", "1,5", "1 000", "1e3", "-1", "+1", "0x1", "1.0000001", "١", "1.٥", "NaN", "1\n", "1_0"],
)
def test_case_85_nothing_else_is_read_as_an_amount(text: str) -> None:
    with pytest.raises(ValueError, match="amount|decimals"):
        units.parse(text, 6)


@given(amount=AMOUNTS, decimals=DECIMALS, shown=st.integers(0, 20))
def test_rounding_up_never_loses_and_adds_less_than_one_step(amount: int, decimals: int, shown: int) -> None:
    up, step = units.round_up(amount, decimals, shown), 10 ** max(decimals - shown, 0)
    assert amount <= up < amount + step
    assert up % step == 0


@given(cents=st.integers(-(10**18), 10**18))
def test_dollars_as_text_are_plain(cents: int) -> None:
    text = usd.plain(cents)
    assert re.fullmatch(r"-?\d+\.\d\d", text, re.ASCII)
    assert round(int(text.replace(".", ""))) == cents


@pytest.mark.parametrize(
    ("language", "cents", "text"),
    [("en", 123_450, "$1,234.50"), ("ru", 123_450, "$1 234,50"), ("en", -5, "−$0.05"), ("en", 0, "$0.00")],
)
def test_dollars_for_people_follow_the_language(language: str, cents: int, text: str) -> None:
    with translation.override(language):
        assert usd.localised(cents).replace("\xa0", " ") == text


@pytest.mark.parametrize("language", ["en", "ru", "de", "ar", "fa"])
def test_case_85_a_coin_is_written_plainly_in_every_language(language: str) -> None:
    with translation.override(language):
        written = Template("{{ amount|coin:18 }}").render(Context({"amount": 1234 * 10**18 + 5}))
    assert written == "1234.000000000000000005"
