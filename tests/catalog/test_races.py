import threading
from collections.abc import Callable

import pytest
from django.db import connection, transaction

from catalog.actions import give_back_lots, take_lots
from catalog.models import Offer


def at_once(work: Callable[[], None], people: int) -> None:
    start = threading.Barrier(people)

    def run() -> None:
        start.wait()
        try:
            work()
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(people)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.races
@pytest.mark.django_db(transaction=True)
def test_s1_of_many_who_want_the_last_lots_only_as_many_get_some_as_there_are(rtx: Offer) -> None:
    got: list[bool] = []

    def buy() -> None:
        with transaction.atomic():
            got.append(take_lots(rtx.pk, 2))

    at_once(buy, 6)
    rtx.refresh_from_db()
    assert sorted(got) == [False] * 4 + [True] * 2  # 5 lots are there
    assert rtx.taken == 4


@pytest.mark.races
@pytest.mark.django_db(transaction=True)
def test_lots_taken_and_returned_at_the_same_moment_add_up(rtx: Offer) -> None:
    def rent() -> None:
        for _ in range(3):
            with transaction.atomic():
                taken = take_lots(rtx.pk, 1)
            if taken:
                with transaction.atomic():
                    give_back_lots(rtx.pk, 1)

    at_once(rent, 4)
    rtx.refresh_from_db()
    assert rtx.taken == 0
