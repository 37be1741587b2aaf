"""Visit a running site as a browser without scripts does: forms with their hidden fields, one customer, one order."""

import re
import time
from collections.abc import Callable

import httpx


def answers(client: httpx.Client) -> bool:
    try:
        return client.get("/healthz").status_code == 200
    except httpx.TransportError:
        return False


def until(true: Callable[[], object], why: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, why()
        time.sleep(0.2)


def hidden(page: httpx.Response) -> dict[str, str]:
    """Return the hidden fields of a page's forms."""
    return dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text))


def filled(page: httpx.Response) -> dict[str, str]:
    """Return all fields of a page's forms that are filled in, as they are."""
    chosen = re.findall(
        r'<select name="([^"]+)"(?:(?!</select>).)*<option value="([^"]*)" selected', page.text, re.DOTALL
    )
    return dict(re.findall(r'<input [^>]*name="([^"]+)" value="([^"]*)"', page.text)) | dict(chosen)


def order(client: httpx.Client) -> str:
    """Register, save an order, and return the address of its page."""
    choice = "offer=h100-sxm&term=3&lots=1&environment=pytorch"
    person = {"first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com"}
    password = {"password1": "a long sentence about lattices"}
    client.post("/accounts/signup/", data=hidden(client.get("/accounts/signup/")) | person | password)
    saved = client.post("/order/new/", data=hidden(client.get(f"/order/new/?{choice}")) | person)
    assert "/orders/GL-" in str(saved.url), saved.text
    return saved.url.path
