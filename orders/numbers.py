"""Public order numbers: short, unambiguous over the phone, not guessable in sequence, with a check symbol (ORD-4).

Eight symbols of Crockford's alphabet (no I, L, O, U). Seven are random, the eighth makes a weighted sum over GF(32)
vanish; the weights are different powers of a generator, so every single wrong symbol and every swap of two different
symbols is noticed.
"""

import secrets
from collections.abc import Iterator
from itertools import combinations

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 8
LOOK_ALIKES = str.maketrans("OIL", "011")


def times_x(value: int) -> int:
    """Multiply by the generator x in GF(32) with x⁵ + x² + 1."""
    value <<= 1
    return value ^ 0b100101 if value & 0b100000 else value


def checksum(symbols: str) -> int:
    total = 0
    for symbol in symbols:  # Horner's scheme: the last symbol has weight x, the one before x², and so on
        total = times_x(total ^ ALPHABET.index(symbol))
    return total


def draw() -> str:
    """Return a fresh number as eight symbols; a clash is found by the database's unique key."""
    body = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH - 1))
    return body + ALPHABET[checksum(body)]


def is_valid(symbols: str) -> bool:
    return (
        len(symbols) == LENGTH
        and all(symbol in ALPHABET for symbol in symbols)
        and ALPHABET[checksum(symbols[:-1])] == symbols[-1]
    )


def pretty(symbols: str, prefix: str) -> str:
    """Write a number for people: GL-7K3M-9QX2."""
    return f"{prefix}-{symbols[:4]}-{symbols[4:]}"


def plain(text: str) -> str:
    """Return letters and digits of a text as symbols: capitals, look-alikes corrected."""
    return "".join(c for c in text.upper() if c.isascii() and c.isalnum()).translate(LOOK_ALIKES)


def read(text: str, prefix: str) -> str | None:
    """Return the symbols of a number typed in any case, with or without prefix and dashes; none if it is wrong."""
    symbols, start = plain(text), plain(prefix)  # slips happen in the prefix too
    if len(symbols) == len(start) + LENGTH and symbols.startswith(start):
        symbols = symbols[len(start) :]
    return symbols if is_valid(symbols) else None


def near(text: str, prefix: str) -> set[str]:
    """Return the symbols of every number that one slip turns into this text: a symbol missing, wrong or too many, or
    two swapped. Some nine of the hundreds that are tried: the check symbol refuses the others."""
    symbols = plain(text)
    typed = {symbols, symbols.removeprefix(plain(prefix))}
    return {one for each in typed for one in slips(each) if is_valid(one)}


def slips(typed: str) -> Iterator[str]:
    """Yield what may have been meant, valid or not; nothing for a text of another length."""
    places = range(len(typed))
    if len(typed) == LENGTH - 1:
        yield from (typed[:at] + one + typed[at:] for at in range(LENGTH) for one in ALPHABET)
    elif len(typed) == LENGTH:
        yield from (typed[:at] + one + typed[at + 1 :] for at in places for one in ALPHABET)
        for first, second in combinations(places, 2):
            swapped = list(typed)
            swapped[first], swapped[second] = typed[second], typed[first]
            yield "".join(swapped)
    elif len(typed) == LENGTH + 1:
        yield from (typed[:at] + typed[at + 1 :] for at in places)
