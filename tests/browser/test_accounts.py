"""Accounts in Chromium: registration with codes, passkeys by a virtual authenticator, sessions of two browsers."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer
from story import PASSWORD, make_customer, make_offer

from accounts.actions.roles import set_role
from accounts.models import User

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NewPage = Callable[..., "Page"]
KEY = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True,
    "hasUserVerification": True, "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip


@pytest.fixture
def new_page(browser: "Browser", live_server: LiveServer, settings: Settings) -> Iterator[NewPage]:
    """Return a way to open a browser of its own; whatever its console complains of fails the test."""
    settings.ACCOUNT_RATE_LIMITS = dict.fromkeys(settings.ACCOUNT_RATE_LIMITS, "")
    problems: list[str] = []
    contexts: list[BrowserContext] = []

    def open_page(**options: Any) -> "Page":
        context = browser.new_context(base_url=live_server.url, locale="en-US", **options)
        contexts.append(context)
        context.set_default_timeout(10_000)
        page = context.new_page()
        page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not problems


def with_authenticator(page: "Page") -> "Page":
    """Give a page a device that keeps passkeys and says yes."""
    devices = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": KEY})
    return page


def sign_in(page: "Page", email: str) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.locator("main").get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(lambda url: "/login/" not in url)


def add_passkey(page: "Page") -> None:
    page.goto("/accounts/2fa/webauthn/add/")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="It is me").click()
    page.get_by_label("Name").fill("This laptop")
    page.get_by_role("button", name="Make the passkey").click()
    page.wait_for_url("**/2fa/recovery-codes/")


def test_a_passkey_is_made_and_signs_in_alone(new_page: NewPage) -> None:
    ada = make_customer()
    page = with_authenticator(new_page())
    sign_in(page, ada.email)
    add_passkey(page)
    page.get_by_role("heading", name="Spare codes", exact=True).wait_for()
    page.goto("/accounts/2fa/webauthn/")
    row = page.get_by_role("row", name=re.compile("This laptop"))
    assert "signs in without the password" in row.inner_text()
    page.goto("/accounts/logout/")
    page.locator("main").get_by_role("button", name="Sign out").click()
    page.goto("/accounts/login/?next=/journal/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url(lambda url: "/login/" not in url)
    assert page.url.endswith("/journal/")
    page.goto("/accounts/")
    assert ada.email in page.locator("main").inner_text()


def test_a_passkey_passes_a_throttle_that_a_stranger_has_filled(new_page: NewPage, settings: Settings) -> None:
    ada = make_customer()
    page = with_authenticator(new_page())
    sign_in(page, ada.email)
    add_passkey(page)
    page.context.clear_cookies()  # neither signed in nor known any more
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"login_failed": "2/5m/key"}
    stranger = new_page()
    for _ in range(3):
        stranger.goto("/accounts/login/")
        stranger.get_by_label("Email").fill(ada.email)
        stranger.get_by_label("Password", exact=True).fill("guess after guess after guess")
        stranger.locator("main").get_by_role("button", name="Sign in", exact=True).click()
    stranger.get_by_text("Too many failed login").wait_for()
    page.goto("/accounts/login/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url("**/orders/")


def test_a_passkey_that_is_put_away_changes_nothing_and_is_said_in_the_page(new_page: NewPage) -> None:
    page = new_page()
    devices = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": KEY | {"isUserVerified": False}})
    page.goto("/accounts/login/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_text("The passkey was not used").wait_for()


def test_staff_open_the_admin_with_a_passkey_and_not_without(new_page: NewPage, settings: Settings) -> None:
    settings.STAFF_SECOND_FACTOR = True
    operator = make_customer("op@example.com")
    set_role(operator, "operator", actor=None)
    page = with_authenticator(new_page())
    sign_in(page, operator.email)
    page.goto("/admin/")
    page.get_by_role("heading", name="A second factor is needed").wait_for()
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="It is me").click()
    page.get_by_role("button", name="Make the passkey").click()
    page.wait_for_url("**/2fa/recovery-codes/")
    page.goto("/admin/")
    page.get_by_role("heading", name="What needs a person").wait_for()


def test_registration_shows_the_codes_and_one_of_them_opens_the_account_again(new_page: NewPage) -> None:
    make_offer()
    page = new_page()
    page.goto("/order/new/?offer=h100-sxm&term=7&lots=2")
    page.get_by_role("button", name="Keep it for later").click()
    page.get_by_role("link", name="H100 SXM").click()
    page.get_by_role("link", name="Create an account").click()
    for field, text in {"First name": "Grace", "Last name": "Hopper", "Email": "grace@example.com"}.items():
        page.get_by_label(field).fill(text)
    page.get_by_label("Password", exact=True).fill("a long sentence about lattices")
    page.get_by_text("Long and varied").wait_for()
    page.get_by_role("button", name="Create the account").click()
    codes = page.locator(".codes code").all_inner_texts()
    assert len(codes) == 8
    page.get_by_role("link", name="I have kept them").click()
    page.get_by_role("heading", name="Check the order").wait_for()

    elsewhere = new_page()
    elsewhere.goto("/accounts/login/")
    elsewhere.get_by_role("link", name="I lost the password").click()
    elsewhere.get_by_label("Email").fill("grace@example.com")
    elsewhere.get_by_label("Recovery code").fill(codes[3].lower())
    elsewhere.get_by_label("New password").fill(PASSWORD)
    elsewhere.get_by_role("button", name="Set the new password").click()
    elsewhere.get_by_text("every session is ended").wait_for()
    page.goto("/accounts/")
    page.get_by_role("heading", name="Sign in").wait_for()
    sign_in(elsewhere, "grace@example.com")
    elsewhere.goto("/accounts/")
    elsewhere.get_by_text("A recovery code set a new password").wait_for()
    elsewhere.get_by_text("7 unused codes").wait_for()
    assert User.objects.count() == 1


def test_acc_5_one_browser_ends_the_session_of_another_and_of_all_others(new_page: NewPage) -> None:
    ada = make_customer()
    here, phone, third = new_page(), new_page(user_agent="Mozilla/5.0 (iPhone) Safari/604.1"), new_page()
    for page in (here, phone, third):
        sign_in(page, ada.email)
    here.goto("/accounts/sessions/")
    here.get_by_role("row", name=re.compile("Safari, iOS")).get_by_role("button").click()
    here.get_by_text("The session is ended").wait_for()
    phone.goto("/accounts/")
    phone.get_by_role("heading", name="Sign in").wait_for()
    third.goto("/accounts/")
    third.get_by_role("heading", name="Account", exact=True).wait_for()
    here.get_by_role("button", name="End all other sessions").click()
    here.get_by_text("1 other session is ended").wait_for()
    third.goto("/accounts/")
    third.get_by_role("heading", name="Sign in").wait_for()
    here.goto("/accounts/")
    here.get_by_role("heading", name="Account", exact=True).wait_for()


def test_ui_2_everything_but_passkeys_works_without_scripts(new_page: NewPage) -> None:
    ada = make_customer()
    page = new_page(java_script_enabled=False)
    sign_in(page, ada.email)
    page.goto("/accounts/recovery-codes/")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="It is me").click()
    page.get_by_role("button", name="Make 8 new codes").click()
    assert page.locator(".codes code").count() == 8
    page.goto("/accounts/2fa/webauthn/add/")
    page.get_by_text("Passkeys need scripts").wait_for()
