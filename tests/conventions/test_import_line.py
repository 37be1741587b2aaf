"""The import line, where import-linter cannot see it."""

import ast

from django.apps import apps
from django.conf import settings

LINE = (
    "config > support > journal > provisioning > payments > conversations > orders > balance | catalog > accounts"
    " > events > money"
)


def test_the_line_that_the_linter_keeps_is_the_one_of_the_documentation(import_line: dict[str, int]) -> None:
    places = [part.split(" | ") for part in reversed(LINE.split(" > "))]
    assert import_line == {app: place for place, apps in enumerate(places) for app in apps}
    assert set(import_line) == {path.parent.name for path in settings.BASE_DIR.glob("*/apps.py")}
    assert f"\n    {LINE}\n" in (settings.BASE_DIR / "docs" / "architecture.md").read_text()


def test_foreign_keys_point_down_the_line(import_line: dict[str, int]) -> None:
    """A foreign key named by a string is an import all the same. Only an actor may point up, to the user."""
    wrong = []
    for model in apps.get_models(include_auto_created=True):
        own = model._meta.app_label
        for field in model._meta.get_fields():
            target = getattr(field, "remote_field", None) and not field.auto_created and field.related_model
            if not target or own not in import_line or isinstance(target, str):
                continue
            other = target._meta.app_label
            is_actor = field.name == "actor" and other == "accounts"
            if other in import_line and other != own and import_line[other] >= import_line[own] and not is_actor:
                wrong.append(f"{model.__name__}.{field.name} -> {other}.{target.__name__}")
    assert not wrong


def test_node_halves_are_loaded_by_path_only(modules: dict[str, ast.Module]) -> None:
    """They load chain libraries at their top, so no other module may import them: a web process would follow."""
    wrong = [
        f"{path}: {name}"
        for path, tree in modules.items()
        if not path.startswith("payments/networks/")
        for name in imported(tree)
        if name.endswith("_node")
    ]
    assert not wrong


def imported(tree: ast.Module) -> list[str]:
    """Return the dotted names that a module imports, each alias of a `from` import too."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [node.module or "", *(alias.name for alias in node.names)]
    return names
