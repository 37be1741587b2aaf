"""US dollars as integer cents: the only fiat currency, and no fractions of a cent anywhere."""

from decimal import Decimal

from django.utils.formats import number_format


def plain(cents: int) -> str:
    """Return dollars as plain ASCII ("1234.50") for files, JSON and wallets."""
    sign, cents = ("-", -cents) if cents < 0 else ("", cents)
    return f"{sign}{cents // 100}.{cents % 100:02d}"


def localised(cents: int) -> str:
    """Return dollars as people read them in the active language: $1,234.50 or $1 234,50."""
    number = number_format(Decimal(plain(abs(cents))), 2, use_l10n=True, force_grouping=True)
    return f"{'−' if cents < 0 else ''}${number}"
