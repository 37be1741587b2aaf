"""One spelling per e-mail address: lower case, Unicode NFC, no white space around it."""

import unicodedata
from typing import Any

from django.db import models


def normalise(email: str) -> str:
    """Return the one spelling under which an address is stored and looked up."""
    return unicodedata.normalize("NFC", email.strip()).lower()


class CaselessEmailField(models.EmailField[str, str]):
    """An address that is stored, filtered and compared in its one spelling, whoever wrote it."""

    def to_python(self, value: Any) -> Any:
        return normalise(value) if isinstance(value, str) else value

    def get_prep_value(self, value: Any) -> Any:
        prepared = super().get_prep_value(value)
        return normalise(prepared) if isinstance(prepared, str) else prepared
