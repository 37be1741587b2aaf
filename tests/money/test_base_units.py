"""BaseUnitsField on whichever database this run has: exact, and nothing but exact."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.exceptions import FieldError
from django.db import DatabaseError, IntegrityError, connection, models, transaction
from django.db.models import F, Max, Sum, Value
from django.db.models.functions import Coalesce
from django.test.utils import isolate_apps
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from money.fields import DIGITS, BaseUnitsField

LARGEST = 10**DIGITS - 1
WEI = 2**256 - 1
BOUNDARIES = (0, 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**38, WEI, LARGEST)


@pytest.fixture
def purse(transactional_db: None) -> Iterator[Any]:
    """Yield a model with one field, in a table of its own."""
    with isolate_apps("money"):

        class Purse(models.Model):
            units = BaseUnitsField(null=True)
            other = models.BigIntegerField(null=True)

            class Meta:
                app_label = "money"

        with connection.schema_editor() as editor:
            editor.create_model(Purse)
        try:
            yield Purse
        finally:
            with connection.schema_editor() as editor:
                editor.delete_model(Purse)


@pytest.mark.parametrize("units", BOUNDARIES)
def test_every_boundary_comes_back_exactly(purse: Any, units: int) -> None:
    row = purse.objects.create(units=units)
    row.refresh_from_db()
    assert (row.units, type(row.units)) == (units, int)
    assert purse.objects.get(units=units) == row
    assert purse.objects.filter(units__in=[units, 7]).count() == 1
    assert not purse.objects.filter(units__isnull=True).exists()
    assert list(purse.objects.values_list("units", flat=True)) == [units]
    assert list(purse.objects.order_by("units").values("units")) == [{"units": units}]


@hypothesis(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(amounts=st.lists(st.integers(0, LARGEST), min_size=1, max_size=8))
def test_any_amounts_come_back_exactly_and_in_order(purse: Any, amounts: list[int]) -> None:
    purse.objects.all().delete()
    purse.objects.bulk_create(purse(units=amount) for amount in amounts)
    assert list(purse.objects.order_by("units").values_list("units", flat=True)) == sorted(amounts)
    assert sum(purse.objects.values_list("units", flat=True)) == sum(amounts)


def test_none_is_none(purse: Any) -> None:
    row = purse.objects.create(units=None)
    row.refresh_from_db()
    assert row.units is None


@pytest.mark.parametrize(
    "wrong", [-1, 10**DIGITS, 1.0, 0.1, float("nan"), True, "1.5", "-1", "1e3", "", " 1", "١", b"1"]
)
def test_what_is_no_whole_number_of_base_units_is_refused(purse: Any, wrong: Any) -> None:
    with pytest.raises((ValueError, OverflowError)):
        purse.objects.create(units=wrong)
    with pytest.raises((ValueError, OverflowError)):
        purse.objects.filter(units=wrong).exists()
    assert not purse.objects.exists()


@pytest.mark.parametrize("lookup", ["gt", "gte", "lt", "lte", "range", "contains", "startswith", "regex", "iexact"])
def test_comparisons_are_refused(purse: Any, lookup: str) -> None:
    with pytest.raises(FieldError):
        purse.objects.filter(**{f"units__{lookup}": [1, 2] if lookup == "range" else 1}).exists()


@pytest.mark.parametrize(
    "expression",
    [Sum("units"), Max("units"), F("units") + F("units"), Coalesce("units", Value(1, output_field=BaseUnitsField()))],
)
def test_computing_in_sql_is_refused(purse: Any, expression: Any) -> None:
    purse.objects.create(units=5)
    with pytest.raises(FieldError):
        list(purse.objects.annotate(computed=expression).values("computed"))


@pytest.mark.parametrize("expression", [F("units") + 1, F("other"), F("units"), Value(1), Sum("units")])
def test_an_update_by_an_expression_is_refused(purse: Any, expression: Any) -> None:
    row = purse.objects.create(units=5, other=6)
    with pytest.raises(FieldError), transaction.atomic():
        purse.objects.update(units=expression)
    with pytest.raises(FieldError), transaction.atomic():
        row.units = expression
        row.save(update_fields=["units"])
    row.refresh_from_db()
    assert row.units == 5


@pytest.mark.parametrize("raw", ["-1", "NULL - 1", "1.5", "'abc'", "'1e5'", "1e90", "'NaN'", "''", "'5'", "5", "' 5'"])
def test_the_database_refuses_nonsense_by_itself(purse: Any, raw: str) -> None:
    """What PostgreSQL turns into a whole number is one; SQLite takes 78 digits and nothing else."""
    harmless = {"postgresql": {"NULL - 1", "'1e5'", "'5'", "5", "' 5'", "1.5"}, "sqlite": {"NULL - 1"}}[
        connection.vendor
    ]
    if raw in harmless:
        with connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO money_purse (units) VALUES ({raw})")
        units = purse.objects.get().units
        assert units is None or (isinstance(units, int) and units >= 0)
        return
    with pytest.raises((IntegrityError, DatabaseError)), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO money_purse (units) VALUES ({raw})")


@pytest.mark.parametrize("raw", ["5", f"'{'9' * 77}'", f"'{'9' * 77}x'", "'½'", "1.5", f"'{'٣' * 78}'"])
def test_a_corrupt_value_raises_and_never_reads_as_some_number(purse: Any, raw: str, on_sqlite: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA ignore_check_constraints = ON")
        cursor.execute(f"INSERT INTO money_purse (units) VALUES ({raw})")
        cursor.execute("PRAGMA ignore_check_constraints = OFF")
    with pytest.raises(ValueError, match="the database holds"):
        purse.objects.get()
