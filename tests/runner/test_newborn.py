"""After a test that commits, the database is as migrations left it."""

import newborn
import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.db import connection
from story import make_customer, make_offer, save_order

from events import append_only
from events.models import Event
from orders.models import Environment

pytestmark = pytest.mark.django_db(transaction=True)


def contents() -> dict[str, list[str]]:
    """Return all rows of all tables of all models, and who may do what."""
    found = {}
    with connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            cursor.execute(f"SELECT * FROM {model._meta.db_table}")  # noqa: S608
            found[model._meta.db_table] = sorted(map(str, cursor.fetchall()))
    return found


def test_rows_that_came_went_or_changed_are_as_before() -> None:
    before = contents()
    assert before["auth_group_permissions"] and before["django_content_type"] and before["balance_account"]
    save_order(make_customer(), make_offer())
    Group.objects.all().delete()
    Environment.objects.update(name="another")
    assert Event.objects.exists() and contents() != before
    newborn.put_back()
    assert contents() == before


def test_a_trigger_that_was_dropped_is_back() -> None:
    append_only.lift("default")
    newborn.put_back()
    assert append_only.missing("default") == set()


def test_it_may_be_put_back_again_and_the_next_rows_find_free_numbers() -> None:
    for _ in range(2):
        order = save_order(make_customer(), make_offer())
        newborn.put_back()
        assert not type(order).objects.exists() and not Event.objects.exists()
