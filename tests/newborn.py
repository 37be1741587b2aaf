"""The database as migrations leave it, and the way back to it after a test whose commits cannot be rolled back.

Django's own way is to empty every table and to let the migrate signal fill them again: some 300 statements after each
such test, a third of a second. Here a copy of the newborn rows is kept beside them and put back.
"""

import sqlite3
from typing import Any

from django.apps import apps
from django.db import connection, transaction

from events import append_only

ELSEWHERE = "newborn"  # a schema that no search path names, so that no introspection sees it
_kept = sqlite3.connect(":memory:", check_same_thread=False)


def remember() -> None:
    """Keep a copy of the whole database."""
    if connection.vendor == "sqlite":
        _file().backup(_kept)
        return
    copies = (f"CREATE TABLE {ELSEWHERE}.{table} AS TABLE {table};" for table in _tables())
    with connection.cursor() as cursor:
        cursor.execute(f"DROP SCHEMA IF EXISTS {ELSEWHERE} CASCADE; CREATE SCHEMA {ELSEWHERE}; {''.join(copies)}")


def put_back() -> None:
    """Give every table its newborn rows, and the append-only ones their triggers."""
    if connection.vendor == "sqlite":
        _kept.backup(_file())
        return
    with transaction.atomic():
        append_only.lift("default")
        with connection.cursor() as cursor:
            cursor.execute("".join(f"DELETE FROM {table};" for table in _tables()))  # noqa: S608
            cursor.execute("".join(f"INSERT INTO {table} TABLE {ELSEWHERE}.{table};" for table in _tables()))
        append_only.install("default")


def _file() -> Any:
    connection.ensure_connection()
    return connection.connection


def _tables() -> list[str]:
    """Return the tables of all models, those between two of them included."""
    models = apps.get_models(include_auto_created=True)
    return sorted({model._meta.db_table for model in models if model._meta.managed and not model._meta.proxy})
