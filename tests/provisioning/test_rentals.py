"""A rental from the settled order to the wiped machine: its states, its period, and who may see its access."""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.urls import reverse
from django.utils import timezone
from story import kinds, make_customer, make_offer, make_operator, save_order

from accounts.models import User
from balance.actions import credit
from balance.models import House, Movement
from catalog.models import Offer
from events.models import Event
from events.relay import drain
from orders import actions as orders
from orders.models import Hold, Order
from payments.actions.intents import pay_from_balance
from provisioning import actions
from provisioning.access import Access, load
from provisioning.actions import NotPossible
from provisioning.models import Rental

State = Rental.State
pytestmark = pytest.mark.django_db
ACCESS = Access(ssh_host="gpu17.rack.example", ssh_port="2222", ssh_user="ada", notes="Пароль в sealed envelope")
LIFE = ["queued", "preparing", "ready", "active", "suspended", "failed", "ended"]


@dataclass
class Desk:
    """An operator, a customer and her paid order, not yet delivered to provisioning."""

    operator: User
    customer: User
    offer: Offer
    order: Order

    def rental(self) -> Rental:
        return Rental.objects.get(order=self.order)

    def bring_to(self, state: str) -> Rental:
        """Take the rental through its life until it is in this state."""
        drain()
        rental = self.rental()
        ways = {
            "queued": [], "preparing": ["preparing"], "failed": ["failed"], "ready": ["preparing", "ready"],
            "active": ["preparing", "ready", "active"], "suspended": ["preparing", "ready", "active", "suspended"],
            "ended": ["preparing", "ready", "active", "ended"],
        }  # fmt: skip
        for step in ways[state]:
            if step == "active":
                actions.hand_over(rental.pk, ACCESS, actor=self.operator)
            elif step == "ended":
                actions.end(rental.pk, actor=self.operator)
            else:
                actions.move(rental.pk, step, actor=self.operator)
        return self.rental()


def give(customer: User, cents: int) -> None:
    credit(
        customer, cents, house=House.ADJUSTMENTS, kind=Movement.Kind.ADJUSTMENT,
        reference=f"gift:{uuid.uuid4()}", actor=customer, reason="a test",
    )  # fmt: skip


def pay(order: Order, customer: User) -> None:
    give(customer, order.total_cents)
    pay_from_balance(order.pk, actor=customer)


@pytest.fixture
def desk(db: None) -> Desk:
    from balance.actions import ensure_house_accounts

    ensure_house_accounts()
    customer, offer = make_customer(), make_offer()
    order = save_order(customer, offer, lots=2)
    pay(order, customer)
    return Desk(make_operator(), customer, offer, order)


def free(offer: Offer) -> int:
    offer.refresh_from_db()
    return offer.available_lots


# --- PRV-1 --------------------------------------------------------------------------------------------------------
def test_prv_1_a_rental_is_queued_once_when_its_order_is_settled_and_holds_its_lots(desk: Desk) -> None:
    assert not Rental.objects.exists()
    drain()
    assert desk.rental().state == State.QUEUED
    again = actions.ensure_rental(desk.order.pk)
    assert again == desk.rental()
    assert kinds(desk.order).count("rental.queued") == 1


def test_prv_1_an_unpaid_order_gets_no_rental(desk: Desk) -> None:
    open_order = save_order(desk.customer, desk.offer)
    assert actions.ensure_rental(open_order.pk) is None


def test_prv_1_a_paid_order_without_lots_gets_no_rental_until_it_has_them(desk: Desk) -> None:
    order = save_order(desk.customer, desk.offer)
    orders.release(Hold.objects.get(order=order))
    give(desk.customer, order.total_cents)
    with transaction.atomic():
        orders.capture(orders.locked(order.pk), secured=False, actor=None)
    drain()
    assert not Rental.objects.filter(order=order).exists()
    assert orders.take_stock(order.pk, actor=desk.operator)
    drain()
    assert Rental.objects.get(order=order).state == State.QUEUED


