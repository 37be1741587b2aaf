"""Tables that only grow: the database itself refuses to change or delete their rows.

One change is allowed in the tables of FORGETTABLE: to remove a person's words, all at once, once, with the time of it.

Triggers on both databases, installed after every migrate: SQLite drops them when it rebuilds a table. A system check
(`events.E001`) fails when one is missing. Only what puts the database back between tests lifts them.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, register
from django.db import connections

# Each table with what names a row (columns joined by "," name it together): on SQLite REPLACE deletes the row it
# clashes with and asks no trigger for deletions, so a clash is refused before it.
TABLES = {
    "events_event": ("id",),
    "balance_movement": ("id", "reference"),
    "conversations_message": ("id", "order_id,side,form_key", "order_id,topic"),
    "support_lookup": ("id",),
}
# The words that may be removed, with what stands there then. The column `forgotten_at` says when it was.
FORGETTABLE: dict[str, dict[str, Any]] = {"conversations_message": {"body": "", "context": {}}}

HINT = "Run manage.py migrate --skip-checks."

SQLITE = """
CREATE TRIGGER IF NOT EXISTS {table}_no_{verb} BEFORE {verb} ON {table} {when}
BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END
"""
SQLITE_REPLACE = """
CREATE TRIGGER IF NOT EXISTS {table}_no_replace BEFORE INSERT ON {table}
WHEN EXISTS (SELECT 1 FROM {table} WHERE {clash})
BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END
"""
POSTGRESQL = """
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
IF TG_OP = 'UPDATE' AND TG_NARGS = 1 THEN
  IF to_jsonb(OLD)->>'forgotten_at' IS NULL AND to_jsonb(NEW)->>'forgotten_at' IS NOT NULL
    AND to_jsonb(NEW) - 'forgotten_at' = (to_jsonb(OLD) || TG_ARGV[0]::jsonb) - 'forgotten_at' THEN RETURN NEW; END IF;
END IF;
RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation'; END $$;
CREATE OR REPLACE TRIGGER {table}_no_update BEFORE UPDATE OR DELETE ON {table}
FOR EACH ROW EXECUTE FUNCTION refuse_change({words});
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
                words = f"'{json.dumps(FORGETTABLE[table])}'" if table in FORGETTABLE else ""
                cursor.execute(POSTGRESQL.format(table=table, words=words))
                continue
            columns = [column.name for column in connection.introspection.get_table_description(cursor, table)]
            cursor.execute(SQLITE.format(table=table, verb="delete", when=""))
            cursor.execute(SQLITE.format(table=table, verb="update", when=unless_forgetting(table, columns)))
            cursor.execute(SQLITE_REPLACE.format(table=table, clash=" OR ".join(clash(names) for names in unique)))


def clash(names: str) -> str:
    """Return the condition that a row has the name of the new one. Two empty texts are no names."""
    columns = names.split(",")
    same = " AND ".join(f"{column} = NEW.{column}" for column in columns)
    return f"({same} AND NEW.{columns[-1]} <> '')"


def unless_forgetting(table: str, columns: Sequence[str]) -> str:
    """Return the condition under which SQLite refuses a change: any but the removal of a person's words."""
    words = FORGETTABLE.get(table)
    if words is None:
        return ""
    empty = {column: text if isinstance(text, str) else json.dumps(text) for column, text in words.items()}
    kept = [f"NEW.{column} IS OLD.{column}" for column in columns if column not in {*words, "forgotten_at"}]
    emptied = [f"NEW.{column} = '{text}'" for column, text in empty.items()]
    when = "OLD.forgotten_at IS NULL", "NEW.forgotten_at IS NOT NULL"
    return f"WHEN NOT ({' AND '.join([*kept, *emptied, *when])})"


def lift(using: str) -> None:
    """Drop the triggers. For what puts the database back between tests alone, which installs them again."""
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
        Error(f"The append-only trigger {name} is missing.", hint=HINT, id="events.E001")
        for using in databases or []
        for name in sorted(missing(using))
    ]
