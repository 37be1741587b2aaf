"""Every list of the admin: what it costs, that nobody changes facts in it, and its file (OPS-2, X2, X3)."""

import csv
import io
import uuid
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from operating.conftest import Staff
from story import Network, ask, give, make_customer, make_offer, save_order

import config.urls
from accounts.actions import codes, lost
from accounts.actions.guests import holder_of
from accounts.models import User
from catalog.models import Offer
from catalog.pausing import pause
from conversations import actions as conversations
from conversations.models import CannedText
from events.downloads import Downloads
from events.models import Event
from events.spreadsheets import as_text
from journal.actions import create_card
from orders.models import Environment, Order
from payments import watcher
from payments.actions import inquiries
from payments.actions.adjusting import give_goodwill
from payments.actions.by_hand import settle_by_hand
from payments.actions.payouts import request_payout
from payments.actions.topups import make_topup
from payments.models import Checkup, RateSourceHealth, Reconciliation, ReviewItem
from provisioning.access import Access
from provisioning.actions import hand_over, move
from provisioning.models import Rental
from support.actions import look_up

pytestmark = pytest.mark.django_db
FEW, MANY = 2, 30
# Facts: nobody writes them by hand, whatever rights they have.
FACTS = (
    "balance_account", "balance_movement", "events_event", "payments_allocation", "payments_chaintransfer",
    "payments_networkcursor", "payments_paymentintent", "payments_ratesample", "payments_reservedaddress",
    "payments_reviewitem", "payments_handsettlement", "payments_topup", "orders_order", "provisioning_rental",
)  # fmt: skip


def label(model: type[Model]) -> str:
    return f"{model._meta.app_label}_{model._meta.model_name}"


assert config.urls.urlpatterns  # loading them takes lists of libraries out of the admin
MODELS = {label(model): model for model in admin.site._registry}


@pytest.fixture
def offer(network: Network) -> Offer:
    made: Offer = make_offer(lots=500)
    return made


def live(network: Network, offer: Offer, count: int) -> None:
    """Let so many people each do one of everything, through the real actions."""
    operator = make_customer(f"op-{uuid.uuid4()}@example.com")
    watcher.fill_reserve(network.code, count + 20)
    for number in range(count):
        key = uuid.uuid4()
        customer = make_customer(f"{key}@example.com")
        network.pay(ask(save_order(customer, offer)))
        give(customer, 500)
        make_topup(customer, 10_000, form_key=key)
        inquiries.ask(f"{number:064d}", intent=None, actor=customer)
        settle_by_hand(save_order(customer, offer, lots=6).pk, reason="wire", evidence="bank", actor=operator)
        ReviewItem.objects.create(reason="other_asset", subject=f"x:{key}")
        Reconciliation.objects.create(network="ethereum", agrees=True)
        Checkup.objects.create(waits=False, done_at=timezone.now(), asked_by=customer)
        RateSourceHealth.objects.create(source=str(key)[:30])
        Environment.objects.create(code=str(key)[:16], name=str(key))
        create_card(holder=holder_of(customer), facts={"question": "Why"})
        lost.open_recovery(make_customer(f"lost-{key}@example.com"), proof="x", actor=operator)
        pause([f"offer:{make_offer(name=f'card {key}').pk}"], reason="broken fans", actor=operator)
        write_about(save_order(customer, offer), operator, key)
        request_payout(customer, "eth", 10_000, "0x" + "ab" * 20, shown_amount=1, form_key=key)
    network.settle()


def write_about(order: Order, operator: User, key: uuid.UUID) -> None:
    """Let support and a customer write to each other about an order, look it up, and be kind."""
    conversations.send(order, kind="question", body="When?", form_key=key, actor=order.customer)
    CannedText.objects.create(title=str(key), language="en", body="Soon.")
    look_up(order.number, admitted=True, actor=operator)
    give_goodwill(order.customer_id, 10_000, reason="a long wait", form_key=key, actor=operator)


