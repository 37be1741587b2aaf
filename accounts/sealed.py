"""Secrets at rest: the first of FIELD_KEYS encrypts, every one decrypts, so a new key in front rotates them."""

import base64
import functools
from typing import Any

from cryptography.fernet import Fernet, MultiFernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.core.signals import setting_changed
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Expression


def encrypt(text: str) -> str:
    """Return `text` as a Fernet token under the first key."""
    return _box().encrypt(text.encode()).decode()


def decrypt(token: str) -> str:
    """Return the text of a token made under any of the keys. Raises cryptography's InvalidToken otherwise."""
    return _box().decrypt(token.encode()).decode()


def rotate(token: str) -> str:
    """Return the token made anew under the first key; its time stays."""
    return _box().rotate(token.encode()).decode()


class EncryptedTextField(models.TextField[str | None, str | None]):
    """Text that is ciphertext in the database: it can be asked for its presence, never filtered or sorted by."""

    def from_db_value(self, value: str | None, expression: Expression, connection: BaseDatabaseWrapper) -> str | None:
        return None if value is None else decrypt(value)

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else encrypt(str(value))

    def get_lookup(self, lookup_name: str) -> Any:
        return super().get_lookup(lookup_name) if lookup_name == "isnull" else None


@functools.cache
def _box() -> MultiFernet:
    return MultiFernet([_derive(key) for key in settings.FIELD_KEYS])


def _derive(key: str) -> Fernet:
    raw = HKDF(hashes.SHA256(), 32, salt=None, info=b"gridlot field encryption v1").derive(key.encode())
    return Fernet(base64.urlsafe_b64encode(raw))


def _forget_keys(*, setting: str, **_: Any) -> None:
    if setting == "FIELD_KEYS":
        _box.cache_clear()


setting_changed.connect(_forget_keys)
