"""Fill the database with settled transfers of the past, by SQL: a million of them in minutes."""

from django.db import connection, transaction
from django.db.models import Model

from balance.models import Movement
from events.models import Delivery, Event
from orders.models import Hold, Order
from payments.models import Allocation, ChainTransfer, PaymentIntent, ReservedAddress
from provisioning.models import Rental

BASE = 10_000_000  # numbers of the past begin here: far beyond what a benchmark makes
EVENTS = 2  # of each story; they are only ever read by their thread


def fill(count: int) -> None:
    """Insert so many copies of the newest settled transfer with all that belongs to it."""
    transfer = ChainTransfer.objects.filter(credited=True).latest("pk")
    order, allocation = transfer.intent.order, transfer.allocations.get()
    assert order is not None and allocation.movement_id is not None
    paid = Movement.objects.get(reference=f"order:{order.pk}:capture")
    number, intent, movement = f"{BASE} + n", uuid_of("n"), f"{BASE} + 2 * n"
    with transaction.atomic():
        insert(count, ReservedAddress, transfer.intent.address_id, id=number, index=number, address="'past' || n")
        insert(count, Order, order.pk, id=number, symbols=hexadecimal("n", 8), form_key=uuid_of("n"))
        insert(count, Hold, order.holds.get().pk, id=number, order_id=number)
        insert(count, Rental, order.rental.pk, id=number, order_id=number, token=uuid_of("n"))
        insert(count, PaymentIntent, transfer.intent_id, id=intent, order_id=number, address_id=number, form_key=intent)
        insert(count, ChainTransfer, transfer.pk, id=number, intent_id=intent, txid="'past' || n")
        insert(count, Movement, allocation.movement_id, id=movement, reference="'past:' || n")
        insert(count, Movement, paid.pk, id=f"{movement} + 1", reference="'past:' || n || ':capture'")
        insert(count, Allocation, allocation.pk, id=number, transfer_id=number, intent_id=intent, movement_id=movement)
        for place, event in enumerate(Event.objects.filter(thread=f"order:{order.pk}")[:EVENTS]):
            insert(count, Event, event.pk, id=f"{BASE} + {EVENTS} * n + {place}", thread=f"'order:' || ({number})")
        delivery = Delivery.objects.get(event__thread=f"order:{order.pk}", event__kind="order.settled")
        insert(count, Delivery, delivery.pk, id=number, event_id=f"{BASE} + {EVENTS} * n")
    know_sizes()


def insert(count: int, model: type[Model], pattern: object, **different: str) -> None:
    """Insert a row `count` times; of each column named here the SQL says the value, from the number `n`."""
    table = model._meta.db_table
    columns = [str(field.column) for field in model._meta.concrete_fields]
    values = ", ".join(different.get(column, f't."{column}"') for column in columns)
    names = ", ".join(f'"{column}"' for column in columns)
    numbers = f"WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})"  # noqa: S608
    key = model._meta.pk.get_db_prep_value(pattern, connection)
    with connection.cursor() as cursor:
        cursor.execute(
            f'INSERT INTO {table} ({names}) {numbers} SELECT {values} FROM {table} t, numbers WHERE t."id" = %s',  # noqa: S608
            [key],
        )
        if connection.vendor == "postgresql" and isinstance(pattern, int):
            cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}")  # noqa: S608


def hexadecimal(number: str, digits: int) -> str:
    """Return the SQL for a number in hexadecimal digits."""
    if connection.vendor == "postgresql":
        return f"lpad(to_hex({number}), {digits}, '0')"
    return f"printf('%0{digits}x', {number})"


def uuid_of(number: str) -> str:
    """Return the SQL for a UUID of a number; SQLite keeps its digits as text."""
    return hexadecimal(number, 32) + ("::uuid" if connection.vendor == "postgresql" else "")


def know_sizes() -> None:
    """Let the planner know how large the tables are now, as a running database does by itself."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE" if connection.vendor == "sqlite" else "VACUUM ANALYZE")
