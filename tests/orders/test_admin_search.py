"""ORD-4 in the admin: an order is found by its number as people write it."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from story import make_customer, make_offer, save_order

from accounts.models import User
from orders.models import Hold, Order

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


def test_ord_6_operators_find_the_paid_orders_that_wait_for_stock(client: Any) -> None:
    client.force_login(User.objects.create_superuser("owner@example.com", "a long sentence about lattices"))
    customer, offer = make_customer(), make_offer()
    orders = {name: save_order(customer, offer) for name in ("waits", "holds", "wiped", "open")}
    now = timezone.now()
    for name in ("waits", "holds", "wiped"):
        Order.objects.filter(pk=orders[name].pk).update(state="settled", payment="paid", settled_at=now)
    released = {"waits": now - timedelta(hours=1), "wiped": now + timedelta(days=7)}
    for name, at in released.items():
        Hold.objects.filter(order=orders[name]).update(state="released", released_at=at)
    html = client.get("/admin/orders/order/", {"waiting": "yes"}).content.decode()
    assert {name for name, order in orders.items() if f">{order.number}</a>" in html} == {"waits"}
