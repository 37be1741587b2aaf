"""OPS-3: the desk by keyboard alone, and without scripts."""

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer
from story import PASSWORD, Network, make_customer, make_offer, save_order

from accounts.actions.roles import set_role

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_ops_3_an_order_is_looked_up_and_left_by_keyboard(
    browser: "Browser", live_server: LiveServer, network: Network, scripts: bool
) -> None:
    person = make_customer("support@example.com")
    set_role(person, "support", actor=None)
    order = save_order(make_customer(), make_offer())
    context = browser.new_context(base_url=live_server.url, locale="en-US", java_script_enabled=scripts)
    page = context.new_page()
    page.goto("/accounts/login/?next=/support/")
    page.get_by_label("Email").fill(person.email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/support/")
    expect(page.locator("#id_text")).to_be_focused()
    page.keyboard.type(f"gl {order.symbols[:7]}".lower())
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Did you mean?")).to_be_visible()
    page.get_by_role("button", name=re.compile(order.number)).press("Enter")
    expect(page.get_by_role("heading", name=re.compile(order.number))).to_be_visible()
    if scripts:
        page.keyboard.press("/")
        expect(page.locator("#id_text")).to_be_focused()
        expect(page.locator("#id_text")).to_have_value("")
    page.get_by_role("button", name=re.compile("ada@example.com")).press("Enter")
    expect(page.get_by_role("heading", name="Ada Lovelace")).to_be_visible()
    context.close()
