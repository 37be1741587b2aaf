"""ORD-4 in the admin: an order is found by its number as people write it."""

from typing import Any

import pytest
from story import make_customer, make_offer, save_order

from accounts.models import User

pytestmark = pytest.mark.django_db
LISTS = ["/admin/orders/order/", "/admin/provisioning/rental/", "/admin/payments/paymentintent/"]


@pytest.mark.parametrize("typed", ["{}", "lower", "without dashes", "symbols"])
def test_ord_4_operators_find_an_order_by_its_number(client: Any, typed: str) -> None:
    owner = User.objects.create_superuser("owner@example.com", "a long sentence about lattices")
    order = save_order(make_customer(), make_offer())
    client.force_login(owner)
    ways = {"lower": order.number.lower(), "without dashes": order.number.replace("-", ""), "symbols": order.symbols}
    html = client.get(LISTS[0], {"q": ways.get(typed, order.number)}).content.decode()
    assert html.count(f">{order.number}</a>") == 1
    for other in LISTS[1:]:
        assert client.get(other, {"q": order.number}).status_code == 200