# --- states -------------------------------------------------------------------------------------------------------
ALLOWED = {
    ("queued", "preparing"), ("queued", "failed"), ("preparing", "ready"), ("preparing", "failed"),
    ("preparing", "queued"), ("ready", "preparing"), ("ready", "failed"), ("active", "suspended"),
    ("suspended", "active"), ("failed", "queued"),
}  # fmt: skip


@pytest.mark.parametrize("before", LIFE)
@pytest.mark.parametrize("after", LIFE)
def test_only_the_moves_of_the_table_are_possible(desk: Desk, before: str, after: str) -> None:
    """Hand-over and end have actions of their own; a move to where it is changes nothing."""
    rental = desk.bring_to(before)
    events = Event.objects.count()
    if before == after:
        actions.move(rental.pk, after, actor=desk.operator)
        assert Event.objects.count() == events
    elif (before, after) in ALLOWED:
        actions.move(rental.pk, after, actor=desk.operator)
        assert Event.objects.latest("pk").kind == f"rental.{after}"
        assert Event.objects.latest("pk").actor == desk.operator
    else:
        with pytest.raises(NotPossible):
            actions.move(rental.pk, after, actor=desk.operator)
        assert (desk.rental().state, Event.objects.count()) == (before, events)


@pytest.mark.parametrize("state", [state for state in LIFE if state != "ready"])
def test_only_a_ready_machine_is_handed_over(desk: Desk, state: str) -> None:
    rental = desk.bring_to(state)
    with pytest.raises(NotPossible, match="Only a machine that is ready"):
        actions.hand_over(rental.pk, ACCESS, actor=desk.operator)


@pytest.mark.parametrize("state", ["queued", "preparing", "ready", "failed"])
def test_only_a_running_rental_ends_and_only_an_ended_one_is_wiped(desk: Desk, state: str) -> None:
    rental = desk.bring_to(state)
    with pytest.raises(NotPossible):
        actions.end(rental.pk, actor=desk.operator)
    with pytest.raises(NotPossible):
        actions.confirm_wipe(rental.pk, actor=desk.operator)
    assert free(desk.offer) == 8


# --- PRV-3 --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("state", ["queued", "preparing", "ready", "failed"])
def test_prv_3_no_period_runs_before_the_hand_over(desk: Desk, state: str, client: Any) -> None:
    rental = desk.bring_to(state)
    assert (rental.started_at, rental.ends_at) == (None, None)
    client.force_login(desk.customer)
    assert "not set yet" in client.get(reverse("orders:detail", args=[desk.order.number])).content.decode().lower()


def test_prv_3_the_period_starts_at_hand_over_and_runs_for_the_term_to_the_second(desk: Desk) -> None:
    rental = desk.bring_to("active")
    assert rental.started_at
    assert rental.ends_at
    assert timezone.now() - rental.started_at < timedelta(seconds=30)
    assert rental.ends_at - rental.started_at == timedelta(days=7)
    before = rental.ends_at
    actions.move(rental.pk, "suspended", actor=desk.operator)
    actions.move(rental.pk, "active", actor=desk.operator)
    assert desk.rental().ends_at == before


def test_prv_2_planned_dates_are_not_the_period(desk: Desk) -> None:
    rental = desk.bring_to("queued")
    start = datetime(2026, 6, 1, tzinfo=UTC)
    actions.plan(
        rental.pk, host="rack 3", planned_start_at=start, planned_end_at=start + timedelta(days=7), actor=desk.operator
    )
    planned = desk.rental()
    assert (planned.host, planned.planned_start_at, planned.started_at) == ("rack 3", start, None)
    with pytest.raises(NotPossible, match="must be after"):
        actions.plan(rental.pk, host="", planned_start_at=start, planned_end_at=start, actor=desk.operator)


@pytest.mark.parametrize(
    "wrong",
    [{"state": "active"}, {"started_at": timezone.now()}, {"state": "ended"}, {"wiped_at": timezone.now()}],
)
def test_the_database_refuses_a_period_without_a_hand_over(desk: Desk, wrong: dict[str, Any]) -> None:
    rental = desk.bring_to("ready")
    with pytest.raises(IntegrityError), transaction.atomic():
        Rental.objects.filter(pk=rental.pk).update(**wrong)


