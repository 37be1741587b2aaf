"""Be a web process for a moment: load the application, ask for pages, print which chain libraries are loaded.

Run by test_web_imports.py in a process of its own, since the tests themselves load these libraries.
"""

import os
import sys
import uuid
from io import StringIO

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

import config.wsgi  # noqa: F401  # loads Django, so it comes first

# isort: split
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.actions import create_account
from accounts.models import User
from catalog.models import Offer
from orders.actions import place_order
from orders.choice import Choice, Contact
from orders.models import Order
from payments import installation
from payments.actions.reserve import add_addresses
from payments.models import NetworkCursor
from payments.registry import families, is_simulated, methods
from payments.tasks import fill_reserves, sample_rates, watch_all

CHAIN_LIBRARIES = ("web3", "eth_account", "tronpy", "solana", "solders", "bitcoinlib", "sqlalchemy", "coincurve")


def visit(client: Client, address: str, **form: str) -> str:
    """Ask for a page as a browser would and return where it led."""
    answer = client.post(address, form, follow=True) if form else client.get(address, follow=True)
    if answer.status_code != 200:
        sys.exit(f"{address} answered {answer.status_code}")
    return answer.redirect_chain[-1][0] if answer.redirect_chain else address


def place(customer: User, offer: Offer) -> Order:
    price = offer.prices.get(term_days=7)
    return place_order(
        customer=customer,
        choice=Choice(offer.slug, 7, 1, "pytorch", "PyTorch"),
        contact=Contact("Ada", "Byron", "ada@example.com"),
        form_key=uuid.uuid4(),
        expected_total_cents=price.unit_price_cents,
    )


def leave_what_a_worker_leaves() -> None:
    """Write the rows that a worker of real networks would have written: in a process of its own, with its libraries."""
    for network in families():
        derived = [(index, f"0x{index:040x}") for index in range(5)]
        add_addresses(network, genesis="0x0", fingerprint="f", derived=derived)
        now = timezone.now()
        read = {"genesis": "0x0", "recent": [[1, "0x1"]], "watched_until": now, "last_pass_at": now}
        NetworkCursor.objects.filter(pk=network).update(**read)


call_command("migrate", verbosity=0)
call_command("loadcatalog", verbosity=0, stdout=StringIO())
installation.birth()
sample_rates()
if is_simulated():
    watch_all()  # the simulated network's worker needs no chain library either
    fill_reserves()
else:
    leave_what_a_worker_leaves()

customer = create_account(email="ada@example.com", password=uuid.uuid4().hex, first_name="Ada", last_name="Byron")
offer = Offer.objects.filter(published=True).order_by("-lots").first()
assert offer
client = Client(SERVER_NAME="localhost")
for address in (reverse("home"), reverse("catalog:list"), reverse("catalog:offer", args=[offer.slug])):
    visit(client, address)
client.force_login(customer)
order = place(customer, offer)
for address in (
    reverse("payments:doctor"),
    reverse("payments:proof"),
    reverse("orders:list"),
    reverse("orders:detail", args=[order.number]),
):
    visit(client, address)
for method in methods():  # an order of its own for each: one order has few instructions at a time
    pay = reverse("payments:choose", args=[place(customer, offer).number])
    visit(client, pay)
    instructions = visit(client, pay, method=method.code, form_key=str(uuid.uuid4()))
    if not instructions.startswith("/pay/"):
        sys.exit(f"{method.code} gave no payment instructions")
    visit(client, instructions)
assert families()
print("loaded:", *(name for name in CHAIN_LIBRARIES if name in sys.modules))
