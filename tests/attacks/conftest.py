"""What an attacker has: browsers, with or without an account, that show a failure of ours as its status."""

import pytest
from attackers import Browse
from django.test import Client
from pytest_django.fixtures import Settings
from story import Network, make_customer, make_offer

from accounts.models import User
from catalog.models import Offer


@pytest.fixture
def browse(settings: Settings) -> Browse:
    """Return a function that opens a browser of a person, or of a stranger. A fault answers 500 and raises nothing."""
    settings.ACCOUNT_RATE_LIMITS = {}

    def start(person: User | None) -> Client:
        client = Client(raise_request_exception=False)
        if person:
            client.force_login(person, backend="accounts.backends.Backend")
        return client

    return start


@pytest.fixture
def offer(network: Network) -> Offer:
    made: Offer = make_offer()
    return made


@pytest.fixture
def customer(db: None) -> User:
    made: User = make_customer()
    return made
