"""Statements whose words are kept: they say and do what Django's own do, for every kind of column we have."""

import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import Exists, F, Model, QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from story import Network, ask, give, make_customer, make_offer, save_order

from accounts.models import User
from balance.models import Account, House, Movement
from events import statements
from events.models import Delivery, Event
from events.statements import change_row, insert, insert_new, kept_query, kept_row, kept_update, write_columns
from orders.models import Hold, Order
from payments.models import PaymentIntent

pytestmark = pytest.mark.django_db

NOW = timezone.now()


@kept_query
def own(*, customer: User, order: Order) -> QuerySet[PaymentIntent]:
    return PaymentIntent.objects.select_related("address").filter(customer=customer, order=order).order_by("pk")


@kept_query
def lock(*, order: int) -> QuerySet[Order]:
    return Order.objects.select_for_update(of=("self",), no_key=True).filter(pk=order)


@kept_query
def facts(*, key: uuid.UUID, since: datetime) -> QuerySet[PaymentIntent, Any]:
    return PaymentIntent.objects.filter(pk=key, created_at__gte=since).values_list("pk", "amount", "created_at")


@kept_query
def holders(*, customer: int, lots: int) -> QuerySet[User]:
    holds = Hold.objects.filter(lots=lots, state=Hold.State.HELD)
    return User.objects.filter(pk=customer).annotate(holds_so_many=Exists(holds))


@kept_query
def several(*, keys: list[uuid.UUID], quote: str) -> QuerySet[PaymentIntent]:
    return PaymentIntent.objects.filter(pk__in=keys, quote=quote).order_by("created_at")


@kept_row
def oldest(customer: User, *, quote: str) -> QuerySet[PaymentIntent]:
    """Return the customer's first instructions."""
    return PaymentIntent.objects.filter(customer=customer, quote=quote).order_by("created_at")


@kept_update
def spend(*, account: int, cents: int) -> tuple[QuerySet[Account], Mapping[str, Any]]:
    return Account.objects.filter(pk=account), {"balance_cents": F("balance_cents") - cents}


@pytest.fixture
def intent(network: Network) -> PaymentIntent:
    return ask(save_order(make_customer(), make_offer()))


def columns(row: Model) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def read_anew(row: Model) -> dict[str, Any]:
    return columns(type(row)._base_manager.get(pk=row.pk))


@contextmanager
def one_statement() -> Iterator[CaptureQueriesContext]:
    with CaptureQueriesContext(connection) as sent:
        yield sent
    assert len(sent) == 1


def movement(account: Account, reference: str, cents: int = 5) -> Movement:
    house = Account.objects.get(house=House.ORDERS)
    return Movement(
        debit=account, credit=house, amount_cents=cents, kind=Movement.Kind.CAPTURE, reference=reference, at=NOW
    )


def test_a_query_reads_what_django_reads(intent: PaymentIntent) -> None:
    """Every column and the rows that come along, the second time as the first."""
    theirs, order = PaymentIntent.objects.select_related("address", "customer", "order").get(pk=intent.pk), intent.order
    assert order
    for _ in range(2):
        with one_statement():
            (found,) = own(customer=theirs.customer, order=order)
            address = found.address
        assert columns(found) == columns(theirs)
        assert columns(address) == columns(theirs.address)
        assert not found._state.adding
    assert own(customer=make_customer("bob@example.com"), order=order) == []


def test_a_query_reads_tuples_and_what_is_computed(intent: PaymentIntent) -> None:
    for since, expected in (
        (NOW - timedelta(days=1), [(intent.pk, intent.amount, intent.created_at)]),
        (NOW + timedelta(days=1), []),
    ):
        assert facts(key=intent.pk, since=since) == expected
    assert [holders(customer=intent.customer_id, lots=lots)[0].holds_so_many for lots in (1, 2)] == [True, False]  # type: ignore[attr-defined]  # what it reads


