"""BAL-6: the books are read as of one moment, while the site goes on."""

from collections.abc import Callable
from threading import Thread

import pytest
from django.db import connection
from story import give, make_customer

from accounts.models import User
from payments.verify import discrepancies, snapshot

pytestmark = pytest.mark.django_db(transaction=True)


def elsewhere(work: Callable[[], object]) -> None:
    """Do something in a thread with a connection of its own, and wait for it."""

    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    thread = Thread(target=run)
    thread.start()
    thread.join()


def test_what_commits_while_the_books_are_read_is_no_discrepancy() -> None:
    ada = make_customer()
    give(ada, 100)
    with snapshot():
        reading = discrepancies()
        assert not list(discrepancies())
        elsewhere(lambda: give(ada, 500))
        assert not list(reading)
        account = User.objects.get(pk=ada.pk).account
        assert account.balance_cents == 100
    account.refresh_from_db()
    assert account.balance_cents == 600