# --- PRV-2: access ------------------------------------------------------------------------------------------------
def raw_access() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT access FROM provisioning_rental")
        return str(cursor.fetchone()[0])


def test_prv_2_access_is_encrypted_at_rest(desk: Desk) -> None:
    rental = desk.bring_to("active")
    raw = raw_access()
    for secret in (ACCESS.ssh_host, ACCESS.ssh_user, "2222", "envelope", "Пароль", "ssh_host"):
        assert secret not in raw
    assert load(rental.access or "") == ACCESS
    assert not any(ACCESS.ssh_host in str(row) for row in Event.objects.values_list("data", flat=True))


def test_prv_2_access_is_shown_by_a_deliberate_click_and_each_showing_is_logged(desk: Desk, client: Any) -> None:
    desk.bring_to("active")
    url = reverse("provisioning:access", args=[desk.order.number])
    client.force_login(desk.customer)
    assert ACCESS.ssh_host not in client.get(url).content.decode()
    assert not Event.objects.filter(kind="access.shown").exists()
    assert "Last shown" not in client.get(url).text
    for times in (1, 2):
        response = client.post(url)
        assert "ssh -p 2222 ada@gpu17.rack.example" in response.content.decode()
        assert "no-store" in response.headers["Cache-Control"]
        assert Event.objects.filter(kind="access.shown", actor=desk.customer).count() == times
    again = client.get(url).text
    assert ACCESS.ssh_host not in again
    assert "Last shown" in again
    assert f"{Event.objects.filter(kind='access.shown').latest('id').at:%Y-%m-%dT%H:%M:%SZ}" in again
    assert ACCESS.ssh_host not in client.get(reverse("orders:detail", args=[desk.order.number])).content.decode()


def test_prv_2_access_of_others_does_not_exist(desk: Desk, client: Any) -> None:
    desk.bring_to("active")
    url = reverse("provisioning:access", args=[desk.order.number])
    assert client.get(url).headers["Location"].startswith("/accounts/login/")
    assert client.post(url).headers["Location"].startswith("/accounts/login/")
    for other in (make_customer("eve@example.com"), desk.operator):
        client.force_login(other)
        assert client.get(url).status_code == 404
        assert client.post(url).status_code == 404
    assert not Event.objects.filter(kind="access.shown").exists()


@pytest.mark.parametrize("state", ["queued", "ready", "suspended", "ended"])
def test_prv_2_access_is_shown_while_the_rental_is_active_only(desk: Desk, client: Any, state: str) -> None:
    desk.bring_to(state)
    client.force_login(desk.customer)
    html = client.post(reverse("provisioning:access", args=[desk.order.number])).content.decode()
    assert ACCESS.ssh_host not in html
    assert not Event.objects.filter(kind="access.shown").exists()


def test_acc_8_the_admin_never_shows_access(desk: Desk, client: Any) -> None:
    rental = desk.bring_to("active")
    client.force_login(desk.operator)
    html = client.get(reverse("admin:provisioning_rental_change", args=[rental.pk]), follow=True).content.decode()
    assert ACCESS.ssh_host not in html
    assert raw_access() not in html


def test_the_access_is_gone_after_the_end(desk: Desk) -> None:
    desk.bring_to("ended")
    assert desk.rental().access == ""
    assert "gpu17" not in raw_access()


# --- PRV-7 --------------------------------------------------------------------------------------------------------
def test_prv_7_lots_return_once_when_the_wipe_is_confirmed(desk: Desk) -> None:
    rental = desk.bring_to("ended")
    assert free(desk.offer) == 8
    actions.confirm_wipe(rental.pk, actor=desk.operator)
    assert free(desk.offer) == 10
    actions.confirm_wipe(rental.pk, actor=desk.operator)
    actions.end(rental.pk, actor=desk.operator)
    assert free(desk.offer) == 10
    assert kinds(desk.order).count("rental.wiped") == 1
    assert actions.ensure_rental(desk.order.pk) is None
