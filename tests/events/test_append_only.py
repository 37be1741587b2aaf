"""Events, movements, messages and look-ups only grow: the database itself refuses anything else."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from story import make_customer, make_offer, save_order

from balance.actions import credit, ensure_house_accounts
from balance.models import House, Movement
from conversations import actions as conversations
from conversations.models import Message
from events import append_only
from events.actions import record
from events.models import Event
from support.actions import look_up

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def rows() -> Iterator[dict[str, Any]]:
    """Return the key of one event, one movement, one message and one look-up, as SQL."""
    ensure_house_accounts()
    customer = make_customer()
    with transaction.atomic():
        event = record("test.happened", subject=customer, actor=None)
        movement = credit(
            customer, 5, house=House.RECEIVED, kind=Movement.Kind.TRANSFER, reference="transfer:1:1", actor=None
        )
    order = save_order(customer, make_offer())
    message = conversations.send(order, kind="question", body="When?", form_key=uuid.uuid4(), actor=customer)
    seen = look_up("GL-0000-0000", admitted=True, actor=customer)
    yield {
        "events_event": event.pk,
        "balance_movement": movement.pk,
        "conversations_message": message.pk,
        "support_lookup": f"'{seen.pk.hex}'",
    }
    append_only.install("default")


def execute(sql: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql)


@pytest.mark.parametrize("table", append_only.TABLES)
@pytest.mark.parametrize(
    "sql", ["UPDATE {table} SET id = id", "DELETE FROM {table}", "DELETE FROM {table} WHERE id = {key}"]
)
def test_bal_4_no_row_is_changed_or_deleted(rows: dict[str, Any], table: str, sql: str) -> None:
    with pytest.raises(DatabaseError, match="append-only"):
        execute(sql.format(table=table, key=rows[table]))


@pytest.mark.parametrize("table", append_only.TABLES)
def test_bal_4_postgresql_refuses_truncate_too(rows: dict[str, Any], table: str, on_postgresql: None) -> None:
    with pytest.raises(DatabaseError, match="append-only"):
        execute(f"TRUNCATE {table} CASCADE")


def replace(table: str, **changed: str) -> None:
    """Put a changed copy in the place of each row, as REPLACE does: by deleting the row that it clashes with."""
    with connection.cursor() as cursor:
        columns = [column.name for column in connection.introspection.get_table_description(cursor, table)]
    values = ", ".join(changed.get(column, column) for column in columns)
    execute(f"INSERT OR REPLACE INTO {table} ({', '.join(columns)}) SELECT {values} FROM {table}")  # noqa: S608


def test_bal_4_sqlite_refuses_to_replace_a_row(rows: dict[str, Any], on_sqlite: None) -> None:
    with pytest.raises(DatabaseError, match="append-only"):
        replace("balance_movement", amount_cents="amount_cents + 1")
    with pytest.raises(DatabaseError, match="append-only"):
        replace("balance_movement", id="id + 1000", amount_cents="1")  # clashes by its reference
    with pytest.raises(DatabaseError, match="append-only"):
        replace("events_event", kind="'forged'")
    assert Movement.objects.get(pk=rows["balance_movement"]).amount_cents == 5
    assert Event.objects.get(pk=rows["events_event"]).kind == "test.happened"


def test_sqlite_refuses_to_replace_a_message(rows: dict[str, Any], on_sqlite: None) -> None:
    with pytest.raises(DatabaseError, match="append-only"):
        replace("conversations_message", body="'forged'")
    with pytest.raises(DatabaseError, match="append-only"):
        replace("conversations_message", id="id + 1000", body="'forged'")  # clashes by its form key
    assert Message.objects.get().body == "When?"


FORGET = "UPDATE conversations_message SET body = '', context = '{{}}', forgotten_at = '2026-05-01 12:00:00'{}"


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE conversations_message SET body = ''",  # without the time of it
        "UPDATE conversations_message SET body = 'forged', forgotten_at = '2026-05-01 12:00:00'",
        "UPDATE conversations_message SET body = '', forgotten_at = '2026-05-01 12:00:00', context = '{\"a\": \"b\"}'",
        FORGET.format(", kind = 'change'"),
        FORGET.format(", at = '2020-05-01 12:00:00'"),
        FORGET.format(", author_id = NULL"),
    ],
)
def test_acc_7_nothing_but_the_words_of_a_message_can_be_removed(rows: dict[str, Any], sql: str) -> None:
    with pytest.raises(DatabaseError, match="append-only"):
        execute(sql)


def test_acc_7_the_words_of_a_message_are_removed_once_and_for_all(rows: dict[str, Any]) -> None:
    execute(FORGET.format(""))
    message = Message.objects.get()
    assert (message.body, message.context, message.kind) == ("", {}, "question") and message.forgotten_at
    for change in ("body = 'back'", "forgotten_at = NULL", "forgotten_at = '2026-06-01 12:00:00'"):
        with pytest.raises(DatabaseError, match="append-only"):
            execute(f"UPDATE conversations_message SET {change}")  # noqa: S608


def test_the_orm_is_refused_in_the_same_way(rows: dict[str, Any]) -> None:
    with pytest.raises(DatabaseError), transaction.atomic():
        Movement.objects.update(amount_cents=1)
    with pytest.raises(DatabaseError), transaction.atomic():
        Event.objects.all().delete()


@pytest.mark.parametrize("name", [name for _, name in append_only.triggers(connection.vendor)])
def test_a_missing_trigger_fails_the_check_and_migrate_brings_it_back(rows: dict[str, Any], name: str) -> None:
    table = name.rpartition("_no_")[0]
    execute(f"DROP TRIGGER {name}" + (f" ON {table}" if connection.vendor == "postgresql" else ""))
    assert append_only.missing("default") == {name}
    with pytest.raises(CommandError, match=f"The append-only trigger {name} is missing"):
        call_command("check", databases=["default"])
    call_command("migrate", verbosity=0)
    assert append_only.missing("default") == set()
    call_command("check", databases=["default"])


def test_a_disabled_trigger_counts_as_missing(rows: dict[str, Any], on_postgresql: None) -> None:
    execute("ALTER TABLE balance_movement DISABLE TRIGGER balance_movement_no_update")
    try:
        assert append_only.missing("default") == {"balance_movement_no_update"}
    finally:
        execute("ALTER TABLE balance_movement ENABLE TRIGGER balance_movement_no_update")


def test_installing_again_changes_nothing(rows: dict[str, Any]) -> None:
    append_only.install("default")
    append_only.install("default")
    assert append_only.missing("default") == set()
