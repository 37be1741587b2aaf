"""An open payment page in Chromium: it is told "nothing has changed" (304), stays as it is, ticks on, and moves on by
itself when something does. The reader's own clock is wrong."""

import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer
from story import Network, ask, make_customer, make_offer, save_order

from accounts.models import User
from payments.actions.intents import open_topup_intent
from payments.actions.topups import make_topup

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Response

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# Three hours fast: what is counted down or up must not care.
WRONG_CLOCK = """
    const Right = Date, fast = 3 * 3600e3;
    window.Date = class extends Right {
        constructor(...given) { given.length ? super(...given) : super(Right.now() + fast); }
        static now() { return Right.now() + fast; }
    };
"""
LOOKED = re.compile(r"We last looked (\d+) s ago, at block (\d+)\.")


class Opened:
    """A page that was opened, with the answers to its looks; whatever a browser complains of fails the test."""

    def __init__(self, page: "Page", part: str) -> None:
        self.page, self.part = page, part
        self.looks: list[int] = []
        page.on("response", self.note)

    def note(self, response: "Response") -> None:
        if "/status/" in response.url:
            self.looks.append(response.status)

    def mark(self) -> None:
        self.page.evaluate("name => document.getElementById(name).marked = true", self.part)
        self.looks.clear()

    def stayed(self) -> bool:
        """Whether the part that was marked is still the same element."""
        return bool(self.page.evaluate("name => document.getElementById(name).marked === true", self.part))

    def looked(self) -> tuple[int, int]:
        """Return how long ago the network was read, as the page says, and up to which block."""
        found = LOOKED.search(self.page.locator(f"#{self.part} [data-looked]").inner_text())
        assert found
        return int(found[1]), int(found[2])


@pytest.fixture
def network(transactional_db: None, settings: Settings, tmp_path: Path) -> Network:
    settings.DATA_DIR = tmp_path
    return Network().open()


@pytest.fixture
def page(browser: "Browser", live_server: LiveServer, network: Network) -> "Iterator[Page]":
    """Yield a page of somebody who is signed in."""
    client, problems = Client(), []
    client.force_login(make_customer())
    context = browser.new_context(base_url=live_server.url, locale="en-US", timezone_id="UTC")
    context.set_default_timeout(10_000)
    context.add_init_script(WRONG_CLOCK)
    context.add_cookies(
        [{"name": name, "value": one.value, "url": live_server.url} for name, one in client.cookies.items()]
    )
    page = context.new_page()
    page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
    page.on("response", lambda r: problems.append(f"{r.status} {r.url}") if r.status >= 400 else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    context.close()
    assert not problems


def test_a_waiting_page_is_told_that_nothing_has_changed_and_moves_on_by_itself(page: "Page", network: Network) -> None:
    intent = ask(save_order(User.objects.get(), make_offer()))
    opened = Opened(page, "payment-status")
    page.goto(reverse("payments:intent", args=[intent.pk]))
    page.wait_for_timeout(3_000)  # a first visit gets the cookie that its forms repeat, so its first look differs
    opened.mark()
    before, height = opened.looked()
    page.wait_for_timeout(6_500)
    assert len(opened.looks) >= 2 and set(opened.looks) == {304}
    assert opened.stayed()
    after, same = opened.looked()
    assert (6 <= after - before <= 9, same) == (True, height)  # nobody has read the network meanwhile
    assert re.fullmatch(r"14:[3-5]\d", page.locator("[data-countdown]").inner_text())

    network.mine()  # an empty block
    expect(page.locator("#payment-status [data-looked]")).to_have_text(re.compile(rf" at block {height + 1}\."))
    assert opened.looked()[0] <= 4
    assert opened.stayed() and set(opened.looks) == {304}

    network.pay(intent)
    network.watch()
    expect(page.locator("#payment-status .badge").first).to_have_text(re.compile("Seen"))
    assert not opened.stayed() and opened.looks[-1] == 200
    opened.mark()
    page.wait_for_timeout(4_500)
    assert opened.stayed() and set(opened.looks) == {304}
    network.settle()
    expect(page.locator("#payment-status .badge").first).to_have_text(re.compile("Paid"))


def test_the_page_of_a_top_up_does_the_same(page: "Page", network: Network) -> None:
    customer: Any = User.objects.get()
    topup = make_topup(customer, 10_000, form_key=uuid.uuid4())
    intent = open_topup_intent(topup.pk, "eth", form_key=uuid.uuid4(), actor=customer)
    opened = Opened(page, "topup-live")
    page.goto(reverse("payments:topup", args=[topup.number]))
    page.wait_for_timeout(4_000)
    opened.mark()
    page.wait_for_timeout(7_000)
    assert len(opened.looks) >= 2 and set(opened.looks) == {304}
    assert opened.stayed()
    network.pay(intent)
    network.settle()
    expect(page.locator("#topup-live .notice-title").first).to_have_text(re.compile("Covered"))
