"""What every test may use, and what pytest must know about this project."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import newborn
import pytest
from django.core.cache import cache
from django.db import connection
from django.test import TransactionTestCase
from pytest_django.fixtures import Settings
from pytest_django.plugin import DjangoDbBlocker
from story import Network

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Playwright's synchronous interface runs an event loop in the test's thread, where Django refuses the ORM.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

CHROMIUM_FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync"
).split()


@pytest.fixture(autouse=True)
def _quick_and_clean(settings: Settings) -> None:
    """Hash passwords quickly, and let no test see what another one cached."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    cache.clear()


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """Yield Chromium, driven by Playwright."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        pytest.skip("no Chromium: ./run tools installs it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def redis_url() -> str:
    """Return a Redis that tests may fill and empty. Without one the test is deselected."""
    return os.environ["TEST_REDIS_URL"]


@pytest.fixture(scope="session")
def on_postgresql() -> None:
    """Deselect the test on any other database (see `pytest_collection_modifyitems`)."""


@pytest.fixture(scope="session")
def on_sqlite() -> None:
    """Deselect the test on any other database (see `pytest_collection_modifyitems`)."""


NUMBERED = re.compile(r"test_case_(\d+)((?:_and_\d+)*)_")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give `test_case_17_and_19_…` the id `case-17,case-19`: a case of docs/networks.md is found by its number."""
    if found := NUMBERED.match(metafunc.function.__name__):
        numbers = [found[1], *re.findall(r"\d+", found[2])]
        metafunc.fixturenames.append("_case")
        metafunc.parametrize("_case", [None], ids=[",".join(f"case-{number:0>2}" for number in numbers)])


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_itemcollected(item: pytest.Item) -> None:
    if "case-" in item.name:
        item.add_marker("cases")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what asks by a fixture for something that this run does not have: it is not a skipped test."""
    absent = {
        "redis_url": not os.environ.get("TEST_REDIS_URL"),
        "on_postgresql": connection.vendor != "postgresql",
        "on_sqlite": connection.vendor != "sqlite",
    }
    unwanted = {name for name, is_absent in absent.items() if is_absent}
    out = [item for item in items if unwanted.intersection(getattr(item, "fixturenames", ()))]
    if out:
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item not in out]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Write the counts where tests/suite.py reads them. Errors count as failures, expected failures as skipped."""
    if path := os.environ.get("GRIDLOT_COUNTS"):
        counted = {name: len(reports) for name, reports in terminalreporter.stats.items()}
        counts = {
            "passed": counted.get("passed", 0) + counted.get("xpassed", 0),
            "failed": counted.get("failed", 0) + counted.get("error", 0),
            "skipped": counted.get("skipped", 0) + counted.get("xfailed", 0),
        }
        Path(path).write_text(json.dumps(counts))


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Remember the new database for the tests that commit."""
    with django_db_blocker.unblock():
        newborn.remember()


TransactionTestCase._fixture_teardown = lambda _test: newborn.put_back()  # type: ignore[attr-defined]  # no part of its stubs


@pytest.fixture
def network(settings: Settings, tmp_path: Path, db: None) -> Network:
    """Return the simulated network of a newborn installation: watched once, with addresses and prices."""
    settings.DATA_DIR = tmp_path
    return Network().open()
