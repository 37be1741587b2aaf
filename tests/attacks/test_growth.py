"""What grows for years is read in pieces."""

import pytest
from attackers import Browse
from django.db import connection
from django.test.utils import CaptureQueriesContext
from story import give

from accounts.models import User
from balance import views
from balance.queries import statement

pytestmark = pytest.mark.django_db


def test_statement_in_pages(customer: User, browse: Browse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page shows the balances that the whole statement shows, and reads its own movements only."""
    monkeypatch.setattr(views, "PER_PAGE", 4)
    for cents in range(1, 11):
        give(customer, cents)
    assert [row.balance_cents for row in statement(customer)] == [55, 45, 36, 28, 21, 15, 10, 6, 3, 1]
    client, shown = browse(customer), []
    for page in (1, 2, 3):
        with CaptureQueriesContext(connection) as queries:
            answer = client.get("/balance/", {"page": page})
        shown += answer.context["rows"]
        assert len(queries) < 12
    assert shown == statement(customer)
    assert "Page 3 of 3" in answer.content.decode()


def test_statement_of_a_newcomer(customer: User, browse: Browse) -> None:
    assert browse(customer).get("/balance/").status_code == 200 and not statement(customer)
