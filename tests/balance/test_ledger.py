"""The ledger: movements that happen once, balances that are never overdrawn, floors that are debts."""

import csv
import re
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st
from story import make_customer

from accounts.models import User
from balance import actions
from balance.actions import Overdrawn, ReferenceConflict
from balance.models import Account, House, Movement
from balance.queries import available_cents, statement

Kind = Movement.Kind
pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(db: None) -> User:
    actions.ensure_house_accounts()
    customer: User = make_customer()
    return customer


def credit(customer: User, cents: int, reference: str, **facts: Any) -> Movement:
    facts = {"house": House.RECEIVED, "kind": Kind.TRANSFER, "actor": None} | facts
    return actions.credit(customer, cents, reference=reference, **facts)


def debit(customer: User, cents: int, reference: str, **facts: Any) -> Movement:
    facts = {"house": House.ORDERS, "kind": Kind.CAPTURE, "actor": None} | facts
    return actions.debit(customer, cents, reference=reference, **facts)


def reverse(movement: Movement, reference: str = "back") -> Movement:
    return actions.reverse(movement, reference=reference, actor=None, reason="orphaned")


def account(customer: User) -> tuple[int | None, int]:
    row = Account.objects.get(customer=customer)
    return row.balance_cents, row.floor_cents


def test_a_credit_and_a_debit_are_one_row_each_between_two_accounts(ada: User) -> None:
    credit(ada, 500, "transfer:1:1")
    debit(ada, 200, "order:1:capture")
    rows = [(m.debit.house, m.credit.house, m.amount_cents) for m in Movement.objects.order_by("id")]
    assert rows == [("received", None, 500), (None, "orders", 200)]
    assert account(ada) == (300, 0)


def test_the_same_reference_again_returns_the_first_movement_and_moves_nothing(ada: User) -> None:
    first = credit(ada, 500, "transfer:1:1")
    assert credit(ada, 500, "transfer:1:1") == first
    paid = debit(ada, 500, "order:1:capture")
    assert debit(ada, 500, "order:1:capture") == paid  # though nothing is left
    assert account(ada) == (0, 0)


@pytest.mark.parametrize("what", ["amount", "customer", "house", "kind"])
def test_case_p20_the_same_reference_that_says_something_else_is_a_conflict(ada: User, what: str) -> None:
    credit(ada, 500, "transfer:1:1")
    customer = make_customer("bob@example.com") if what == "customer" else ada
    house = House.ADJUSTMENTS if what == "house" else House.RECEIVED
    kind = Kind.TOLERANCE if what == "kind" else Kind.TRANSFER
    with pytest.raises(ReferenceConflict):
        credit(customer, 490 if what == "amount" else 500, "transfer:1:1", house=house, kind=kind)
    assert account(ada) == (500, 0)
    assert Movement.objects.count() == 1


def test_case_l1_an_overdraft_is_refused_and_says_what_there_is(ada: User) -> None:
    credit(ada, 500, "transfer:1:1")
    with pytest.raises(Overdrawn) as refused:
        debit(ada, 501, "order:1:capture")
    assert (refused.value.available_cents, refused.value.needed_cents) == (500, 501)
    assert (account(ada), Movement.objects.count()) == ((500, 0), 1)
    with pytest.raises(Overdrawn):
        debit(make_customer("new@example.com"), 1, "order:2:capture")


def test_case_l3_ten_debits_of_30_on_100_are_three(ada: User) -> None:
    credit(ada, 100, "transfer:1:1")
    done = 0
    for n in range(10):
        try:
            debit(ada, 30, f"order:{n}:capture")
            done += 1
        except Overdrawn:
            pass
    assert (done, account(ada)) == (3, (10, 0))


def test_a_reversal_lowers_the_floor_as_far_as_the_debt_and_credits_raise_it_again(ada: User) -> None:
    received = credit(ada, 500, "transfer:1:1")
    debit(ada, 400, "order:1:capture")
    reverse(received)
    assert account(ada) == (-400, -400)
    assert available_cents(ada) == 0
    credit(ada, 150, "transfer:2:1")
    assert account(ada) == (-250, -250)
    with pytest.raises(Overdrawn):
        debit(ada, 1, "order:2:capture")
    assert account(ada) == (-250, -250)
    credit(ada, 300, "transfer:3:1")
    assert account(ada) == (50, 0)
    debit(ada, 50, "order:3:capture")
    assert account(ada) == (0, 0)


def test_a_reversal_of_money_that_is_still_there_leaves_no_debt(ada: User) -> None:
    received = credit(ada, 500, "transfer:1:1")
    reverse(received)
    assert account(ada) == (0, 0)
    reverse(received)
    assert account(ada) == (0, 0)
    assert Movement.objects.get(reference="back").debit.customer == ada


def test_a_debit_of_a_customer_is_not_reversed_by_this(ada: User) -> None:
    credit(ada, 500, "transfer:1:1")
    with pytest.raises(ValueError, match="not a credit of a customer"):
        reverse(debit(ada, 500, "order:1:capture"))


@pytest.mark.parametrize("cents", [0, -1])
def test_an_amount_is_positive(ada: User, cents: int) -> None:
    for post in (credit, debit):
        with pytest.raises((IntegrityError, ValueError)), transaction.atomic():
            post(ada, cents, f"{post.__name__}:{cents}")
    assert not Movement.objects.exists()


