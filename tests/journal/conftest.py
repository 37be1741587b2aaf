from collections.abc import Callable

import pytest
from django.test import Client

from accounts.actions.guests import holder_of
from accounts.models import User
from catalog.models import Offer
from journal.models import Card
from orders.models import Order


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user("ada@example.com", "x" * 20, first_name="Ada", last_name="Lovelace")


@pytest.fixture
def eve(db: None) -> User:
    return User.objects.create_user("eve@example.com", "x" * 20, first_name="Eve", last_name="Moriarty")


@pytest.fixture
def as_ada(client: Client, ada: User) -> Client:
    client.force_login(ada)
    return client


@pytest.fixture
def card(ada: User) -> Card:
    return Card.objects.create(
        holder=holder_of(ada), question="Does FP8 change the loss?", hypothesis="No, within one per cent."
    )


@pytest.fixture
def make_order(db: None) -> Callable[[User], Order]:
    offer = Offer.objects.create(
        slug="rtx-4090", name="RTX 4090", vendor="NVIDIA", architecture="Ada", memory_gb=24, memory_type="GDDR6X",
        bandwidth_gbps=1008, board_power_w=450, backend="CUDA", lots=9,
    )  # fmt: skip

    def make(customer: User) -> Order:
        return Order.objects.create(
            customer=customer, symbols="7K3M9QX2", form_key="00000000-0000-4000-8000-000000000000",
            offer=offer, offer_name=offer.name, cards_per_lot=1, term_days=7, lots=1, unit_price_cents=100,
            total_cents=100, environment="PyTorch", first_name="A", last_name="B", email=customer.email,
        )  # fmt: skip

    return make
