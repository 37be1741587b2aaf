"""Reports: what came in and what we owe, per period in the operator's zone, and that it adds up (OPS-2)."""

import csv
import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from story import give, make_customer

from accounts.actions.roles import set_role
from accounts.models import User
from balance.actions import account_of, credit, debit
from balance.actions import reverse as mirror
from balance.models import Account, House, Movement
from balance.reports import books
from payments.models import Allocation
from payments.reports.period import Period, whole
from payments.reports.received import by_method

pytestmark = pytest.mark.django_db
WARSAW, BEIRUT = ZoneInfo("Europe/Warsaw"), ZoneInfo("Asia/Beirut")
Kind = Movement.Kind


def reader(role: str = "operator", zone: str = "") -> Client:
    user: User = make_customer(f"{role}@example.com")
    set_role(user, role, actor=None)
    User.objects.filter(pk=user.pk).update(time_zone=zone)
    client = Client()
    client.force_login(User.objects.get(pk=user.pk))
    return client


def rows_of(client: Client, name: str, **query: str) -> list[dict[str, str]]:
    answer: Any = client.get(reverse(f"admin:{name}"), query)
    assert answer.status_code == 200
    return list(csv.DictReader(b"".join(answer.streaming_content).decode().splitlines()))


# --- periods ----------------------------------------------------------------------------------------------------
def test_days_are_23_and_25_hours_long_when_clocks_change() -> None:
    spring, autumn = whole("day", date(2026, 3, 29), WARSAW), whole("day", date(2026, 10, 25), WARSAW)
    assert spring.start == datetime(2026, 3, 28, 23, tzinfo=UTC) and spring.end - spring.start == timedelta(hours=23)
    assert autumn.start == datetime(2026, 10, 24, 22, tzinfo=UTC) and autumn.end - autumn.start == timedelta(hours=25)
    assert spring.end == spring.later.start and autumn.start == autumn.earlier.end


def test_a_day_whose_midnight_the_clock_leaves_out_begins_right_after_it() -> None:
    """Beirut goes from 24:00 to 01:00 in spring and comes back to 23:00 before midnight in autumn."""
    spring = whole("day", date(2026, 3, 29), BEIRUT)
    assert spring.start == datetime(2026, 3, 28, 22, tzinfo=UTC) and spring.end - spring.start == timedelta(hours=23)
    autumn = whole("day", date(2026, 10, 24), BEIRUT)
    assert autumn.end - autumn.start == timedelta(hours=25)


@pytest.mark.parametrize("unit", ["day", "week", "month"])
def test_periods_follow_each_other_without_a_gap_and_without_an_overlap(unit: str) -> None:
    period = whole(unit, date(2026, 1, 1), WARSAW)
    for _ in range(60):
        assert period.later.start == period.end and period.later.earlier == period
        period = period.later
    month = Period(date(2026, 2, 10), date(2026, 2, 12), WARSAW)
    assert (month.later.first, month.later.last) == (date(2026, 2, 13), date(2026, 2, 15))


# --- adding up --------------------------------------------------------------------------------------------------
def random_history(seed: int, clock: Any, customers: list[User]) -> Iterator[Movement]:
    """Move money at random for some days around the change of clocks, with movements at the very border of a day."""
    chance = random.Random(seed)  # noqa: S311  # the same history each time
    credits: list[Movement] = []
    for number in range(120):
        at = datetime(2026, 3, 27, tzinfo=UTC) + timedelta(minutes=chance.randrange(4 * 24 * 60))
        if number % 5 == 0:
            at = whole("day", date(2026, 3, chance.choice([28, 29, 30])), WARSAW).start - timedelta(
                microseconds=chance.choice([0, 1])
            )
        clock.move_to(at)
        customer, cents, key = chance.choice(customers), chance.randrange(1, 90_000), f"test:{seed}:{number}"
        with transaction.atomic():
            balance = account_of(customer).balance_cents or 0
            facts: dict[str, Any] = {"reference": key, "actor": customer, "reason": "as it happens"}
            into = [
                (House.RECEIVED, Kind.TRANSFER), (House.TOLERANCE, Kind.TOLERANCE), (House.ORDERS, Kind.RETURN),
                (House.ADJUSTMENTS, Kind.ADJUSTMENT), (House.PAYOUTS, Kind.UNSENT),
            ]  # fmt: skip
            out = [(House.ORDERS, Kind.CAPTURE), (House.PAYOUTS, Kind.PAYOUT), (House.ADJUSTMENTS, Kind.ADJUSTMENT)]
            if credits and chance.random() < 0.1:
                yield mirror(credits.pop(), reference=key, actor=None, reason="gone")
            elif balance > 0 and chance.random() < 0.45:
                house, kind = chance.choice(out)
                yield debit(customer, min(cents, balance), house=house, kind=kind, **facts)
            else:
                house, kind = chance.choice(into)
                made = credit(customer, cents, house=house, kind=kind, **facts)
                credits += [made] if kind == Kind.TRANSFER else []
                yield made


