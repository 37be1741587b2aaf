from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from catalog.actions import take_lots
from catalog.models import Offer, Price

pytestmark = pytest.mark.django_db


def form_of(client: Client, offer: Offer) -> dict[str, Any]:
    """Return what the change page would send, unedited."""
    page = client.get(reverse("admin:catalog_offer_change", args=[offer.pk]))
    form = page.context["adminform"].form
    data = {name: form[name].value() for name in form.fields}
    formset = page.context["inline_admin_formsets"][0].formset
    for part in (formset.management_form, *formset.forms):
        data |= {part.add_prefix(name): part[name].value() for name in part.fields}
    return {name: value for name, value in data.items() if value is not None and value is not False}


def save(client: Client, offer: Offer, **edits: Any) -> str:
    response = client.post(
        reverse("admin:catalog_offer_change", args=[offer.pk]), form_of(client, offer) | edits, follow=True
    )
    assert not response.context.get("errors"), response.context["errors"]
    return response.content.decode()


def test_cat_10_an_operator_changes_facts_prices_and_stock(admin_client: Client, rtx: Offer) -> None:
    save(admin_client, rtx, name="RTX 4090 quiet", lots=9, **{"prices-0-usd": "12.34"})
    rtx.refresh_from_db()
    assert (rtx.name, rtx.lots) == ("RTX 4090 quiet", 9)
    assert Price.objects.get(offer=rtx, term_days=3).unit_price_cents == 1234


def test_s16_stock_below_what_is_taken_shows_the_shortfall(admin_client: Client, rtx: Offer) -> None:
    take_lots(rtx.pk, 4)
    page = save(admin_client, rtx, lots=1)
    assert "3 lots short: 4 are taken, 1 exist" in page
    rtx.refresh_from_db()
    assert (rtx.lots, rtx.taken, rtx.short) == (1, 4, 3)


def test_saving_the_page_does_not_undo_what_was_taken_meanwhile(admin_client: Client, rtx: Offer) -> None:
    opened = form_of(admin_client, rtx)
    take_lots(rtx.pk, 4)
    admin_client.post(reverse("admin:catalog_offer_change", args=[rtx.pk]), opened | {"vendor": "Nvidia"})
    rtx.refresh_from_db()
    assert (rtx.vendor, rtx.taken) == ("Nvidia", 4)


@pytest.mark.parametrize("usd", ["0", "-1", "1.001", "free"])
def test_a_price_is_a_positive_amount_in_cents(admin_client: Client, rtx: Offer, usd: str) -> None:
    data = form_of(admin_client, rtx) | {"prices-0-usd": usd}
    response = admin_client.post(reverse("admin:catalog_offer_change", args=[rtx.pk]), data)
    assert response.context["errors"]
    assert Price.objects.get(offer=rtx, term_days=3).unit_price_cents == 1000


def test_ops_8_an_operator_pauses_offers_and_never_deletes_them(admin_client: Client, rtx: Offer) -> None:
    page = reverse("admin:catalog_offer_changelist")
    assert "delete_selected" not in admin_client.get(page).content.decode()
    admin_client.post(page, {"action": "hide", "_selected_action": [rtx.pk]})
    rtx.refresh_from_db()
    assert not rtx.published
    admin_client.post(page, {"action": "show", "_selected_action": [rtx.pk]})
    rtx.refresh_from_db()
    assert rtx.published


def test_an_operator_adds_an_offer_with_prices(admin_client: Client, rtx: Offer) -> None:
    facts = form_of(admin_client, rtx) | {"name": "New", "slug": "new", "prices-INITIAL_FORMS": 0}
    facts |= {f"prices-{row}-id": "" for row in range(3)} | {f"prices-{row}-offer": "" for row in range(3)}
    response = admin_client.post(reverse("admin:catalog_offer_add"), facts)
    assert response.status_code == 302, response.context["errors"]
    new = Offer.objects.get(slug="new")
    assert [cents for _, cents in new.term_prices] == [1000, 2000, 6000]
