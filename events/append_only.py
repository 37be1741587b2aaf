"""Tables that only grow: the database itself refuses to change or delete their rows.

Triggers on both databases, installed after every migrate: SQLite drops them when it rebuilds a table. A system check
(`events.E001`) fails when one is missing. Only the flush between tests lifts them.
"""

from collections.abc import Iterator
from typing import Any

from django.core.checks import CheckMessage, Error, register
from django.db import connections

# Each table with the columns that name a row: on SQLite REPLACE deletes the row it clashes with and asks no trigger for
# deletions, so a clash is refused before it.
TABLES = {"events_event": ("id",), "balance_movement": ("id", "reference"), "support_lookup": ("id",)}

SQLITE = """
CREATE TRIGGER IF NOT EXISTS {table}_no_{verb} BEFORE {verb} ON {table}
BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END
"""
SQLITE_REPLACE = """
CREATE TRIGGER IF NOT EXISTS {table}_no_replace BEFORE INSERT ON {table}
WHEN EXISTS (SELECT 1 FROM {table} WHERE {clash})
BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END
"""
POSTGRESQL = """
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation'; END $$;
CREATE OR REPLACE TRIGGER {table}_no_update BEFORE UPDATE OR DELETE ON {table}
FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE OR REPLACE TRIGGER {table}_no_delete BEFORE TRUNCATE ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""


def triggers(vendor: str) -> Iterator[tuple[str, str]]:
    """Yield (table, name) of every trigger that a database of this vendor needs."""
    for table in TABLES:
        yield table, f"{table}_no_update"
        yield table, f"{table}_no_delete"
        if vendor == "sqlite":
            yield table, f"{table}_no_replace"


def install(using: str) -> None:
    """Make every missing trigger; may run at any time and again."""
    connection = connections[using]
    with connection.cursor() as cursor:
        for table, unique in TABLES.items():
            if connection.vendor == "postgresql":
                cursor.execute(POSTGRESQL.format(table=table))
            else:
                for verb in ("update", "delete"):
                    cursor.execute(SQLITE.format(table=table, verb=verb))
                clash = " OR ".join(f"{column} = NEW.{column}" for column in unique)
                cursor.execute(SQLITE_REPLACE.format(table=table, clash=clash))


def lift(using: str) -> None:
    """Drop the triggers. For the flush between tests alone; the migrate signal after it installs them again."""
    connection = connections[using]
    with connection.cursor() as cursor:
        for table, name in triggers(connection.vendor):
            cursor.execute(
                f"DROP TRIGGER IF EXISTS {name}" + (f" ON {table}" if connection.vendor == "postgresql" else "")
            )


def missing(using: str) -> set[str]:
    """Return the names of the triggers that are not there."""
    connection = connections[using]
    query = (
        "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'"
        if connection.vendor == "postgresql"
        else "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    )
    with connection.cursor() as cursor:
        cursor.execute(query)
        there = {name for (name,) in cursor.fetchall()}
        tables = set(connection.introspection.table_names(cursor))
    return {name for table, name in triggers(connection.vendor) if table in tables} - there


@register("database")
def check_triggers(app_configs: Any, databases: Any, **_: Any) -> list[CheckMessage]:
    return [
        Error(f"The append-only trigger {name} is missing.", hint="Run manage.py migrate.", id="events.E001")
        for using in databases or []
        for name in sorted(missing(using))
    ]