def cost(client: Client, name: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(reverse(f"admin:{name}_changelist")).status_code == 200
    return len(queries)


def test_every_list_costs_the_same_queries_for_few_rows_and_for_thirty(
    network: Network, offer: Offer, staff: Staff
) -> None:
    client = staff("owner")
    live(network, offer, FEW)
    cost(client, "orders_order")  # what is kept after a first page
    few = {name: cost(client, name) for name in MODELS}
    rows = {name: model._base_manager.count() for name, model in MODELS.items()}
    live(network, offer, MANY)
    cost(client, "orders_order")  # the head of each page counts anew after an event
    many = {name: cost(client, name) for name in MODELS}
    grown = {name for name, model in MODELS.items() if model._base_manager.count() >= rows[name] + MANY}
    assert {name: many[name] for name in grown if many[name] > few[name]} == {}
    alone = {"payments_installation", "payments_networkcursor", "payments_reservedaddress", "payments_ratesample"}
    assert MODELS.keys() - grown <= alone, "the story makes none of these"


def test_facts_are_read_only_for_everybody(network: Network, offer: Offer, staff: Staff) -> None:
    """Forged POSTs to add, change and delete, and to Django's own action, are refused for a superuser too."""
    live(network, offer, 1)
    client = staff("owner")
    for name in FACTS:
        forge(client, name)


def forge(client: Client, name: str) -> None:
    model = MODELS[name]
    row = model._base_manager.order_by("pk").first()
    assert row is not None
    everything = {field.name: "7" for field in model._meta.concrete_fields} | {"_save": "1", "post": "yes"}
    before = list(model._base_manager.order_by("pk").values())
    for action, pk in (("add", []), ("change", [row.pk]), ("delete", [row.pk])):
        assert client.post(reverse(f"admin:{name}_{action}", args=pk), everything).status_code == 403, (name, action)
    listed = reverse(f"admin:{name}_changelist")
    client.post(listed, {"action": "delete_selected", "_selected_action": [str(row.pk)], "post": "yes"})
    client.post(listed, {"form-TOTAL_FORMS": "1", "form-INITIAL_FORMS": "1", "form-0-id": str(row.pk), "_save": "1"})
    assert list(model._base_manager.order_by("pk").values()) == before


# --- files ------------------------------------------------------------------------------------------------------
def rows_of(client: Client, name: str, **query: str) -> list[dict[str, str]]:
    answer: Any = client.get(reverse(f"admin:{name}_download"), query)
    assert answer.status_code == 200 and answer["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


def test_every_list_of_ours_has_a_file_and_says_so(network: Network, offer: Offer, staff: Staff) -> None:
    live(network, offer, 1)
    client = staff("owner")
    for name, model in MODELS.items():
        assert isinstance(admin.site._registry[model], Downloads), name
        if name == "catalog_pause":  # a page of its own, not a list of rows
            continue
        assert (
            f'href="{reverse(f"admin:{name}_download")}'
            in client.get(reverse(f"admin:{name}_changelist")).content.decode()
        )
        assert rows_of(client, name), name


def test_a_file_holds_the_rows_and_columns_of_the_list_as_it_is_filtered(
    network: Network, offer: Offer, staff: Staff
) -> None:
    live(network, offer, 2)
    client = staff("operator")
    assert len(rows_of(client, "orders_order")) == 6
    paid = rows_of(client, "orders_order", state__exact="settled")
    assert len(paid) == 2 and {row["State"] for row in paid} == {"paid"}
    assert list(paid[0]) == [
        "Order number",
        "Customer",
        "Offer name",
        "Lots",
        "Term days",
        "Total",
        "State",
        "Payment",
        "Created",
    ]
    assert paid[0]["Total"] == "100.00" and paid[0]["Created"].endswith("Z")
    (one,) = rows_of(client, "orders_order", q=paid[0]["Order number"].lower().replace("-", ""))
    assert one == paid[0]
    assert (
        client.get(reverse("admin:orders_order_download"), {"state__exact": "x", "nonsense__y": "1"}).status_code == 302
    )


def test_x2_no_cell_of_a_file_is_computed_by_a_spreadsheet(network: Network, offer: Offer, staff: Staff) -> None:
    evil = '=HYPERLINK("http://evil.example","x")'
    Offer.objects.filter(pk=offer.pk).update(name=evil)
    (row,) = rows_of(staff("operator"), "catalog_offer")
    assert row["Name"] == f"'{evil}"
    for text in ("=1", "+1", "-1+1", "@x", "\t=1", "\r=1", "\n=1", " =1", "＝1"):
        assert as_text(text) == f"'{text}"


def test_x3_no_file_holds_access_secrets_codes_or_sessions(network: Network, offer: Offer, staff: Staff) -> None:
    live(network, offer, 1)
    secret = "AKEYTHATNOBODYSHOULDSEE"
    rental = Rental.objects.get()
    operator = make_customer("handing@example.com")
    for state in ("preparing", "ready"):
        move(rental.pk, state, actor=operator)
    hand_over(rental.pk, Access(ssh_host="gpu-1.example", ssh_user="root", notes=secret), actor=operator)
    made = codes.new_set(operator, actor=operator)
    client = staff("owner")
    text = " ".join(str(row) for name in MODELS for row in rows_of(client, name))
    session = client.session.session_key
    assert rental.order.number in text
    for hidden in (secret, str(rental.token), session, operator.password, *made):
        assert hidden and hidden not in text
    assert not [name for name in MODELS if any(word in name for word in ("session", "code", "token", "authenticator"))]


def test_a_long_list_is_cut_and_its_file_says_so(
    network: Network, offer: Offer, staff: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("events.downloads.LIMIT", 3)
    live(network, offer, 2)
    rows = rows_of(staff("operator"), "orders_order")
    assert len(rows) == 4 and rows[-1]["Order number"].startswith("More than 3 rows")


def test_a_file_is_written_while_rows_are_read(network: Network, offer: Offer, staff: Staff) -> None:
    """No count, no page: a fixed number of queries, and nothing before the first line is asked for."""
    live(network, offer, 3)
    client = staff("operator")
    with CaptureQueriesContext(connection) as queries:
        answer: Any = client.get(reverse("admin:payments_chaintransfer_download"))
        assert not [query for query in queries if "COUNT(" in query["sql"]]
        asked = len(queries)
        assert len(list(answer.streaming_content)) == 4
    assert len(queries) == asked + 1


def test_a_change_in_the_admin_is_an_event_with_before_and_after(network: Network, offer: Offer, staff: Staff) -> None:
    client = staff("operator")
    Environment.objects.all().delete()
    made = Environment.objects.create(code="jax", name="JAX", position=3)
    page = reverse("admin:orders_environment_change", args=[made.pk])
    client.post(page, {"code": "jax", "name": "JAX 2", "position": "3", "offered": "on"})
    event = Event.objects.get(kind="environment.changed")
    assert (
        event.data["changes"]["name"] == ["JAX", "JAX 2"]
        and event.actor
        and event.actor.email == "operator@example.com"
    )
    client.post(reverse("admin:pause_begin"), {"subject": f"offer:{offer.pk}", "reason": "broken fans"})
    assert Event.objects.get(kind="offer.paused").actor == event.actor
