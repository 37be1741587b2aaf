"""The key that opens access information is lost or wrong: everything else goes on."""

import pytest
from attackers import Browse
from pytest_django.fixtures import Settings
from story import Network, ask, make_operator, save_order

from accounts.models import User
from catalog.models import Offer
from events.models import Event
from provisioning import actions
from provisioning.access import Access
from provisioning.models import Rental

pytestmark = pytest.mark.django_db


def test_pages_do_not_open_what_they_do_not_show(
    network: Network, customer: User, offer: Offer, settings: Settings, browse: Browse
) -> None:
    order, operator = save_order(customer, offer), make_operator()
    network.pay(ask(order))
    network.settle()
    rental = Rental.objects.get()
    for state in ("preparing", "ready"):
        actions.move(rental.pk, state, actor=operator)
    actions.hand_over(rental.pk, Access(ssh_host="host.example"), actor=operator)
    settings.FIELD_KEYS = ["another key"]
    for page in ("/orders/", f"/orders/{order.number}/", f"/orders/{order.number}/access/"):
        assert browse(customer).get(page).status_code == 200
    for page in ("/admin/provisioning/rental/", f"/admin/provisioning/rental/{rental.pk}/change/"):
        assert browse(operator).get(page).status_code == 200
    answer = browse(customer).post(f"/orders/{order.number}/access/")
    assert answer.status_code == 200 and "host.example" not in answer.content.decode()
    assert not Event.objects.filter(kind="access.shown").exists()
    actions.end(rental.pk, actor=operator)
    actions.confirm_wipe(rental.pk, actor=operator)
