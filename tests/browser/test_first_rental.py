"""A person starts `./run` on a fresh data folder and rents a GPU in Chromium; an operator hands it over."""

import os
import re
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.browser

PASSWORD = "a long sentence about lattices"
SHOTS = Path(os.environ["SCREENSHOTS"]) if os.environ.get("SCREENSHOTS") else None


@dataclass(frozen=True)
class Site:
    url: str
    owner_password: str


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Start `./run` with a port and a data folder of its own; stop it as a person does."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tmp_path_factory.mktemp("run")
    kept = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE")}
    env = kept | {"PORT": str(port), "DATA_DIR": str(folder / "data")}
    with (folder / "out").open("w") as out:
        run = subprocess.Popen(["./run"], cwd=settings.BASE_DIR, env=env, stdout=out, stderr=out)
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(f"{url}/healthz", run, folder / "out")
            said = (folder / "out").read_text()
            found = re.search(r"password, shown only this once: (\S+)", said)
            assert found, said
            yield Site(url, found[1])
        finally:
            run.send_signal(signal.SIGTERM)
            assert run.wait(30) == 0, (folder / "out").read_text()


def wait_for(url: str, run: "subprocess.Popen[bytes]", out: Path) -> None:
    for _ in range(240):
        time.sleep(0.25)
        assert run.poll() is None, out.read_text()
        try:
            with urllib.request.urlopen(url) as answer:
                assert answer.status == 200
                return
        except OSError:
            continue
    pytest.fail(f"{url} never answered: {out.read_text()}")


@pytest.fixture
def new_page(browser: Browser, site: Site) -> "Iterator[type]":
    """Yield a way to open pages as different people; every console error fails the test."""
    problems: list[str] = []
    contexts = []

    def open_page(**options: object) -> Page:
        context = browser.new_context(base_url=site.url, locale="en-US", **options)  # type: ignore[arg-type]
        contexts.append(context)
        context.set_default_timeout(10_000)
        page = context.new_page()
        page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
        page.on("response", lambda r: problems.append(f"{r.status} {r.url}") if r.status >= 400 else None)
        page.on("pageerror", lambda e: problems.append(str(e)))
        page.on("request", lambda r: None if r.url.startswith((site.url, "data:")) else problems.append(r.url))
        return page

    yield open_page  # type: ignore[misc]
    for context in contexts:
        context.close()
    assert not problems


def shot(page: Page, name: str) -> None:
    if SHOTS:
        SHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SHOTS / f"{name}.png", full_page=True)


def order_and_register(page: Page) -> None:
    page.goto("/gpus/")
    shot(page, "01-catalog")
    page.get_by_role("link", name="B200 (SXM)").first.click()
    page.get_by_text("7 days").first.click()
    page.fill("[name=lots]", "2")
    page.locator("[name=lots]").blur()
    figures = page.locator(".figures")
    expect(figures).to_contain_text("4")  # two lots are four cards
    shot(page, "02-offer")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Whose order is it?")).to_be_visible()
    shot(page, "03-account")
    page.get_by_role("link", name="Create an account").click()
    page.fill("[name=first_name]", "Ada")
    page.fill("[name=last_name]", "Lovelace")
    page.fill("[name=email]", "ada@example.com")
    page.fill("[name=password1]", PASSWORD)
    shot(page, "04-signup")
    page.get_by_role("button", name="Create the account").click()
    expect(page.locator(".codes li")).to_have_count(8)
    shot(page, "04-recovery-codes")
    page.get_by_role("link", name="I have kept them").click()
    expect(page.get_by_role("heading", name="Check the order")).to_be_visible()
    expect(page.locator("[name=first_name]")).to_have_value("Ada")
    shot(page, "05-check")
    page.get_by_role("button", name="Save the order").click()
    expect(page.locator("h1 .number")).to_contain_text("GL-")
    shot(page, "06-order")


def ask_for_instructions(page: Page) -> None:
    page.get_by_role("link", name="Choose a payment method").first.click()
    shot(page, "07-choose")
    page.get_by_text("ETH on Ethereum").first.click()
    page.get_by_role("button", name="Get payment instructions").click()
    expect(page.locator(".qr svg")).to_be_visible()
    expect(page.get_by_text("Send ETH on Ethereum only.")).to_be_visible()
    shot(page, "08-instructions")