@pytest.mark.parametrize("seed", range(5))
def test_random_histories_add_up_to_the_cent_over_the_change_of_clocks(clock: Any, seed: int) -> None:
    """Opening + in − out = closing for each day and for the month; the days together are the month; each movement is in
    exactly one day, also at its very border."""
    moved = list(random_history(seed, clock, [make_customer(f"c{n}@example.com") for n in range(3)]))
    days = [whole("day", date(2026, 3, 26) + timedelta(days=n), WARSAW) for n in range(8)]
    found = [books(day.start, day.end) for day in days]
    for day, one in zip(days, found, strict=True):
        mine = [m for m in moved if day.start <= m.at < day.end]
        assert one.opening + one.into - one.out == one.closing and one.agrees
        assert sum(flow.into_count + flow.out_count for flow in one.flows) == len(mine)
        assert one.into == sum(m.amount_cents for m in mine if m.credit.customer_id)
    assert [one.closing for one in found[:-1]] == [one.opening for one in found[1:]]
    together = books(days[0].start, days[-1].end)
    for kind in Kind:
        pick = [flow for one in found for flow in one.flows if flow.kind == kind]
        whole_time = next(flow for flow in together.flows if flow.kind == kind)
        assert (whole_time.into, whole_time.out) == (sum(f.into for f in pick), sum(f.out for f in pick)), kind
    assert together.opening == 0
    assert together.closing == together.owed == sum(a.balance_cents or 0 for a in Account.objects.all())


def test_a_balance_that_was_changed_behind_our_back_shows(clock: Any) -> None:
    customer = make_customer()
    give(customer, 5_000)
    Account.objects.filter(customer=customer).update(balance_cents=4_999)
    period = whole("day", date(2026, 5, 1), ZoneInfo("UTC"))
    assert not books(period.start, period.end).agrees
    page = reader().get(reverse("admin:payments_report"), {"unit": "day", "first": "2026-05-01"}).content.decode()
    assert "The books do not add up" in page and "$49.99" in page


# --- the page and its files -------------------------------------------------------------------------------------
def test_the_report_of_a_month_from_real_payments(shop: Any) -> None:
    """One promised payment, one that came too late, one captured order."""
    paid = shop.ask(shop.order())
    shop.network.pay(paid)
    shop.block(4)
    late = shop.ask(shop.order())
    shop.end_of(late, plus=60)
    shop.network.price({"ETH": "2000"})
    shop.network.pay(late)
    shop.block(4)
    day = timezone.now().date()
    period = whole("month", day, ZoneInfo("UTC"))
    (line,) = by_method(period.start, period.end)
    assert (line.code, line.count, line.units) == ("eth", 2, paid.amount + late.amount)
    assert line.promised_units == paid.amount and line.market_units == late.amount
    assert (line.lowest_e8, line.highest_e8) == (2000 * 10**8, paid.rate_e8)
    report = books(period.start, period.end)
    flows = {flow.kind: flow for flow in report.flows}
    assert flows[Kind.TRANSFER].into == line.cents and flows[Kind.CAPTURE].out == 10_000
    client = reader()
    page = client.get(reverse("admin:payments_report"), {"unit": "month", "first": day.isoformat()}).content.decode()
    assert "adds up" in page and "ETH (Ethereum)" in page and "$100.00" in page
    one, other = rows_of(client, "payments_transfers_csv", unit="month", first=day.isoformat())
    assert one["why"] == "promised" and one["for"] == paid.order.number and one["usd"] == "100.00"
    assert one["rate_promised_usd"] and not one["rate_market_usd"]
    assert other["why"].startswith("too late for the promise") and other["rate_market_usd"] == "2000"
    assert int(other["base_units"]) == late.amount and other["network"] == "ethereum" and len(other["txid"]) > 10
    summary = rows_of(client, "payments_report_csv", unit="month", first=day.isoformat())
    check = next(row for row in summary if row["section"] == "check")
    assert check["balance_usd"] == "0.00"


