"""The project's own files, as the convention tests read them."""

import ast
import tomllib
from pathlib import Path

import pytest
from django.conf import settings

APPS = (
    "config", "support", "journal", "provisioning", "payments", "conversations", "orders", "balance", "catalog",
    "accounts", "events", "money",
)  # fmt: skip


@pytest.fixture(scope="session")
def import_line() -> dict[str, int]:
    """Return the place of each app in the import line: a higher one may import a lower one."""
    contracts = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    line = reversed(contracts[0]["layers"])
    return {app: place for place, apps in enumerate(line) for app in apps.split(" | ")}


@pytest.fixture(scope="session")
def modules() -> dict[str, ast.Module]:
    """Return the syntax tree of every module of the apps, by its path; migrations are history and left out."""
    found = {}
    for app in APPS:
        for path in sorted((settings.BASE_DIR / app).rglob("*.py")):
            if "migrations" not in path.parts:
                found[str(path.relative_to(settings.BASE_DIR))] = ast.parse(path.read_text())
    return found


@pytest.fixture(scope="session")
def templates() -> dict[str, str]:
    """Return the text of every template of ours, by the name Django knows it under."""
    folders = [Path(settings.BASE_DIR) / "templates", *sorted(Path(settings.BASE_DIR).glob("*/templates"))]
    return {
        str(path.relative_to(folder)): path.read_text()
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
