"""ORD-4: numbers that survive the telephone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orders import numbers

SYMBOLS = [numbers.draw() for _ in range(40)]
bodies = st.text(numbers.ALPHABET, min_size=7, max_size=7)


def whole(body: str) -> str:
    return body + numbers.ALPHABET[numbers.checksum(body)]


@pytest.mark.parametrize("symbols", SYMBOLS)
def test_ord_4_every_single_wrong_symbol_is_noticed(symbols: str) -> None:
    """All 8 × 31 slips of one symbol, the check symbol's included."""
    assert numbers.is_valid(symbols)
    for place in range(8):
        for other in numbers.ALPHABET:
            slipped = symbols[:place] + other + symbols[place + 1 :]
            assert numbers.is_valid(slipped) == (other == symbols[place])


@pytest.mark.parametrize("symbols", SYMBOLS)
def test_ord_4_every_swap_of_two_symbols_is_noticed(symbols: str) -> None:
    for one in range(8):
        for other in range(one + 1, 8):
            swapped = list(symbols)
            swapped[one], swapped[other] = swapped[other], swapped[one]
            assert numbers.is_valid("".join(swapped)) == (symbols[one] == symbols[other])


def test_ord_4_single_slips_and_neighbours_are_noticed_for_every_pair_of_symbols() -> None:
    """The checksum is linear over GF(32): one difference, or a swap, never vanishes."""
    weights = [numbers.checksum("0" * place + "1" + "0" * (6 - place)) for place in range(7)] + [1]
    assert len(set(weights)) == 8
    for value in range(1, 32):
        contributions = {
            numbers.checksum("0" * place + numbers.ALPHABET[value] + "0" * (6 - place)) for place in range(7)
        }
        assert 0 not in contributions | {value}
        assert len(contributions | {value}) == 8


@given(body=bodies, other=bodies)
def test_ord_4_the_checksum_is_linear(body: str, other: str) -> None:
    alphabet = numbers.ALPHABET
    total = "".join(alphabet[alphabet.index(a) ^ alphabet.index(b)] for a, b in zip(body, other, strict=True))
    assert numbers.checksum(total) == numbers.checksum(body) ^ numbers.checksum(other)


@pytest.mark.parametrize(
    "typed",
    ["GL-7K3M-9QX{c}", "gl-7k3m-9qx{c}", "GL7K3M9QX{c}", "7k3m9qx{c}", " GL 7K3M 9QX{c} ", "gl_7k3m_9qx{c}",
     "7K3M-9QX{c}", "GI-7K3M-9QX{c}", "G1-7K3M-9QX{c}"],
)  # fmt: skip
def test_ord_4_case_a11_a_number_is_read_in_any_case_with_or_without_dashes(typed: str) -> None:
    symbols = whole("7K3M9QX")
    assert numbers.read(typed.format(c=symbols[7]), "GL") == symbols


@given(body=bodies)
def test_ord_4_look_alikes_are_corrected(body: str) -> None:
    symbols = whole(body)
    typed = symbols.replace("0", "o").replace("1", "l")
    assert numbers.read(f"gl-{typed}", "GL") == symbols
    assert numbers.read(symbols.replace("0", "O").replace("1", "I"), "GL") == symbols


@given(body=bodies, prefix=st.sampled_from(["GL", "A", "SHOP", "GL2"]))
def test_a_number_is_read_as_it_is_written(body: str, prefix: str) -> None:
    symbols = whole(body)
    assert numbers.read(numbers.pretty(symbols, prefix), prefix) == symbols


@pytest.mark.parametrize(
    "typed", ["", "GL", "GL-", "GL-7K3M", "7K3M9QXU", "XX-7K3M-9QX", "ΑΒΓΔΕΖΗΘ", "GL-7K3M-9QX2-7K3M"]
)
def test_what_is_no_number_is_none(typed: str) -> None:
    assert numbers.read(typed, "GL") is None


def test_numbers_are_drawn_at_random_and_have_no_letter_that_is_misread() -> None:
    drawn = {numbers.draw() for _ in range(500)}
    assert len(drawn) == 500
    assert not set("ILOU") & set("".join(drawn))
    assert len({symbols[0] for symbols in drawn}) > 20
