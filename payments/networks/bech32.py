"""Bech32 and bech32m (BIP173, BIP350): a prefix, a witness version and a program of bytes, written with a checksum."""

LETTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
VALUES = {letter: value for value, letter in enumerate(LETTERS)}
LONGEST = 90
BECH32, BECH32M = 1, 0x2BC830A3


class WrongVariant(ValueError):
    """The checksum would fit, but of the other variant: a wallet that knows only the old one made it."""


def _steps() -> tuple[int, ...]:
    """Return what each of the 32 possible top values of the checksum mixes into it."""
    generator = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
    steps = []
    for top in range(32):
        mixed = 0
        for bit, part in enumerate(generator):
            mixed ^= part if top >> bit & 1 else 0
        steps.append(mixed)
    return tuple(steps)


STEPS = _steps()


def _mix(values: list[int]) -> int:
    check = 1
    for value in values:
        check = (check & 0x1FFFFFF) << 5 ^ value ^ STEPS[check >> 25]
    return check


def _spread(prefix: str) -> list[int]:
    return [ord(letter) >> 5 for letter in prefix] + [0] + [ord(letter) & 31 for letter in prefix]


def _fives(program: bytes) -> list[int]:
    """Return the bits of the program in groups of five, the last one filled with zeros."""
    groups = -(-len(program) * 8 // 5)
    number = int.from_bytes(program, "big") << groups * 5 - len(program) * 8
    return [number >> 5 * place & 31 for place in range(groups - 1, -1, -1)]


def _eights(groups: list[int]) -> bytes:
    """Return the bytes of groups of five; ValueError unless what fills the last group is zeros, less than a group."""
    length, rest = divmod(len(groups) * 5, 8)
    number = 0
    for group in groups:
        number = number << 5 | group
    if rest > 4 or number & ((1 << rest) - 1):
        raise ValueError("This address has a typing error.")
    return (number >> rest).to_bytes(length, "big")


def encode(prefix: str, version: int, program: bytes) -> str:
    """Return the address of a witness program, in lower case."""
    data = [version, *_fives(program)]
    check = _mix(_spread(prefix) + data + [0] * 6) ^ (BECH32M if version else BECH32)
    return prefix + "1" + "".join([LETTERS[value] for value in data + [check >> 5 * n & 31 for n in range(5, -1, -1)]])


def decode(text: str) -> tuple[str, int, bytes]:
    """Return prefix, witness version and program; ValueError says what is wrong with it."""
    if text not in (text.lower(), text.upper()):
        raise ValueError("This address mixes small and capital letters: it has a typing error.")
    prefix, _, rest = text.lower().rpartition("1")
    if not prefix or len(rest) < 8 or len(text) > LONGEST or not all(letter in VALUES for letter in rest):
        raise ValueError("This address has a typing error, or a part of it is missing.")
    data = [VALUES[letter] for letter in rest]
    check, version = _mix(_spread(prefix) + data), data[0]
    if check not in (BECH32, BECH32M) or version > 16:
        raise ValueError("This address has a typing error.")
    if check != (BECH32M if version else BECH32):
        raise WrongVariant("The checksum of this address is of the wrong kind (bech32 and bech32m were confused).")
    return prefix, version, _eights(data[1:-6])