def test_one_row_or_none_however_it_is_asked_for(intent: PaymentIntent) -> None:
    """By place and by name, as the function says; of several rows the first."""
    second = ask(save_order(intent.customer, make_offer(name="B200")))
    assert oldest(intent.customer, quote="open") == oldest(customer=intent.customer, quote="open") == intent
    assert oldest(intent.customer, quote="expired") is None
    PaymentIntent.objects.filter(pk=intent.pk).update(quote="expired")
    assert (oldest(intent.customer, quote="open"), oldest(intent.customer, quote="expired")) == (second, intent)
    assert (oldest.__name__, oldest.__doc__) == ("oldest", "Return the customer's first instructions.")


def test_a_list_may_have_any_length(network: Network) -> None:
    """None, one, some, more than are worded together, and one of them twice."""
    customer, offer = make_customer(), make_offer(lots=100)
    intents = [ask(save_order(customer, offer)) for _ in range(4)]
    strangers = [uuid.uuid4() for _ in range(statements.AT_ONCE)]
    for count in (0, 1, 3, 2, 4, 1):
        keys = [intent.pk for intent in intents[:count]]
        for wanted in (keys, keys + keys[:1], keys + strangers):
            assert several(keys=wanted, quote="open") == intents[:count]
        assert several(keys=keys, quote="expired") == []


def test_a_row_is_locked_only_in_a_transaction(transactional_db: None) -> None:
    order = save_order(make_customer(), make_offer())
    with transaction.atomic(), CaptureQueriesContext(connection) as sent:
        assert lock(order=order.pk) == [order]
    assert ("FOR NO KEY UPDATE" in sent[-1 if len(sent) == 1 else 0]["sql"]) == (connection.vendor == "postgresql")
    with pytest.raises(transaction.TransactionManagementError):
        lock(order=order.pk)


def test_an_update_changes_what_django_changes() -> None:
    customer = make_customer()
    give(customer, 1000)
    account = Account.objects.get(customer=customer)
    for left in (900, 800):
        with one_statement():
            assert spend(account=account.pk, cents=100) == 1
        account.refresh_from_db()
        assert account.balance_cents == left
    with pytest.raises(IntegrityError), transaction.atomic():
        spend(account=account.pk, cents=801)
    assert spend(account=0, cents=1) == 0


def test_columns_of_each_kind_are_written(intent: PaymentIntent) -> None:
    """Base units, JSON, times, none, choices, keys of other rows: as `save(update_fields=...)` writes them."""
    other = ask(save_order(make_customer("bob@example.com"), make_offer(name="B200")))
    intent.amount, intent.rate_evidence = 2**200, {"samples": [{"at": str(NOW)}]}
    intent.declared_at, intent.born_height, intent.customer = NOW, None, other.customer
    intent.quote, intent.exchange = PaymentIntent.Quote.SUPERSEDED, True
    names = ["amount", "rate_evidence", "declared_at", "born_height", "customer", "quote", "exchange"]
    with one_statement():
        write_columns(intent, names)
    assert read_anew(intent) == columns(intent)
    assert read_anew(other) == columns(other)


def test_a_row_that_is_gone_is_not_written_silently(intent: PaymentIntent) -> None:
    with pytest.raises(DatabaseError):
        write_columns(PaymentIntent(pk=uuid.uuid4(), exchange=True), ["exchange"])


def test_a_row_is_changed_on_a_condition(intent: PaymentIntent) -> None:
    order = intent.order
    assert order
    assert change_row(order, {"state": Order.State.EXPIRED}, state=Order.State.SETTLED) == 0
    assert change_row(order, {"state": Order.State.EXPIRED}, state=Order.State.OPEN) == 1
    assert Order.objects.get(pk=order.pk).state == Order.State.EXPIRED


