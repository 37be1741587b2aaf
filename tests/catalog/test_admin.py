import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from story import make_customer, save_order

from catalog.actions import give_back_lots, take_lots
from catalog.models import Offer, Pause, Price
from events.models import Event
from orders.actions import end_hold
from orders.models import Order

pytestmark = pytest.mark.django_db


def form_of(client: Client, offer: Offer) -> dict[str, Any]:
    """Return what the change page would send, unedited, with what it remembers of what it showed."""
    page = client.get(reverse("admin:catalog_offer_change", args=[offer.pk]))
    form = page.context["adminform"].form
    data = shown(form)
    formset = page.context["inline_admin_formsets"][0].formset
    data |= {f"prices-{name}": formset.management_form[name].value() for name in formset.management_form.fields}
    for part in formset.forms:
        data |= shown(part)
    return {name: value for name, value in data.items() if value is not None and value is not False}


def shown(form: Any) -> dict[str, Any]:
    data = {form.add_prefix(name): form[name].value() for name in form.fields}
    before = {form.add_initial_prefix(name): form[name].value() for name in form.fields}
    return data | {name: value for name, value in before.items() if form.instance.pk}


def send(client: Client, offer: Offer, data: dict[str, Any]) -> str:
    """Send a form, or a preview, and return the page that follows."""
    response = client.post(reverse("admin:catalog_offer_change", args=[offer.pk]), data, follow=True)
    assert not (response.context and response.context.get("errors")), response.context["errors"]
    return unescape(" ".join(response.content.decode().split()))


def save(client: Client, offer: Offer, **edits: Any) -> str:
    return send(client, offer, form_of(client, offer) | edits)


def confirm(client: Client, offer: Offer, preview: str, **more: str) -> str:
    """Press "save it" on a preview."""
    assert "What this changes" in preview
    found = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', preview))
    return send(client, offer, found | more)


def prices_of(offer: Offer) -> list[int | None]:
    return [cents for _, cents in Offer.objects.get(pk=offer.pk).term_prices]


def test_cat_10_a_change_of_price_and_stock_is_shown_before_it_is_saved(admin_client: Client, rtx: Offer) -> None:
    preview = save(admin_client, rtx, name="RTX 4090 quiet", lots=9, **{"prices-0-usd": "12.34"})
    rtx.refresh_from_db()
    assert (rtx.name, rtx.lots, prices_of(rtx)) == ("RTX 4090", 5, [1000, 2000, 6000])
    for words in ("Price of a lot, 3 days", "$10.00", "$12.34", "RTX 4090 quiet"):
        assert words in preview
    confirm(admin_client, rtx, preview)
    rtx.refresh_from_db()
    assert (rtx.name, rtx.lots, prices_of(rtx)) == ("RTX 4090 quiet", 9, [1234, 2000, 6000])
    event = Event.objects.get(kind="offer.changed")
    assert event.actor and event.actor.is_superuser
    assert event.data["changes"] == {
        "name": ["RTX 4090", "RTX 4090 quiet"], "lots": [5, 9], "price_3": [1000, 1234],
    }  # fmt: skip


def test_p7_the_preview_names_the_orders_that_keep_their_price(admin_client: Client, rtx: Offer) -> None:
    order = save_order(make_customer(), rtx, lots=2)
    preview = save(admin_client, rtx, **{"prices-1-usd": "99.00"})
    assert order.number in preview and "1 keeps the price" in preview
    assert "2 held by unpaid orders, 0 in use by paid ones" in preview
    confirm(admin_client, rtx, preview)
    order.refresh_from_db()
    assert (order.unit_price_cents, order.total_cents, prices_of(rtx)[1]) == (2000, 4000, 9900)


def test_cat_10_the_preview_names_the_orders_that_would_find_no_stock_again(admin_client: Client, rtx: Offer) -> None:
    """An order whose hold is over finds none among what is left; what is held only if lots are short at all."""
    held = save_order(make_customer("a@example.com"), rtx, lots=2)
    ended = save_order(make_customer("b@example.com"), rtx, lots=3)
    end_hold(ended.pk, now=ended.created_at + timedelta(days=1))
    stranded = re.compile(r"(GL-[\w-]+)</a>(?:(?!</tr>).)*finds none again")
    assert stranded.findall(save(admin_client, rtx, lots=5, vendor="Nvidia", cards_per_lot=2)) == []
    assert stranded.findall(save(admin_client, rtx, lots=4)) == [ended.number]
    assert stranded.findall(save(admin_client, rtx, lots=1)) == [held.number, ended.number]


def test_s16_stock_below_what_is_taken_needs_a_second_yes_with_the_numbers(admin_client: Client, rtx: Offer) -> None:
    take_lots(rtx.pk, 4)
    preview = save(admin_client, rtx, lots=1)
    assert "3 lots short: 4 are taken, 1 would exist" in preview
    refused = confirm(admin_client, rtx, preview)
    assert "confirm the shortfall as well" in refused
    assert "confirm the shortfall as well" in confirm(admin_client, rtx, preview, accepted="2")
    rtx.refresh_from_db()
    assert (rtx.lots, rtx.short) == (5, 0)
    page = confirm(admin_client, rtx, preview, accepted="3")
    assert "3 lots short: 4 are taken, 1 exist" in page
    rtx.refresh_from_db()
    assert (rtx.lots, rtx.taken, rtx.short) == (1, 4, 3)


