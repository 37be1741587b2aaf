import threading
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from accounts.models import User


@pytest.mark.races
@pytest.mark.django_db(transaction=True)
def test_acc_4_of_two_tabs_with_one_address_one_wins_and_one_is_refused(person: dict[str, Any]) -> None:
    start = threading.Barrier(2)
    answers: list[bool] = []

    def register() -> None:
        client = Client()
        start.wait()
        try:
            answers.append(b'class="codes"' in client.post(reverse("account_signup"), person).content)
        finally:
            connection.close()

    tabs = [threading.Thread(target=register) for _ in range(2)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert sorted(answers) == [False, True]
    assert User.objects.count() == 1