def test_rows_are_inserted_as_django_inserts_them(intent: PaymentIntent) -> None:
    """With a key of their own and with one that the database gives, one and several, each with its own values."""
    events = [
        Event(kind=f"test.{n}", thread="a", subject="b", actor=intent.customer if n else None, data={"n": [n, "ö"]})
        for n in range(3)
    ]
    with one_statement():
        insert(*events)
    deliveries = [Delivery(event=event, handler="h") for event in events]
    insert(deliveries[0])
    insert(*deliveries[1:])
    for row in (*events, *deliveries):
        assert read_anew(row) == columns(row)
    assert [event.pk for event in events] == sorted({event.pk for event in events})
    twin = PaymentIntent(**{**columns(intent), "id": uuid.uuid4(), "form_key": uuid.uuid4(), "amount": 10**40})
    with pytest.raises(IntegrityError), transaction.atomic():
        insert(twin)  # an address is promised once
    assert not PaymentIntent.objects.filter(pk=twin.pk).exists()


def test_nothing_is_found_by_none() -> None:
    """It is a fault of ours, as an unsaved row is one that Django refuses; silent, it would look like "there is none".
    To write none is another thing."""
    order = save_order(make_customer(), make_offer())
    for _ in range(2):
        with pytest.raises(ValueError, match="none"):
            own(customer=order.customer, order=Order())
        with pytest.raises(ValueError, match="none"):
            lock(order=None)  # type: ignore[arg-type]  # the fault
        with pytest.raises(ValueError, match="none"):
            several(keys=[uuid.uuid4(), None], quote="open")  # type: ignore[list-item]  # the fault
        with pytest.raises(ValueError, match="none"), transaction.atomic():
            change_row(order, {"settled_at": None}, state=None)
        with pytest.raises(ValueError, match="none"), transaction.atomic():
            change_row(Order(), {"settled_at": None})
        assert change_row(order, {"settled_at": None}, state=order.state) == 1


def test_many_rows_are_inserted_too() -> None:
    events = [Event(kind=f"test.{n}", thread="a", subject="b") for n in range(statements.AT_ONCE + 1)]
    insert(*events)
    assert [event.kind for event in Event.objects.filter(thread="a").order_by("pk")] == [one.kind for one in events]
    assert len({event.pk for event in events}) == len(events)


def test_a_row_that_is_there_already_is_told() -> None:
    """It is not inserted a second time, and the transaction goes on."""
    customer = make_customer()
    give(customer, 1000)
    account = Account.objects.get(customer=customer)
    first, again, other = movement(account, "x"), movement(account, "x", cents=7), movement(account, "y")
    assert [insert_new(row, unique="reference") for row in (first, again, other)] == [True, False, True]
    assert [row.pk is None for row in (first, again, other)] == [False, True, False]
    assert list(Movement.objects.filter(debit=account).order_by("pk")) == [first, other]
    assert read_anew(first) == columns(first)
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_new(movement(account, "z", cents=-1), unique="reference")  # wrong for another reason


def test_an_error_spoils_the_transaction_as_django_has_it(transactional_db: None) -> None:
    """Whoever swallows an error of the database can't go on as if nothing were."""
    account = Account(customer=make_customer(), balance_cents=0)
    insert(account)
    with transaction.atomic():
        with pytest.raises(IntegrityError):
            insert(Account(customer=account.customer, balance_cents=0))
        with pytest.raises(transaction.TransactionManagementError):
            Account.objects.count()
        transaction.set_rollback(True)


def test_each_thread_keeps_words_of_its_own(transactional_db: None) -> None:
    """Words hold the connection that they were made for: no thread may use another one's."""
    customer, found = make_customer(), []
    order = save_order(customer, make_offer())

    def ask_aside() -> None:
        try:
            found.append((own(customer=customer, order=order), id(connection.kept_statements)))  # type: ignore[attr-defined]  # where they are kept
        finally:
            connection.close()

    ask_aside()
    aside = threading.Thread(target=ask_aside)
    aside.start()
    aside.join()
    assert [rows for rows, _ in found] == [[], []]
    assert found[0][1] != found[1][1]
