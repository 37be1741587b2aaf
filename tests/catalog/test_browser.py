"""The configurator in Chromium, with and without scripts."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from pytest_django.live_server_helper import LiveServer

from catalog.models import Offer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(browser: "Browser", live_server: LiveServer) -> "Iterator[Page]":
    context = browser.new_context(base_url=live_server.url)
    yield context.new_page()
    context.close()


def test_cat_5_the_figures_follow_the_choice(page: "Page", b200: Offer) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.goto(b200.get_absolute_url())
    page.get_by_role("button", name="One more").click()
    page.get_by_text("$20.00", exact=True).first.wait_for()
    page.get_by_label("30 days").check()
    page.locator("#figures").get_by_text("$120.00").wait_for()
    assert page.locator("#figures dd").first.inner_text() == "2"
    assert "4" in page.locator("#figures dd").nth(1).inner_text()
    page.get_by_label("Lots").fill("11")
    page.get_by_text("An order takes 1 to 10 lots").wait_for()
    assert complaints == []


def test_cat_5_the_figures_come_without_scripts(browser: "Browser", live_server: LiveServer, b200: Offer) -> None:
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.goto(b200.get_absolute_url())
    page.get_by_label("7 days").check()
    page.get_by_label("Lots").fill("3")
    page.get_by_role("button", name="Update figures").click()
    assert page.url.endswith("term=7&lots=3&environment=ubuntu&environment_other=")
    assert page.locator("#figures dd").nth(2).inner_text() == "$60.00"
    assert page.get_by_label("7 days").is_checked()
    context.close()


def test_cat_8_a_filter_changes_the_list_and_its_address(page: "Page", b200: Offer, rtx: Offer) -> None:
    page.goto("/gpus/")
    page.get_by_label("Memory per card").select_option("96")
    page.get_by_text("1 card matches.").wait_for()
    page.wait_for_url("**memory=96**")
    page.get_by_role("link", name="Show all cards").click()
    page.get_by_text("2 cards match.").wait_for()