def test_a_credit_and_its_movement_are_never_in_different_days(shop: Any, clock: Any) -> None:
    """The allocation's own time may be a little later than its movement's: the movement's counts."""
    intent = shop.ask(shop.order())
    shop.network.pay(intent)
    shop.block(4)
    movement = Movement.objects.get(kind=Kind.TRANSFER)
    Allocation.objects.update(at=movement.at + timedelta(microseconds=1))
    (line,) = by_method(movement.at, movement.at + timedelta(microseconds=1))
    assert line.cents == movement.amount_cents
    assert by_method(movement.at + timedelta(microseconds=1), movement.at + timedelta(days=1)) == []


def test_days_are_those_of_the_readers_time_zone(clock: Any) -> None:
    """23:30 UTC of 1 May is already 2 May in Warsaw."""
    clock.move_to(datetime(2026, 5, 1, 23, 30, tzinfo=UTC))
    give(make_customer(), 1_234)
    in_warsaw, in_utc = reader("operator", "Europe/Warsaw"), reader("owner")
    for client, day in ((in_warsaw, "2026-05-02"), (in_utc, "2026-05-01")):
        rows = rows_of(client, "payments_report_csv", unit="day", first=day)
        assert next(row["in_usd"] for row in rows if row["line"] == "adjustment") == "12.34", day
    assert (
        "2026-05-02 00:00 CEST"
        in in_warsaw.get(reverse("admin:payments_report"), {"unit": "day", "first": "2026-05-02"}).content.decode()
    )


@pytest.mark.parametrize(
    "query",
    [
        {"unit": "range", "first": "2026-05-02", "last": "2026-05-01"}, {"unit": "range", "first": "2026-05-02"},
        {"unit": "century", "first": "2026-05-02"}, {"unit": "day", "first": "0001-01-01"},
        {"unit": "day", "first": "9999-12-31"}, {"unit": "day", "first": "x"},
    ],
)  # fmt: skip
def test_nonsense_in_the_address_shows_the_month_and_a_sentence(clock: Any, query: dict[str, str]) -> None:
    client = reader()
    for name in ("payments_report", "payments_report_csv", "payments_transfers_csv"):
        answer = client.get(reverse(f"admin:{name}"), query)
        assert answer.status_code == 200
    page = client.get(reverse("admin:payments_report"), query).content.decode()
    assert "errornote" in page and "1 May 2026" in page


def test_a_report_costs_the_same_queries_for_few_and_for_many(shop: Any) -> None:
    client, counts = reader(), []
    for orders in (1, 6):
        for _ in range(orders):
            shop.network.pay(shop.ask(shop.order()))
        shop.block(4)
        with CaptureQueriesContext(connection) as queries:
            client.get(reverse("admin:payments_report"))
            rows_of(client, "payments_transfers_csv")
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_support_sees_no_reports(clock: Any) -> None:
    client = reader("support")
    for name in ("payments_report", "payments_report_csv", "payments_transfers_csv"):
        assert client.get(reverse(f"admin:{name}")).status_code == 403


def test_a_formula_cannot_come_out_of_a_report(shop: Any, settings: Any) -> None:
    settings.ORDER_NUMBER_PREFIX = "=GL"
    shop.network.pay(shop.ask(shop.order()))
    shop.block(4)
    (row,) = rows_of(reader(), "payments_transfers_csv")
    assert row["for"].startswith("'=GL")
