"""A member of staff who may look must not be able to act, and nobody below the owner hands out rights."""

import pytest
from attackers import Browse
from django.contrib import admin
from django.contrib.auth.models import Permission
from story import PASSWORD, Network, ask, books_are_right, make_customer, make_operator, save_order

from accounts.models import User
from catalog.models import Offer
from orders.models import Environment
from payments.models import NetworkCursor
from provisioning.models import Rental

pytestmark = pytest.mark.django_db


@pytest.fixture
def looker(db: None) -> User:
    """Return a member of staff with every permission to view and none else."""
    person: User = make_customer("looker@example.com")
    person.is_staff = True
    person.save(update_fields=["is_staff"])
    person.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    return person


@pytest.fixture
def rental(network: Network, customer: User, offer: Offer) -> Rental:
    network.pay(ask(save_order(customer, offer)))
    network.settle()
    return Rental.objects.get()


def test_looking_is_not_acting(looker: User, rental: Rental, offer: Offer, browse: Browse) -> None:
    NetworkCursor.objects.update(state="stopped")
    client = browse(looker)
    client.get("/admin/")  # the addresses are loaded now, and with them what is registered
    for model, shown in list(admin.site._registry.items()):
        base = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        chosen = [str(row.pk) for row in model._base_manager.all()]
        assert client.get(f"{base}add/").status_code == 403, base
        for name in [*(action for action in shown.actions or () if isinstance(action, str)), "delete_selected"]:
            client.post(base, {"action": name, "_selected_action": chosen, "post": "yes"})
        for pk in chosen[:1]:
            assert client.post(f"{base}{pk}/delete/", {"post": "yes"}).status_code == 403, base
            assert client.post(f"{base}{pk}/change/", {}).status_code in (302, 403), base
    for step in ("move", "plan", "hand-over"):
        assert client.post(f"/admin/provisioning/rental/{rental.pk}/{step}/", {"step": "preparing"}).status_code == 403
    offer.refresh_from_db()
    rental.refresh_from_db()
    assert offer.published and rental.state == "queued" and Environment.objects.count() == 7
    assert NetworkCursor.objects.get().state == "stopped"
    books_are_right()


def test_who_may_change_accounts_gets_no_rights(looker: User, customer: User, browse: Browse) -> None:
    looker.user_permissions.add(Permission.objects.get(codename="change_user"))
    owner, colleague = make_operator(), make_customer("colleague@example.com")
    User.objects.filter(pk=colleague.pk).update(is_staff=True)
    client = browse(looker)
    form = {"email": customer.email, "first_name": "A", "last_name": "B", "is_active": "on", "is_superuser": "on"}
    for person in (looker, customer, owner, colleague):
        client.post(f"/admin/accounts/user/{person.pk}/change/", form | {"email": person.email, "is_staff": "on"})
    for person in (owner, colleague):
        new = {"password1": "taken over by me 1", "password2": "taken over by me 1", "usable_password": "true"}
        assert client.post(f"/admin/accounts/user/{person.pk}/password/", new).status_code == 403
        person.refresh_from_db()
        assert person.check_password(PASSWORD)
    assert list(User.objects.filter(is_superuser=True)) == [owner]
    assert not User.objects.get(pk=customer.pk).is_staff


def test_no_page_shows_the_key_of_a_session(looker: User, browse: Browse) -> None:
    client = browse(looker)
    assert client.get("/admin/usersessions/usersession/").status_code == 404


@pytest.mark.parametrize("key", ["abc", "999", "9" * 40])
def test_a_row_that_is_not_there(key: str, browse: Browse, db: None) -> None:
    client = browse(make_operator())
    client.get("/admin/")
    for model in list(admin.site._registry):
        page = f"/admin/{model._meta.app_label}/{model._meta.model_name}/{key}/change/"
        assert client.get(page).status_code < 500, page