def test_an_adjustment_needs_a_reason_and_an_author(ada: User) -> None:
    for reason, actor in (("", ada), ("goodwill", None)):
        with pytest.raises(IntegrityError), transaction.atomic():
            credit(ada, 5, "gift", house=House.ADJUSTMENTS, kind=Kind.ADJUSTMENT, reason=reason, actor=actor)
    credit(ada, 5, "gift", house=House.ADJUSTMENTS, kind=Kind.ADJUSTMENT, reason="goodwill", actor=ada)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE balance_account SET balance_cents = -1 WHERE customer_id IS NOT NULL",
        "UPDATE balance_account SET floor_cents = 1 WHERE customer_id IS NOT NULL",
        "UPDATE balance_account SET floor_cents = -5, balance_cents = -6 WHERE customer_id IS NOT NULL",
        "UPDATE balance_account SET balance_cents = NULL WHERE customer_id IS NOT NULL",
        "UPDATE balance_account SET balance_cents = 0 WHERE house = 'orders'",
        "UPDATE balance_account SET customer_id = (SELECT min(id) FROM accounts_user), balance_cents = 0"
        " WHERE house = 'orders'",
        "UPDATE balance_account SET house = NULL WHERE house = 'orders'",
    ],
)
def test_the_database_refuses_an_account_that_cannot_be(ada: User, sql: str) -> None:
    credit(ada, 5, "transfer:1:1")
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql)


def test_a_movement_is_between_two_accounts(ada: User) -> None:
    one = Account.objects.get(house=House.ORDERS)
    with pytest.raises(IntegrityError), transaction.atomic():
        Movement.objects.create(debit=one, credit=one, amount_cents=1, kind=Kind.TRANSFER, reference="x")


def test_bal_4_the_statement_has_the_running_balance_newest_first(ada: User) -> None:
    credit(ada, 500, "transfer:1:1")
    debit(ada, 200, "order:1:capture")
    credit(ada, 7, "transfer:2:1")
    credit(make_customer("bob@example.com"), 9_999, "transfer:3:1")
    rows = [(row.movement.reference, row.amount_cents, row.balance_cents) for row in statement(ada)]
    assert rows == [("transfer:2:1", 7, 307), ("order:1:capture", -200, 300), ("transfer:1:1", 500, 500)]


def test_bal_4_the_statement_page_lists_every_entry_with_its_reference(ada: User, client: Any) -> None:
    received = credit(ada, 123_456, "transfer:1:1")
    debit(ada, 100_000, "order:1:capture")
    reverse(received)
    client.force_login(ada)
    html = client.get("/balance/").content.decode()
    for text in ("$0.00", "Transfer received", "Order paid", "+$1,234.56", "−$1,000.00", "$234.56", "orphaned"):
        assert text in html, text
    client.force_login(make_customer("bob@example.com"))
    assert "Transfer received" not in client.get("/balance/").content.decode()


steps = st.lists(st.tuples(st.sampled_from(["credit", "debit", "reverse"]), st.integers(1, 1_000)), max_size=14)


def test_bal_4_the_statement_as_csv_has_every_entry_and_no_formula(ada: User, client: Any) -> None:
    credit(ada, 123_456, "transfer:1:1")
    credit(ada, 100, "gift", house=House.ADJUSTMENTS, kind=Kind.ADJUSTMENT, actor=ada, reason='=HYPERLINK("x"), sorry')
    debit(ada, 500, "order:1:capture")
    credit(make_customer("eve@example.com"), 700, "transfer:2:1")
    url = "/balance/statement.csv"
    assert client.get(url).status_code == 302
    client.force_login(ada)
    client.cookies["django_language"] = "ru"
    response = client.get(url)
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    header, *rows = csv.reader(response.text.splitlines())
    assert header == ["time_utc", "entry", "words", "reference", "reason", "amount_usd", "balance_usd"]
    assert [row[3:] for row in rows] == [
        ["order:1:capture", "", "-5.00", "1230.56"],
        ["gift", '\'=HYPERLINK("x"), sorry', "1.00", "1235.56"],
        ["transfer:1:1", "", "1234.56", "1234.56"],
    ]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row[0]) for row in rows)


@hypothesis(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=steps)
def test_invariant_8_any_sequence_keeps_balance_floor_and_sums(ada: User, steps: list[tuple[str, int]]) -> None:
    """The account follows a model: debits never make a debt, reversals may, credits pay it back."""
    customer: User = make_customer(f"{User.objects.count()}@example.com")
    credits: list[Movement] = []
    balance = floor = 0
    for n, (step, cents) in enumerate(steps):
        reference = f"{customer.pk}:{n}"
        if step == "credit":
            credits.append(credit(customer, cents, reference))
            balance += cents
            floor = max(floor, min(0, balance))
        elif step == "debit":
            if balance >= cents:
                debit(customer, cents, reference)
                balance -= cents
            else:
                with pytest.raises(Overdrawn):
                    debit(customer, cents, reference)
        elif credits:
            movement = credits.pop()
            reverse(movement, reference)
            balance -= movement.amount_cents
            floor = min(floor, balance, 0)
        if Account.objects.filter(customer=customer).exists():
            assert account(customer) == (balance, floor)
    rows = statement(customer)
    assert (rows[0].balance_cents if rows else 0) == balance
