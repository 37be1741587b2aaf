"""One customer with an order that is paid, one that is not, and the people of support."""

import uuid
from collections.abc import Iterator

import pytest
from conversing import Enter, Say
from django.test import Client
from django.utils import translation
from pytest_django.fixtures import Settings
from story import Network, ask, make_customer, make_offer, save_order

from accounts.actions.roles import set_role
from accounts.models import User
from conversations import actions
from conversations.models import Message
from orders.models import Order


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Give each test its own active language: a page in another one leaves it behind."""
    with translation.override("en"):
        yield


@pytest.fixture
def ada(db: None) -> User:
    made: User = make_customer()
    return made


@pytest.fixture
def order(ada: User) -> Order:
    """Return an order that nobody has paid yet."""
    made: Order = save_order(ada, make_offer())
    return made


@pytest.fixture
def paid(network: Network, ada: User) -> Order:
    made: Order = save_order(ada, make_offer())
    network.pay(ask(made))
    network.settle()
    made.refresh_from_db()
    return made


@pytest.fixture
def support(db: None) -> User:
    user: User = make_customer("sam@example.com")
    set_role(user, "support", actor=None)
    user.refresh_from_db()
    return user


@pytest.fixture
def enter(settings: Settings) -> Enter:
    """Return a way to open a browser of a person; staff need no second factor here."""
    settings.STAFF_SECOND_FACTOR = False

    def start(user: User) -> Client:
        client = Client(raise_request_exception=False)
        client.force_login(user)
        return client

    return start


@pytest.fixture
def say(ada: User) -> Say:
    """Return a way for the customer to write about an order."""

    def write(order: Order, body: str = "Where is my machine?", kind: str = "question") -> Message:
        return actions.send(order, kind=kind, body=body, form_key=uuid.uuid4(), actor=ada)

    return write


@pytest.fixture
def reply(support: User) -> Say:
    """Return a way for support to answer what was written last."""

    def write(order: Order, body: str = "It is being prepared.") -> Message:
        last = order.messages.order_by("-pk").values_list("pk", flat=True).first() or 0
        return actions.answer(order.pk, body=body, form_key=uuid.uuid4(), read_up_to=last, actor=support)

    return write
