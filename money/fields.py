"""BaseUnitsField: a whole number of a coin's smallest unit, exact to 78 digits on both databases.

Wei passes 64 bits at 9.2 ETH, and SQLite keeps decimals as floats. So: numeric(78,0) on PostgreSQL, 78-digit
zero-padded text on SQLite, each with a CHECK. Comparisons, `F()` arithmetic and SQL aggregates are refused: on SQLite
they compute silently wrong. Sum in Python.
"""

from typing import Any, NoReturn

from django.core.exceptions import FieldError
from django.db import models
from django.db.models.expressions import Col

DIGITS = 78
ALLOWED_LOOKUPS = {"exact", "in", "isnull"}


class BaseUnitsField(models.Field[int, int]):
    description = "a whole number of base units, at most 78 digits"
    empty_strings_allowed = False

    def db_type(self, connection: Any) -> str:
        return f"numeric({DIGITS}, 0)" if connection.vendor == "postgresql" else f"varchar({DIGITS})"

    def db_check(self, connection: Any) -> str:
        name = connection.ops.quote_name(self.column)
        if connection.vendor == "postgresql":
            return f"{name} >= 0 AND {name} <> 'NaN'"  # PostgreSQL ranks NaN above every number
        digits = f"typeof({name}) = 'text' AND length({name}) = {DIGITS} AND {name} NOT GLOB '*[^0-9]*'"
        return f"{name} IS NULL OR ({digits})"

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> int | None:
        if value is None:
            return None
        if not isinstance(expression, Col):
            raise FieldError("Base units cannot be computed in SQL: read the rows and compute in Python.")
        if connection.vendor == "postgresql":
            whole = value == value.to_integral_value() and value >= 0
        else:
            whole = isinstance(value, str) and len(value) == DIGITS and value.isascii() and value.isdigit()
        if not whole:
            raise ValueError(f"{self.name}: the database holds {value!r}, which is no whole number of base units")
        return int(value)

    def to_python(self, value: Any) -> int | None:
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        if isinstance(value, str) and value.isascii() and value.isdigit():
            return int(value)
        raise ValueError(f"{value!r} is not a whole number of base units")

    def get_prep_value(self, value: Any) -> Any:
        if value is None:
            return value
        units = self.to_python(value)
        if units is None or not 0 <= units < 10**DIGITS:
            raise OverflowError(f"{value!r} does not fit {DIGITS} digits")
        return units

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        value = value if prepared else self.get_prep_value(value)
        if value is None or connection.vendor == "postgresql":
            return value
        return str(value).zfill(DIGITS)

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        # A slot (`events/statements.py`) is an expression to Django, and a plain value once it is filled.
        if hasattr(value, "resolve_expression") and not getattr(value, "plain_value", False):
            raise FieldError(f"{self.name}: base units are never written by an expression: compute in Python.")
        return super().get_db_prep_save(value, connection)

    def get_lookup(self, lookup_name: str) -> Any:
        if lookup_name not in ALLOWED_LOOKUPS:
            self.refuse(lookup_name)
        return super().get_lookup(lookup_name)

    def get_transform(self, lookup_name: str) -> Any:
        self.refuse(lookup_name)

    def refuse(self, lookup_name: str) -> NoReturn:
        raise FieldError(f"{lookup_name!r} on base units would compare text on SQLite: compare in Python.")