def pay_from_the_demo_wallet(page: Page) -> None:
    """Pay in another tab, as a person would, and watch this one change by itself."""
    wallet = page.context.new_page()
    wallet.goto(page.locator("main").get_by_role("link", name="Open the demo wallet").get_attribute("href") or "")
    shot(wallet, "09-wallet")
    wallet.get_by_role("button", name="Pay", exact=True).click()
    wallet.wait_for_url("**/pay/**")
    wallet.close()


def watch_it_become_paid(page: Page) -> list[str]:
    """Return the words that stood on the page, in order, without a reload."""
    words: list[str] = []
    page.evaluate("window.notReloaded = true")
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        word = page.locator("#payment-status .badge").first.inner_text().strip()
        if not words or words[-1] != word:
            words.append(word)
            shot(page, f"10-status-{len(words)}")
        if word == "Paid" and page.locator("#payment-status [data-provisioning=queued].now").count():
            break
        page.wait_for_timeout(150)
    assert page.evaluate("window.notReloaded") is True
    expect(page.locator("#payment-status [data-provisioning=queued].now")).to_contain_text("Queued")
    return words


def hand_over(page: Page, site: Site) -> None:
    page.goto("/admin/")
    page.fill("[name=login]", "owner@example.com")
    page.fill("[name=password]", site.owner_password)
    page.locator("main").get_by_role("button", name="Sign in", exact=True).click()
    page.goto("/admin/provisioning/rental/")
    shot(page, "11-admin-rentals")
    page.locator("#result_list tbody a").first.click()
    page.get_by_role("button", name="Start preparing").click()
    page.get_by_role("button", name="Machine is ready").click()
    shot(page, "12-admin-rental")
    page.locator(".rental-steps").get_by_role("link", name="Hand over").click()
    page.fill("[name=ssh_host]", "gpu-17.example.net")
    page.fill("[name=ssh_port]", "2222")
    page.fill("[name=ssh_user]", "ada")
    page.fill("[name=key_fingerprint]", "SHA256:k3y")
    page.check("[name=checked]")
    shot(page, "13-admin-hand-over")
    page.get_by_role("button", name="Hand over").click()


def test_a_person_rents_a_gpu_from_a_fresh_run(new_page, site: Site) -> None:  # type: ignore[no-untyped-def]
    customer = new_page()
    order_and_register(customer)
    order_url = customer.url
    ask_for_instructions(customer)
    pay_from_the_demo_wallet(customer)
    words = watch_it_become_paid(customer)
    assert words[0] == "Waiting" or words[0] == "Seen"
    assert "Seen" in words
    assert any(word.startswith("Confirming") for word in words)
    assert words[-1] == "Paid"
    assert [w.split()[0].strip(",") for w in words if w != "Waiting"] == sorted(
        (w.split()[0].strip(",") for w in words if w != "Waiting"), key=["Seen", "Confirming", "Paid"].index
    )

    customer.goto(order_url)
    expect(customer.locator(".tracks")).to_contain_text(re.compile("queued", re.I))
    expect(customer.locator(".tracks")).to_contain_text(re.compile("not set yet", re.I))
    hand_over(new_page(), site)
    expect(customer.locator(".tracks")).to_contain_text(re.compile("active", re.I), timeout=15_000)
    shot(customer, "14-order-active")
    customer.get_by_role("link", name="Open the access information").click()
    expect(customer.get_by_text("gpu-17.example.net")).to_have_count(0)
    customer.get_by_role("button", name="Show the access information").click()
    expect(customer.get_by_text("ssh -p 2222 ada@gpu-17.example.net").first).to_be_visible()
    shot(customer, "15-access")
    customer.goto("/orders/")
    expect(customer.locator("table")).to_contain_text(re.compile("active", re.I))
    shot(customer, "16-my-rentals")
    customer.goto("/balance/")
    shot(customer, "17-balance")
