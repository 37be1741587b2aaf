"""Secrets that we hand out once and keep as digests: recovery codes and API tokens.

Each has 120 random bits or more, so that a plain digest is enough: nobody can try them all (OWASP ASVS 6.5.2).
"""

import hashlib
import secrets

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # without I, L, O, U, which people mistake
LOOK_ALIKES = str.maketrans("OIL", "011")
CODE_LENGTH, GROUP = 24, 4
MARK = "gridlot_"  # before each token: lets people and scanners see what leaked


def new_code() -> str:
    """Return a recovery code as people read it: six groups of four, 120 bits."""
    symbols = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
    return "-".join(symbols[at : at + GROUP] for at in range(0, CODE_LENGTH, GROUP))


def read_code(text: str) -> str:
    """Return the symbols of a code typed in any case, with or without dashes, with the usual slips."""
    plain = "".join(c for c in text.upper() if c.isascii() and c.isalnum())
    return plain.translate(LOOK_ALIKES)[: CODE_LENGTH + 1]


def new_token() -> str:
    """Return an API token, 256 bits."""
    return MARK + secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """Return what is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()