def test_s16_a_shortfall_stays_a_red_line_on_the_offer_and_in_the_list(admin_client: Client, rtx: Offer) -> None:
    take_lots(rtx.pk, 4)
    confirm(admin_client, rtx, save(admin_client, rtx, lots=1), accepted="3")
    pages = [reverse("admin:catalog_offer_changelist"), reverse("admin:catalog_offer_change", args=[rtx.pk])]
    for page in pages:
        text = admin_client.get(page).content.decode()
        assert re.search(r'class="errornote">[^<]*(<a[^<]*</a>: )?3 lots short: 4 are taken, 1 exist', text), page
    give_back_lots(rtx.pk, 3)
    assert "lots short:" not in admin_client.get(pages[0]).content.decode()


def test_no_change_is_lost_when_stock_moves_between_preview_and_saving(admin_client: Client, rtx: Offer) -> None:
    preview = save(admin_client, rtx, lots=3)
    take_lots(rtx.pk, 2)
    again = confirm(admin_client, rtx, preview)
    assert "moved meanwhile" in again and "Nothing was saved" in again
    assert Offer.objects.get(pk=rtx.pk).lots == 5
    confirm(admin_client, rtx, again)
    rtx.refresh_from_db()
    assert (rtx.lots, rtx.taken) == (3, 2)


def test_a_page_that_was_open_long_writes_only_what_was_edited_on_it(admin_client: Client, rtx: Offer) -> None:
    """Another operator changed a price and the vendor meanwhile; both stay."""
    opened = form_of(admin_client, rtx)
    confirm(admin_client, rtx, save(admin_client, rtx, vendor="Nvidia", **{"prices-0-usd": "15.00"}))
    confirm(admin_client, rtx, send(admin_client, rtx, opened | {"lots": 8}))
    rtx.refresh_from_db()
    assert (rtx.vendor, rtx.lots, prices_of(rtx)) == ("Nvidia", 8, [1500, 2000, 6000])


def test_saving_the_page_does_not_undo_what_was_taken_meanwhile(admin_client: Client, rtx: Offer) -> None:
    opened = form_of(admin_client, rtx)
    take_lots(rtx.pk, 4)
    assert "What this changes" not in send(admin_client, rtx, opened | {"vendor": "Nvidia"})  # it touches no order
    rtx.refresh_from_db()
    assert (rtx.vendor, rtx.taken) == ("Nvidia", 4)


def test_a_page_that_is_saved_unedited_changes_nothing(admin_client: Client, rtx: Offer) -> None:
    save(admin_client, rtx)
    assert not Event.objects.filter(kind="offer.changed").exists()


@pytest.mark.parametrize("usd", ["0", "-1", "1.001", "free"])
def test_a_price_is_a_positive_amount_in_cents(admin_client: Client, rtx: Offer, usd: str) -> None:
    data = form_of(admin_client, rtx) | {"prices-0-usd": usd}
    response = admin_client.post(reverse("admin:catalog_offer_change", args=[rtx.pk]), data)
    assert response.context["errors"]
    assert Price.objects.get(offer=rtx, term_days=3).unit_price_cents == 1000


def test_ops_8_an_operator_pauses_offers_with_a_reason_and_never_deletes_them(admin_client: Client, rtx: Offer) -> None:
    page = reverse("admin:catalog_offer_changelist")
    assert "delete_selected" not in admin_client.get(page).content.decode()
    order = save_order(make_customer(), rtx)
    asked = admin_client.post(page, {"action": "hide", "_selected_action": [rtx.pk]}, follow=True)
    assert order.number in asked.content.decode()
    rtx.refresh_from_db()
    assert rtx.published
    data = {"subject": f"offer:{rtx.pk}", "reason": "recall", "sentence_en": "Back in May."}
    admin_client.post(reverse("admin:pause_begin"), data)
    rtx.refresh_from_db()
    pause = Pause.objects.get()
    assert (rtx.published, pause.reason, pause.sentence) == (False, "recall", "Back in May.")
    assert "recall" in admin_client.get(reverse("admin:catalog_offer_change", args=[rtx.pk])).content.decode()
    admin_client.post(reverse("admin:pause_end"), {"subject": f"offer:{rtx.pk}", "reason": "repaired"})
    rtx.refresh_from_db()
    assert rtx.published and not Pause.objects.on().exists()
    kinds = list(Event.objects.filter(thread=f"offer:{rtx.pk}").order_by("id").values_list("kind", flat=True))
    assert kinds == ["offer.paused", "offer.published"]
    assert Order.objects.get().state == Order.State.OPEN


def test_an_operator_adds_an_offer_with_prices(admin_client: Client, rtx: Offer) -> None:
    facts = form_of(admin_client, rtx) | {"name": "New", "slug": "new", "prices-INITIAL_FORMS": 0}
    facts |= {f"prices-{row}-id": "" for row in range(3)} | {f"prices-{row}-offer": "" for row in range(3)}
    response = admin_client.post(reverse("admin:catalog_offer_add"), facts)
    assert response.status_code == 302, response.context["errors"]
    new = Offer.objects.get(slug="new")
    assert [cents for _, cents in new.term_prices] == [1000, 2000, 6000]
    assert Event.objects.get(kind="offer.added").subject == f"offer:{new.pk}"
