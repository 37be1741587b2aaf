import pytest
from cryptography.fernet import InvalidToken
from django.db import models
from pytest_django.fixtures import Settings

from accounts import sealed


def test_a_new_key_in_front_reads_what_the_old_one_wrote(settings: Settings) -> None:
    settings.FIELD_KEYS = ["old"]
    token = sealed.encrypt("ssh -p 2222")
    settings.FIELD_KEYS = ["new", "old"]
    assert sealed.decrypt(token) == "ssh -p 2222"
    rotated = sealed.rotate(token)
    settings.FIELD_KEYS = ["new"]
    assert sealed.decrypt(rotated) == "ssh -p 2222"
    with pytest.raises(InvalidToken):
        sealed.decrypt(token)


def test_the_same_text_is_sealed_differently_each_time() -> None:
    assert sealed.encrypt("x") != sealed.encrypt("x")


def test_an_encrypted_field_can_only_be_asked_for_its_presence() -> None:
    field = sealed.EncryptedTextField()
    assert field.get_lookup("isnull") is models.lookups.IsNull
    assert field.get_lookup("exact") is None
    assert field.get_lookup("icontains") is None


def test_an_encrypted_field_writes_ciphertext_and_reads_text() -> None:
    field = sealed.EncryptedTextField()
    stored = field.get_prep_value("secret")
    assert stored
    assert "secret" not in stored
    assert field.from_db_value(stored, None, None) == "secret"  # type: ignore[arg-type]
    assert field.from_db_value(None, None, None) is None  # type: ignore[arg-type]
