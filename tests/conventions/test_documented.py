"""What a person looks up is written down: every setting, every kind of event."""

import ast
import re
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import global_settings, settings

from events.stateful import Stateful

# Settings that belong to Django or a library and are documented there.
FOREIGN = re.compile(
    r"(ACCOUNT|ALLAUTH|MFA|USERSESSIONS|CELERY|WHITENOISE|REST|SPECTACULAR)_|PERMISSIONS_POLICY$|ROOT_URLCONF$"
)
KIND = re.compile(r"[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*")


def documented(name: str) -> str:
    return (Path(settings.BASE_DIR) / "docs" / name).read_text()


def test_settings_are_documented(modules: dict[str, ast.Module]) -> None:
    """Our own names in settings.py and every name that is read from the environment stand in docs/settings.md."""
    tree = modules["config/settings.py"]
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    names = {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    own = {
        name
        for name in names
        if name.isupper()
        and not name.startswith("_")
        and not hasattr(global_settings, name)
        and not FOREIGN.match(name)
    }
    read = {
        str(call.args[0].value)
        for path in ("config/settings.py", "config/env.py")
        for call in ast.walk(modules[path])
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and ast.unparse(call.func.value) == "env"
        and isinstance(call.args[0], ast.Constant)
    }
    page = documented("settings.md")
    assert not sorted(name for name in own | read if f"`{name}`" not in page)


def test_event_kinds_are_documented(modules: dict[str, ast.Module]) -> None:
    """Every kind that an action records, and every move of every state machine, stands in docs/events.md."""
    page = documented("events.md")
    kinds = {
        f"{model._meta.model_name}.{state}"
        for model in apps.get_models()
        if issubclass(model, Stateful)
        for moves in model.TRANSITIONS.values()
        for state in moves
    }
    for tree in modules.values():
        if any(isinstance(node, ast.Call) and ast.unparse(node.func) == "record" for node in ast.walk(tree)):
            kinds |= kinds_in(tree)
    assert not sorted(kind for kind in kinds if f"`{kind}`" not in page)


def kinds_in(tree: ast.Module) -> set[str]:
    """Return the strings of a module that look like a kind of event and are no path of a module."""
    strings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    labels = {config.label for config in apps.get_app_configs()}
    return {text for text in strings if KIND.fullmatch(text) and text.partition(".")[0] not in labels}


@pytest.mark.parametrize("name", sorted(path.name for path in (Path(settings.BASE_DIR) / "docs").glob("*.md")))
def test_pages_name_only_files_that_exist(name: str) -> None:
    """A path in backticks that ends in .py, .md, .sh, .yml or .toml is a file of the project."""
    root = Path(settings.BASE_DIR)
    paths = re.findall(r"`((?:[\w.]+/)+[\w.]+\.(?:py|md|sh|yml|toml))`", documented(name))
    assert not [path for path in paths if not (root / path).is_file()]


def test_tests_named_as_proof_exist() -> None:
    """docs/security.md names a test for each requirement that it says holds."""
    root = Path(settings.BASE_DIR)
    there = {name for path in root.glob("tests/**/*.py") for name in re.findall(r"def (test_\w+)", path.read_text())}
    named = set(re.findall(r"`(test_\w+)`", documented("security.md")))
    assert named and not sorted(named - there)
